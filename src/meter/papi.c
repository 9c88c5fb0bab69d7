#include "meter/papi.h"

#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events of all structures together, sums counted by their terms. */
#define TERMS     12
#define NAME_TEXT 128

/* Paper 000 (2004), table 1, and behind them what a second TLB needs. */
const struct fm_papi_event fm_papi_misses[] = {
    {.bit = 0, .names = {"PAPI_L1_DCM", "PAPI_L1_LDM"}},
    {.bit = 1, .names = {"PAPI_L2_DCM", "PAPI_L2_LDM"}},
    {.bit = 2, .names = {"PAPI_L3_DCM", "PAPI_L3_TCM", "PAPI_L3_LDM"}},
    {.bit = FM_CACHE_LEVELS, .names = {"PAPI_TLB_DM"}},
};
const size_t fm_papi_miss_count = sizeof fm_papi_misses / sizeof fm_papi_misses[0];

/* One event of PAPI, and the count that it is part of. */
struct term {
    int code;
    unsigned bit;
};

struct papi {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    int set;
    struct term terms[TERMS]; /* the events in the set, in order */
    size_t count;
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
    const int result = PAPI_start(papi->set);
    papi->failure = papi->failure == PAPI_OK ? result : papi->failure;
}

static void stop(struct fm_tally *tally)
{
    struct papi *papi = self(tally);
    long long values[TERMS] = {0};
    const int result = PAPI_stop(papi->set, values);
    papi->failure = papi->failure == PAPI_OK ? result : papi->failure;
    struct fm_counts *counts = &papi->runs[papi->run < papi->space ? papi->run : 0];
    for (size_t i = 0; i < papi->count; i++) {
        const unsigned bit = papi->terms[i].bit;
        uint64_t *into = bit < FM_CACHE_LEVELS ? &counts->cache_miss[bit]
                                               : &counts->tlb_miss[bit - FM_CACHE_LEVELS];
        *into += values[i] > 0 ? (uint64_t)values[i] : 0;
    }
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
    PAPI_cleanup_eventset(papi->set);
    PAPI_destroy_eventset(&papi->set);
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

/* Adds all terms of a sum, or none. */
static bool add_sum(struct papi *papi, unsigned bit, const char *names)
{
    const size_t before = papi->count;
    for (const char *at = names; *at;) {
        char name[NAME_TEXT];
        int code;
        const size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '+');
        if (papi->count == TERMS || PAPI_event_name_to_code(name, &code) != PAPI_OK ||
            PAPI_add_event(papi->set, code) != PAPI_OK) {
            while (papi->count > before)
                PAPI_remove_event(papi->set, papi->terms[--papi->count].code);
            return false;
        }
        papi->terms[papi->count++] = (struct term){code, bit};
    }
    return true;
}

static void add_event(struct papi *papi, const struct fm_papi_event *event)
{
    for (size_t i = 0; i < FM_PAPI_NAMES && event->names[i]; i++)
        if (add_sum(papi, event->bit, event->names[i])) {
            papi->tally.info.events |= 1u << event->bit;
            return;
        }
}

struct fm_tally *fm_papi_open(const struct fm_papi_event *events, size_t count,
                              struct fm_error *err)
{
    struct papi *papi = calloc(1, sizeof *papi);
    if (!papi) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    papi->set = PAPI_NULL;
    papi->tally.ops = &ops;
    snprintf(papi->tally.info.meter, sizeof papi->tally.info.meter, "papi");
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
        PAPI_create_eventset(&papi->set) != PAPI_OK) {
        free(papi);
        fm_fail(err, FM_ERR_UNSUPPORTED,
                "meter: PAPI does not start: install the version that fathom was built with");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        add_event(papi, &events[i]);
    if (papi->count)
        return &papi->tally;
    close_papi(&papi->tally);
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI has no event for the misses of any cache here: use perf or clock");
    return NULL;
}
