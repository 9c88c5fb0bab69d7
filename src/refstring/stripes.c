/* The linesize string L(n, s). */
#include <stdio.h>
#include <stdlib.h>

#include "refstring/build.h"
#include "refstring/refstring.h"

/* Which of a pair is touched. */
static uint32_t odd(uint32_t pair, unsigned variant)
{
    return fm_spread(pair, variant) >= 0.5;
}

bool fm_stripe_string(struct fm_string *string, const struct fm_stripe_plan *plan,
                      struct fm_error *err)
{
    /* The swept order over pairs of stripes, then one stripe of each pair picked. */
    const size_t pair_bytes = 2 * plan->stripe;
    const struct fm_swept_plan pairs = {.bytes = plan->bytes / pair_bytes * pair_bytes,
                                        .unit = pair_bytes,
                                        .page = plan->page,
                                        .seed = plan->seed};
    if (!fm_swept_string(string, &pairs, err))
        return false;
    snprintf(string->label, sizeof string->label,
             "stripes(bytes=%zu,stripe=%zu,page=%zu,variant=%u,packed=%zu,seed=%llu)", plan->bytes,
             plan->stripe, plan->page, plan->variant, plan->packed, (unsigned long long)plan->seed);
    struct fm_order *order = &string->orders[0];
    const uint32_t stripe_words = (uint32_t)(plan->stripe / FM_WORD);
    const uint32_t run = (uint32_t)(plan->packed / FM_WORD);
    for (size_t i = 0; i < order->count; i++) {
        const uint32_t word = order->word[i];
        if (run == 0) {
            order->word[i] += odd(word / (2 * stripe_words), plan->variant) * stripe_words;
            continue;
        }
        const uint32_t pair = word / (2 * run);
        const bool whole = (pair + 1) * 2 * run * FM_WORD <= pairs.bytes;
        order->word[i] = pair * 2 * run + word % (2 * run) / 2;
        if (whole)
            order->word[i] += odd(pair, plan->variant) * run;
    }
    return true;
}
