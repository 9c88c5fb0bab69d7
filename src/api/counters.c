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

struct fm_tally *fm_api_open_papi_for(unsigned counted, struct fm_perf_account *account)
{
    struct fm_papi_plan plan = fm_papi_misses;
    struct fm_error unheard;
    plan.without = counted;
    return fm_papi_open(&plan, account, &unheard);
}

/* What came of a meter here. */
struct trial {
    struct fm_perf_account account;
    struct fm_proof proof;
    struct fm_error err;
    unsigned events; /* that can be believed */
};

/* Takes the tally over. */
static void try_out(struct fm_tally *tally, struct trial *trial)
{
    if (tally && fm_tally_prove(tally, &trial->proof, &trial->err))
        trial->events = tally->info.events;
    if (tally)
        tally->ops->close(tally);
}

static const char *reason(const struct trial *trial, unsigned bit)
{
    return trial->account.why[bit][0] ? trial->account.why[bit]
           : trial->proof.why[bit][0] ? trial->proof.why[bit]
                                      : trial->err.text;
}

static const char *answers(unsigned bit)
{
    return bit == FM_TARGET_EVENT ? "entries"
           : fm_event_is_tlb(bit) ? "entries, page, ways"
                                  : "capacity, line, ways";
}

void fm_api_counters_here(struct fm_api_counters *counters)
{
    struct trial perf = {.events = 0}, papi = {.events = 0};
    memset(counters, 0, sizeof *counters);
    try_out(fm_perf_open(&fm_perf_misses, &fm_perf_kernel, &perf.account, &perf.err), &perf);
    try_out(fm_api_open_papi_for(perf.events, &papi.account), &papi);
    counters->events = perf.events | papi.events;
    for (size_t i = 0; i < fm_perf_misses.count; i++) {
        const unsigned bit = fm_perf_misses.list[i].bit;
        struct fm_api_event *event = &counters->list[counters->count++];
        event->structure = fm_event_structure(bit);
        event->answers = answers(bit);
        if (perf.events & 1u << bit)
            snprintf(event->how, sizeof event->how, "perf: %s", perf.account.by[bit]);
        else if (papi.events & 1u << bit)
            snprintf(event->how, sizeof event->how, "papi: %s", papi.account.by[bit]);
        else
            snprintf(event->how, sizeof event->how, "no: %s", reason(&perf, bit));
    }
}
