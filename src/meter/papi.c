#include "meter/papi.h"

#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/papi_set.h"

/* Paper 000 (2004), table 1, and behind them what a second TLB needs. */
static const struct fm_papi_event presets[] = {
    {.bit = 0, .names = {"PAPI_L1_DCM", "PAPI_L1_LDM"}},
    {.bit = 1, .names = {"PAPI_L2_DCM", "PAPI_L2_LDM"}},
    {.bit = 2, .names = {"PAPI_L3_DCM", "PAPI_L3_TCM", "PAPI_L3_LDM"}},
    {.bit = FM_CACHE_LEVELS, .names = {"PAPI_TLB_DM"}},
    {.bit = FM_CODE_EVENT, .names = {"PAPI_L1_ICM"}},
    {.bit = FM_CODE_EVENT + 1, .names = {"PAPI_TLB_IM"}},
    {.bit = FM_TARGET_EVENT, .names = {"PAPI_BTAC_M"}},
};
const struct fm_papi_plan fm_papi_misses = {
    .presets = presets, .count = sizeof presets / sizeof presets[0], .native = &fm_perf_misses};

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

struct fm_tally *fm_papi_open(const struct fm_papi_plan *plan, struct fm_perf_account *account,
                              struct fm_error *err)
{
    struct papi *papi = calloc(1, sizeof *papi);
    if (account)
        *account = (struct fm_perf_account){0};
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
    papi->tally.info.events = fm_papi_set_fill(&papi->set, plan, account);
    if (papi->set.count)
        return &papi->tally;
    close_papi(&papi->tally);
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI has no event for the misses of any cache here: use perf or clock");
    return NULL;
}

/* What PAPI knows by a name, whether it can count it or not. */
static bool is_known(const char *name)
{
    int code;
    return PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT &&
           PAPI_event_name_to_code(name, &code) == PAPI_OK;
}

bool fm_papi_name_events(const char *list, struct fm_papi_named *named, struct fm_error *err)
{
    const struct fm_perf_events *events = &named->native.events;
    size_t count = 0;
    if (!fm_perf_name_events(list, is_known, &named->native, err))
        return false;
    /* A set is of one of PAPI's components, the one that its first event is of. */
    for (size_t i = 0; i < events->count; i++)
        if (named->native.bits & 1u << events->list[i].bit)
            named->presets[count++] = (struct fm_papi_event){
                .bit = events->list[i].bit, .names = {events->list[i].ways[0].name}};
    for (size_t i = 0; i < fm_papi_misses.count; i++)
        if (!(named->native.bits & 1u << presets[i].bit))
            named->presets[count++] = presets[i];
    named->plan =
        (struct fm_papi_plan){.presets = named->presets, .count = count, .native = events};
    return true;
}
