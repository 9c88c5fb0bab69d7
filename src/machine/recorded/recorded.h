/* The machine from a file, and the recorder that makes such files. */
#ifndef FM_MACHINE_RECORDED_H
#define FM_MACHINE_RECORDED_H

#include <stdbool.h>

#include "core/error.h"
#include "core/machine.h"
#include "format/recording.h"

/* A machine that passes every call on to `inner` and notes it in `into`, which must outlive it.
   Closing it closes inner. NULL when memory is out; inner is then still open. */
struct fm_machine *fm_recorder_open(struct fm_machine *inner, struct fm_recording *into,
                                    struct fm_error *err);

/* A machine that answers from `from`, which must outlive it. A call other than the one recorded
   next is an error (USAGE). NULL when memory is out. */
struct fm_machine *fm_recorded_open(const struct fm_recording *from, struct fm_error *err);

/* After the survey: whether all calls matched and none is left over. elapsed and observe cannot
   report a mismatch themselves. */
bool fm_recorded_finished(const struct fm_machine *machine, struct fm_error *err);

#endif
