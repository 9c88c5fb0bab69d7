/* The gap string G(n, k, o) and its companion for the TLB. */
#include <stdio.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

static bool plausible(const struct fm_gap_plan *plan, struct fm_error *err)
{
    if (plan->count < 2 || plan->stride < FM_WORD || plan->stride % FM_WORD ||
        plan->offset % FM_WORD || plan->first % FM_WORD)
        return fm_fail(err, FM_ERR_INTERNAL,
                       "gap string of %u words, %zu bytes apart from %zu on, offset %zu",
                       plan->count, plan->stride, plan->first, plan->offset);
    return true;
}

/* Up to where the last word begins. */
static size_t reach(const struct fm_gap_plan *plan)
{
    return plan->first + (plan->count - 1) * plan->stride + plan->offset;
}

bool fm_gap_string(struct fm_string *string, const struct fm_gap_plan *plan, struct fm_error *err)
{
    if (!plausible(plan, err) || !fm_string_begin(string, reach(plan) + FM_WORD, plan->count, err))
        return false;
    snprintf(string->label, sizeof string->label,
             "gap(n=%u,stride=%zu,offset=%zu,first=%zu,seed=%llu)", plan->count, plan->stride,
             plan->offset, plan->first, (unsigned long long)plan->seed);
    uint32_t *word = string->orders[0].word;
    for (unsigned i = 0; i < plan->count; i++)
        word[i] = (uint32_t)((plan->first + i * plan->stride) / FM_WORD);
    word[plan->count - 1] += (uint32_t)(plan->offset / FM_WORD);
    /* Shuffled, so that equal strides in a row do not wake a stride prefetcher. */
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, word, plan->count);
    return true;
}

bool fm_gap_control_string(struct fm_string *string, const struct fm_gap_plan *plan, size_t page,
                           struct fm_error *err)
{
    const size_t pages = reach(plan) / page + 1;
    if (!plausible(plan, err) || !fm_string_begin(string, pages * page, plan->count, err))
        return false;
    snprintf(string->label, sizeof string->label,
             "gap-control(n=%u,stride=%zu,first=%zu,page=%zu,seed=%llu)", plan->count, plan->stride,
             plan->first, page, (unsigned long long)plan->seed);
    struct fm_order *order = &string->orders[0];
    order->count = 0;
    size_t before = SIZE_MAX;
    for (unsigned i = 0; i < plan->count; i++) {
        const size_t here = (plan->first + i * plan->stride) / page;
        if (here == before)
            continue;
        before = here;
        const size_t words = page / FM_WORD;
        const size_t place = (size_t)(fm_golden(order->count) * (double)words);
        order->word[order->count++] = (uint32_t)(here * words + place);
    }
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, order->word, order->count);
    return true;
}
