#include "meter/papi.h"

#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/papi_set.h"

/* Paper 000 (2004), table 1, and behind them what a second TLB needs. */
const struct fm_papi_event fm_papi_misses[] = {
    {.bit = 0, .names = {"PAPI_L1_DCM", "PAPI_L1_LDM"}},
    {.bit = 1, .names = {"PAPI_L2_DCM", "PAPI_L2_LDM"}},
    {.bit = 2, .names = {"PAPI_L3_DCM", "PAPI_L3_TCM", "PAPI_L3_LDM"}},
    {.bit = FM_CACHE_LEVELS, .names = {"PAPI_TLB_DM"}},
    {.bit = FM_CODE_EVENT, .names = {"PAPI_L1_ICM"}},
    {.bit = FM_CODE_EVENT + 1, .names = {"PAPI_TLB_IM"}},
    {.bit = FM_TARGET_EVENT, .names = {"PAPI_BTAC_M"}},
};
const size_t fm_papi_miss_count = sizeof fm_papi_misses / sizeof fm_papi_misses[0];

struct papi {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    struct fm_papi_set set;
    struct fm_counts *runs;
    unsigned run, space;
    int failure;
};

static struct papi *self(struct fm_tally *tally)
{
    return (struct papi *)tally;
}

static bool prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    struct papi *papi = self(tally);
    papi->run = 0;
    papi->failure = PAPI_OK;
    if (runs > papi->space) {
        struct fm_counts *larger = realloc(papi->runs, runs * sizeof *larger);
        if (!larger)
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for counts");
        papi->runs = larger;
        papi->space = runs;
    }
    memset(papi->runs, 0, runs * sizeof *papi->runs);
    return true;
}

static void start(struct fm_tally *tally)
{
    struct papi *papi = self(tally);
    const int result = PAPI_start(papi->set.handle);
    papi->failure = papi->failure == PAPI_OK ? result : papi->failure;
}

static void stop(struct fm_tally *tally)
{
    struct papi *papi = self(tally);
    long long values[FM_PAPI_TERMS] = {0};
    const int result = PAPI_stop(papi->set.handle, values);
    papi->failure = papi->failure == PAPI_OK ? result : papi->failure;
    struct fm_counts *counts = &papi->runs[papi->run < papi->space ? papi->run : 0];
    for (size_t i = 0; i < papi->set.count; i++)
        fm_event_add(counts, papi->set.terms[i].bit, values[i] > 0 ? (uint64_t)values[i] : 0);
    papi->run++;
}

static bool collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                    struct fm_error *err)
{
    const struct papi *papi = self(tally);
    if (papi->failure != PAPI_OK)
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "meter: PAPI lists its events but cannot count them here: %s",
                       PAPI_strerror(papi->failure));
    memcpy(counts, papi->runs, runs * sizeof *counts);
    return true;
}

static void close_papi(struct fm_tally *tally)
{
    struct papi *papi = self(tally);
    fm_papi_set_close(&papi->set);
    free(papi->runs);
    free(papi);
}

static const struct fm_tally_ops ops = {
    .prepare = prepare,
    .start = start,
    .stop = stop,
    .collect = collect,
    .close = close_papi,
};

struct fm_tally *fm_papi_open(const struct fm_papi_event *events, size_t count,
                              struct fm_error *err)
{
    struct papi *papi = calloc(1, sizeof *papi);
    if (!papi) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    papi->tally.ops = &ops;
    snprintf(papi->tally.info.meter, sizeof papi->tally.info.meter, "papi");
    if (!fm_papi_set_open(&papi->set, err)) {
        free(papi);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (fm_papi_set_add(&papi->set, &events[i]))
            papi->tally.info.events |= 1u << events[i].bit;
    if (papi->set.count)
        return &papi->tally;
    close_papi(&papi->tally);
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI has no event for the misses of any cache here: use perf or clock");
    return NULL;
}
