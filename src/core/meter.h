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

/* A meter that counts events. Around a string the machine calls prepare; then the warm references
 * run; then start and stop around each metered run, `runs` in all; then collect. Between start and
 * stop no event is counted that belongs to the meter, as far as it can; what remains is constant
 * and is told apart by runs of different lengths. */
struct fm_tally;

struct fm_tally_ops {
    bool (*prepare)(struct fm_tally *tally, unsigned runs, struct fm_error *err);
    void (*start)(struct fm_tally *tally);
    void (*stop)(struct fm_tally *tally);
    /* The counts of each run, in order. */
    bool (*collect)(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                    struct fm_error *err);
    void (*close)(struct fm_tally *tally);
};

struct fm_tally {
    const struct fm_tally_ops *ops;
    struct fm_counters info; /* the events that proved themselves when the meter was opened */
};

#endif
