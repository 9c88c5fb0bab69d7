/* The interface "meter": what is read around a run. A machine gets its meters by pointer. */
#ifndef FM_CORE_METER_H
#define FM_CORE_METER_H

#include <stdint.h>

#include "core/machine.h"

/* A moment on a meter's clock; only differences, taken by elapsed_ns, mean something. */
struct fm_instant {
    uint64_t ticks;
};

struct fm_meter;

struct fm_meter_ops {
    struct fm_instant (*now)(const struct fm_meter *meter);
    /* Nanoseconds from a to b, the overhead of one pair of readings not taken out. */
    double (*elapsed_ns)(const struct fm_meter *meter, struct fm_instant a, struct fm_instant b);
    void (*close)(struct fm_meter *meter);
};

struct fm_meter {
    const struct fm_meter_ops *ops;
    struct fm_clock_info info; /* measured when the meter was opened */
};

#endif
