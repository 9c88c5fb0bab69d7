/* What this computer's counters can tell. */
#include "api/counters.h"

#include <stdio.h>
#include <string.h>

#include "meter/papi.h"
#include "meter/perf.h"
#include "meter/prove.h"

struct fm_tally *fm_api_proved(struct fm_tally *tally)
{
    struct fm_proof proof;
    struct fm_error unheard;
    if (tally && fm_tally_prove(tally, &proof, &unheard) && tally->info.events)
        return tally;
    if (tally)
        tally->ops->close(tally);
    return NULL;
}

struct fm_tally *fm_api_open_papi_for(unsigned counted)
{
    struct fm_papi_event events[FM_EVENTS];
    struct fm_error unheard;
    size_t count = 0;
    for (size_t i = 0; i < fm_papi_miss_count; i++)
        if (!(counted & 1u << fm_papi_misses[i].bit))
            events[count++] = fm_papi_misses[i];
    return count ? fm_papi_open(events, count, &unheard) : NULL;
}

/* What PAPI counts of the rest. */
static unsigned papi_events(unsigned counted)
{
    struct fm_tally *papi = fm_api_proved(fm_api_open_papi_for(counted));
    const unsigned events = papi ? papi->info.events & ~counted : 0;
    if (papi)
        papi->ops->close(papi);
    return events;
}

void fm_api_counters_here(struct fm_api_counters *counters)
{
    struct fm_perf_account account;
    struct fm_proof proof = {0};
    struct fm_error err = {0};
    unsigned by_perf = 0;
    struct fm_tally *tally = fm_perf_open(&fm_perf_misses, &fm_perf_kernel, &account, &err);
    memset(counters, 0, sizeof *counters);
    if (tally && fm_tally_prove(tally, &proof, &err))
        by_perf = tally->info.events;
    if (tally)
        tally->ops->close(tally);
    const unsigned by_papi = papi_events(by_perf);
    counters->events = by_perf | by_papi;
    for (size_t i = 0; i < fm_perf_misses.count; i++) {
        const unsigned bit = fm_perf_misses.list[i].bit;
        struct fm_api_event *event = &counters->list[counters->count++];
        event->structure = fm_event_structure(bit);
        event->answers = fm_event_is_tlb(bit) ? "entries, page, ways" : "capacity, line, ways";
        if (by_perf & 1u << bit)
            snprintf(event->how, sizeof event->how, "perf: %s", account.by[bit]);
        else if (by_papi & 1u << bit)
            snprintf(event->how, sizeof event->how, "papi");
        else
            snprintf(event->how, sizeof event->how, "no: %s",
                     account.why[bit][0] ? account.why[bit]
                     : proof.why[bit][0] ? proof.why[bit]
                                         : err.text);
    }
}
