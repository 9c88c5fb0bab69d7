/* The lap string over pages, and its companion. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

#define MOST_SETS 32

struct filling {
    const struct fm_page_lap_plan *plan;
    unsigned sets;
    unsigned begin[MOST_SETS]; /* the reference of the lap that each set has first */
    unsigned *visits;          /* by set and block */
};

static size_t step_of(const struct fm_page_lap_plan *plan)
{
    return plan->apart ? plan->apart : 1;
}

/* All visits of a page go to one unit of it, to a word each. Units are taken in turn, so that they
   lie evenly in a cache; in the companion they lie just so, but side by side. */
static size_t reference(struct filling *filling, unsigned set, unsigned step)
{
    const struct fm_page_lap_plan *plan = filling->plan;
    const unsigned block = plan->block[(filling->begin[set] + step) % plan->length];
    const size_t number = (size_t)set * plan->blocks + block, units = plan->page / plan->unit;
    const size_t page =
        plan->companion ? number / units : block * plan->stride + set * step_of(plan);
    return page * plan->page + number % units * plan->unit + filling->visits[number]++ * FM_WORD;
}

static void fill(struct filling *filling, uint32_t *word)
{
    const struct fm_page_lap_plan *plan = filling->plan;
    uint32_t order[MOST_SETS];
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    for (unsigned i = 0; i < filling->sets; i++) {
        order[i] = i;
        filling->begin[i] = (unsigned)fm_rng_below(&rng, plan->length);
    }
    for (unsigned step = 0; step < plan->length; step++) {
        if (!plan->apart || step == 0)
            fm_rng_shuffle(&rng, order, filling->sets);
        for (unsigned i = 0; i < filling->sets; i++)
            *word++ = (uint32_t)(reference(filling, order[i], step) / FM_WORD);
    }
}

static bool plausible(const struct fm_page_lap_plan *plan)
{
    unsigned *visits = calloc(plan->blocks + 1u, sizeof *visits);
    bool good = visits && plan->length && plan->sets && plan->unit >= FM_WORD &&
                plan->stride >= plan->sets * step_of(plan) && plan->page % plan->unit == 0;
    for (unsigned i = 0; i < plan->length && good; i++)
        good = plan->block[i] < plan->blocks && ++visits[plan->block[i]] <= plan->unit / FM_WORD;
    free(visits);
    return good;
}

bool fm_page_lap_string(struct fm_string *string, const struct fm_page_lap_plan *plan,
                        struct fm_error *err)
{
    struct filling filling = {.plan = plan,
                              .sets = plan->sets < MOST_SETS ? plan->sets : MOST_SETS};
    if (!plausible(plan))
        return fm_fail(err, FM_ERR_INTERNAL,
                       "a lap of %u visits to %u pages, %zu apart, does not fit", plan->length,
                       plan->blocks, plan->stride);
    filling.visits = calloc((size_t)filling.sets * plan->blocks, sizeof *filling.visits);
    if (!filling.visits)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to lay out a lap");
    const size_t pages = (plan->blocks - 1) * plan->stride + filling.sets * step_of(plan);
    const bool begun =
        fm_string_begin(string, pages * plan->page, (size_t)plan->length * filling.sets, err);
    if (begun) {
        snprintf(string->label, sizeof string->label,
                 "page-lap%s(length=%u,blocks=%u,sets=%u,stride=%zu,apart=%zu,page=%zu,unit=%zu,"
                 "seed=%llu)",
                 plan->companion ? "-control" : "", plan->length, plan->blocks, filling.sets,
                 plan->stride, plan->apart, plan->page, plan->unit, (unsigned long long)plan->seed);
        fill(&filling, string->orders[0].word);
    }
    free(filling.visits);
    return begun;
}
