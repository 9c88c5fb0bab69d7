/* One logical event of perf: a group of native ones, which are counted at the same time or not at
 * all. What the meter of our own runs and the meter of commands share. */
#ifndef FM_METER_PERF_GROUP_H
#define FM_METER_PERF_GROUP_H

#include "meter/perf.h"

/* Native events that are added up to one. */
#define FM_PERF_TERMS 4

struct fm_perf_group {
    unsigned bit;
    int fds[FM_PERF_TERMS]; /* the first leads */
    size_t count;
};

enum fm_perf_scope {
    FM_PERF_OURS,   /* this thread, whenever we say so */
    FM_PERF_COMMAND /* the programs that this thread starts, from their first instruction on, with
                       all threads and children */
};

/* How events are opened. */
struct fm_perf_opener {
    const struct fm_perf_system *system;
    enum fm_perf_scope scope;
    int no_native; /* why native events are not tried, as errno has it; 0: they are */
};

/* Why the kernel lets us count not even the cycles of a command, as errno has it; 0: it does. */
int fm_perf_no_counters(const struct fm_perf_system *system);

/* Tries the ways to count an event until one opens; false when none does, and account says why. */
bool fm_perf_group_open(struct fm_perf_group *group, const struct fm_perf_opener *by,
                        const struct fm_perf_event *event, struct fm_perf_account *account);

/* The sum of the group's counts; where it had to share its counters with others it is scaled to the
   whole time, and *scaled set. False when it was not counted at all. */
bool fm_perf_group_read(const struct fm_perf_group *group, const struct fm_perf_system *system,
                        uint64_t *sum, bool *scaled);

void fm_perf_group_close(const struct fm_perf_group *group);

#endif
