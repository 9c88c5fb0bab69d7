/* Counting a command: what a meter can tell of programs that are not ours, from their first
 * instruction to their last, with all threads and children. */
#ifndef FM_METER_COMMAND_H
#define FM_METER_COMMAND_H

#include <stdbool.h>

#include "core/error.h"

/* What is counted. */
enum fm_command_event {
    FM_COMMAND_REFERENCES, /* loads and stores */
    FM_COMMAND_FILLS,      /* lines into the first level; of the second and the last come behind */
    FM_COMMAND_FETCH_MISSES = FM_COMMAND_FILLS + 3, /* of instructions, in the first level */
    FM_COMMAND_FETCH_STALLS,                        /* cycles spent waiting for instructions */
    FM_COMMAND_CYCLES,
    FM_COMMAND_TASK_CLOCK, /* nanoseconds on a processor, of all threads together */
    FM_COMMAND_PAGE_FAULTS,
    FM_COMMAND_SWITCHES, /* from one task to another */
    FM_COMMAND_EVENTS
};
/* Those from here on come from the kernel, with or without a PMU. */
#define FM_COMMAND_OF_KERNEL FM_COMMAND_TASK_CLOCK

struct fm_command_counts {
    double count[FM_COMMAND_EVENTS];  /* negative: not counted … */
    char why[FM_COMMAND_EVENTS][160]; /* … and then why */
    bool scaled;                      /* there were more events than counters, which took turns */
};

struct fm_command_meter;

struct fm_command_meter_ops {
    /* From now on commands count that this thread starts. */
    bool (*start)(struct fm_command_meter *meter, struct fm_error *err);
    /* Once they have ended. What never ran was not counted. */
    void (*read)(struct fm_command_meter *meter, struct fm_command_counts *counts);
    void (*close)(struct fm_command_meter *meter);
};

struct fm_command_meter {
    const struct fm_command_meter_ops *ops;
    const char *name; /* "perf", "papi" */
    bool counted[FM_COMMAND_EVENTS];
};

#endif
