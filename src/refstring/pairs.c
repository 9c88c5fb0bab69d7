/* Pairs of words that are loaded at once. */
#include <stdio.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

bool fm_pair_string(struct fm_string *string, const struct fm_pair_plan *plan, struct fm_error *err)
{
    const size_t half = plan->bytes / FM_WORD, differ = plan->differ / FM_WORD;
    if (half < 2 || half & (half - 1) || differ >= half)
        return fm_fail(err, FM_ERR_INTERNAL, "pairs of %zu bytes that differ in %zu", plan->bytes,
                       plan->differ);
    if (!fm_string_begin(string, 2 * plan->bytes, 2 * half, err))
        return false;
    snprintf(string->label, sizeof string->label, "pairs(bytes=%zu,differ=%zu,%sseed=%llu)",
             plan->bytes, plan->differ, plan->neighbours ? "neighbours," : "",
             (unsigned long long)plan->seed);
    uint32_t *word = string->orders[0].word;
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    /* The first words of the pairs, shuffled, stand in the first half; spread from the end. */
    for (size_t i = 0; i < half; i++)
        word[i] = (uint32_t)(plan->neighbours ? 2 * i : i);
    fm_rng_shuffle(&rng, word, half);
    for (size_t i = half; i-- > 0;) {
        const uint32_t first = word[i];
        word[2 * i] = first;
        word[2 * i + 1] =
            (uint32_t)(plan->neighbours ? first + 1 : half + (first ^ (uint32_t)differ));
    }
    return true;
}
