/* What this computer's counters can tell, for `fathom probes` and for surveys. */
#ifndef FM_API_COUNTERS_H
#define FM_API_COUNTERS_H

#include <stddef.h>

#include "core/meter.h"
#include "meter/perf.h"

struct fm_api_event {
    const char *structure; /* whose misses it counts */
    const char *answers;   /* the attributes that follow from them */
    char how[192];         /* "perf: L1D_CACHE_REFILL", or "no: " and why */
};

struct fm_api_counters {
    unsigned events; /* those that proved themselves, as in struct fm_counters */
    struct fm_api_event list[FM_EVENTS];
    size_t count;
};

void fm_api_counters_here(struct fm_api_counters *counters);

/* PAPI's events for what another meter does not count; NULL: it has none. account may be NULL. */
struct fm_tally *fm_api_open_papi_for(unsigned counted, struct fm_perf_account *account);
/* The tally if any of its events can be believed; otherwise it is closed, and NULL. */
struct fm_tally *fm_api_proved(struct fm_tally *tally);

#endif
