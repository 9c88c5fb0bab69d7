/* Keeping the measuring thread on one CPU. */
#ifndef FM_MACHINE_NATIVE_PIN_H
#define FM_MACHINE_NATIVE_PIN_H

#include <sched.h>

#include "core/error.h"

struct fm_pin {
    int cpu;        /* where the thread is kept */
    cpu_set_t *old; /* where it was allowed to run before */
    size_t old_size;
};

/* Pins the calling thread to `cpu` (-1: the one it runs on). UNSUPPORTED names the CPUs that may be
   used instead. On success fm_unpin must follow, on the same thread. */
bool fm_pin(struct fm_pin *pin, int cpu, struct fm_error *err);
void fm_unpin(struct fm_pin *pin);

#endif
