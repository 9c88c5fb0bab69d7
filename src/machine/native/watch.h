/* Noticing that something else had the CPU while we measured. */
#ifndef FM_MACHINE_NATIVE_WATCH_H
#define FM_MACHINE_NATIVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/machine.h"

struct fm_watch {
    int cpu;
    int stat;            /* /proc/stat, kept open; -1 where there is none */
    double opened;       /* seconds, monotonic */
    double steal_looked; /* when the stolen time was last read */
    uint64_t steal_first, steal_last;
    long switches_first;
};

/* What had happened to the calling thread up to a moment, or between two. */
struct fm_watch_mark {
    uint64_t events; /* involuntary context switches and page faults */
    double away_ns;  /* time that passed while the thread did not run */
};

void fm_watch_open(struct fm_watch *watch, int cpu);
void fm_watch_close(struct fm_watch *watch);

/* Two system calls of a few hundred nanoseconds, which leave traces in the first-level cache. */
struct fm_watch_mark fm_watch_now(void);
struct fm_watch_mark fm_watch_between(struct fm_watch_mark from, struct fm_watch_mark to);

/* Marks as disturbed those samples that what was seen while they were taken has touched. Several
   are repeats of one string. */
void fm_watch_judge(struct fm_sample *samples, size_t count, struct fm_watch_mark seen);

/* Whether a hypervisor took the CPU away since the last time this was looked up; false without
   looking when that is less than a twentieth of a second ago, because it is slow to find out. */
bool fm_watch_stolen(struct fm_watch *watch);

/* Since the watch was opened: the fraction of time stolen (negative: not known), the involuntary
   context switches, the seconds. */
double fm_watch_steal(struct fm_watch *watch);
long fm_watch_switches(const struct fm_watch *watch);
double fm_watch_seconds(const struct fm_watch *watch);

#endif
