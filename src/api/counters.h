/* What this computer's counters can tell, for `fathom probes`. */
#ifndef FM_API_COUNTERS_H
#define FM_API_COUNTERS_H

#include <stddef.h>

struct fm_api_event {
    const char *structure; /* whose misses it counts */
    const char *answers;   /* the attributes that follow from them */
    char how[192];         /* "perf: L1D_CACHE_REFILL", or "no: " and why */
};

struct fm_api_counters {
    unsigned events; /* those that proved themselves, as in struct fm_counters */
    struct fm_api_event list[8];
    size_t count;
};

void fm_api_counters_here(struct fm_api_counters *counters);

#endif
