/* The parts of the native machine: what native.c and run.c share. */
#ifndef FM_MACHINE_NATIVE_COMPUTER_H
#define FM_MACHINE_NATIVE_COMPUTER_H

#include "core/machine.h"
#include "core/meter.h"
#include "machine/native/canary.h"
#include "machine/native/loops.h"
#include "machine/native/pin.h"
#include "machine/native/placements.h"
#include "machine/native/sibling.h"
#include "machine/native/watch.h"

struct fm_computer {
    struct fm_machine machine; /* first, so that a machine can be taken for its computer */
    const struct fm_meter *clock;
    struct fm_tally *tally; /* NULL: nothing is counted */
    struct fm_pin pin;
    struct fm_placements placements;
    struct fm_arena arena; /* the placement in use */
    struct fm_watch watch;
    struct fm_canary canary;
    struct fm_sibling sibling;
    struct fm_patience patience; /* with either */
    fm_walk_flusher *flush;
};

/* The machine's run, count and chain. */
bool fm_computer_run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                     struct fm_sample *samples, struct fm_error *err);
bool fm_computer_count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                       struct fm_sample *samples, struct fm_error *err);
bool fm_computer_chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                       struct fm_sample *sample, struct fm_error *err);

/* The computer's name, architecture and surroundings, as its system tells them. */
void fm_computer_name(char *name, size_t size);
void fm_computer_arch(char *arch, size_t size);
void fm_computer_surroundings(struct fm_computer *computer, struct fm_environment *environment);

#endif
