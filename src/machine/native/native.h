/* This computer as a machine. */
#ifndef FM_MACHINE_NATIVE_H
#define FM_MACHINE_NATIVE_H

#include "core/machine.h"
#include "core/meter.h"

/* Opens this computer and pins the calling thread to `cpu` (-1: the one it runs on) until the
   machine is closed; the machine must be used and closed by that thread. The clock stays the
   caller's and must outlive the machine. NULL with err filled on failure: UNSUPPORTED when the CPU
   does not exist or is not ours to use. */
struct fm_machine *fm_native_open(int cpu, const struct fm_meter *clock, struct fm_error *err);

/* Counts by that meter too, which stays the caller's and must outlive the machine. */
void fm_native_count(struct fm_machine *machine, struct fm_tally *tally);

#endif
