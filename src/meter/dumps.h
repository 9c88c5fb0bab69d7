/* The folder that callgrind writes to, and what it wrote there. */
#ifndef FM_METER_DUMPS_H
#define FM_METER_DUMPS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

#define FM_DUMPS_NAME "dump"
#define FM_DUMPS_PATH 4096

/* Gets the lines of a dump that tell of it as a whole: whose it is, why it was written, `events:`
   and `totals:`. False ends the reading. */
typedef bool fm_dump_reader(void *data, const char *text);

struct fm_dumps {
    char folder[FM_DUMPS_PATH];
    fm_dump_reader *read; /* NULL: dumps are read by someone else */
    void *data;
    int watch; /* tells of files that were written; negative: none */
    bool failed;
};

/* A folder of our own, that nobody else may enter. */
bool fm_dumps_open(struct fm_dumps *dumps, fm_dump_reader *read, void *data, struct fm_error *err);

/* Waits for a dump to be written, or for so many milliseconds, and hands on those that were. They
   must be taken as they come: a process that runs another program in its place begins to number
   anew, and writes over what it wrote before. */
void fm_dumps_take(struct fm_dumps *dumps, int wait_ms);

/* What valgrind says of itself goes there, warnings too: standard error is the program's. */
#define FM_DUMPS_LOG FM_DUMPS_NAME "-log"

/* Why callgrind would not begin, as one line; false: it did. */
bool fm_dumps_refusal(const struct fm_dumps *dumps, char *why, size_t size);

/* Hands on what is left and removes the folder. False if a dump could not be read. */
bool fm_dumps_close(struct fm_dumps *dumps, struct fm_error *err);

#endif
