/* The linesize string L(n, s). */
#include <stdio.h>
#include <stdlib.h>

#include "refstring/build.h"
#include "refstring/refstring.h"

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
             "stripes(bytes=%zu,stripe=%zu,page=%zu,variant=%u,seed=%llu)", plan->bytes,
             plan->stripe, plan->page, plan->variant, (unsigned long long)plan->seed);
    struct fm_order *order = &string->orders[0];
    const uint32_t stripe_words = (uint32_t)(plan->stripe / FM_WORD);
    for (size_t i = 0; i < order->count; i++) {
        const uint32_t pair = order->word[i] / (2 * stripe_words);
        if (fm_spread(pair, plan->variant) >= 0.5)
            order->word[i] += stripe_words;
    }
    return true;
}
