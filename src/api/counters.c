/* What this computer's counters can tell. */
#include "api/counters.h"

#include <stdio.h>
#include <string.h>

#include "meter/perf.h"
#include "meter/prove.h"

void fm_api_counters_here(struct fm_api_counters *counters)
{
    struct fm_perf_account account;
    struct fm_proof proof = {0};
    struct fm_error err = {0};
    struct fm_tally *tally = fm_perf_open(&fm_perf_misses, &fm_perf_kernel, &account, &err);
    memset(counters, 0, sizeof *counters);
    if (tally && fm_tally_prove(tally, &proof, &err))
        counters->events = tally->info.events;
    for (size_t i = 0; i < fm_perf_misses.count; i++) {
        const unsigned bit = fm_perf_misses.list[i].bit;
        struct fm_api_event *event = &counters->list[counters->count++];
        event->structure = fm_event_structure(bit);
        event->answers = fm_event_is_tlb(bit) ? "entries, page, ways" : "capacity, line, ways";
        if (counters->events & 1u << bit)
            snprintf(event->how, sizeof event->how, "perf: %s", account.by[bit]);
        else
            snprintf(event->how, sizeof event->how, "no: %s",
                     account.why[bit][0] ? account.why[bit]
                     : proof.why[bit][0] ? proof.why[bit]
                                         : err.text);
    }
    if (tally)
        tally->ops->close(tally);
}
