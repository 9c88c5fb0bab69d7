/* Starting a program under valgrind. */
#ifndef FM_METER_VALGRIND_H
#define FM_METER_VALGRIND_H

#include <stdbool.h>

#include "core/error.h"
#include "meter/dumps.h"

/* What a run under callgrind is asked. */
struct fm_valgrind_plan {
    const char *const *options; /* beside the tool's name; NULL at the end */
    char *const *command;       /* with its arguments, NULL at the end; found along PATH */
    bool silent;                /* it gets no input, and what it prints is thrown away */
    bool self;                  /* it is this program, which starts and stops the counting itself */
    /* Asked often during the wait: true ends the program. May be NULL. */
    bool (*stop)(void *data);
    void *data;
};

/* Whether there is a valgrind; UNSUPPORTED when not, with the name of its package. */
bool fm_valgrind_there(struct fm_error *err);

/* How it ended. */
struct fm_valgrind_end {
    int status; /* as wait gives it */
    int asked;  /* the signal that asked us to end meanwhile, and was handed on; 0: none */
};

/* Runs the command and waits for its end. With `self` it finds FM_CALLGRIND_DUMPS set. Otherwise
   counting goes from its first instruction to its last, all threads and children together. Each
   process writes what it counted before it forks, before it runs another program in its place, and
   when it ends; `read` gets each of these as it comes. UNSUPPORTED when there is no valgrind. */
bool fm_valgrind_run(const struct fm_valgrind_plan *plan, fm_dump_reader *read, void *data,
                     struct fm_valgrind_end *end, struct fm_error *err);

#endif
