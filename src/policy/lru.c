#include "policy/order.h"
#include "policy/policies.h"

static uint32_t oldest(uint64_t *state, uint32_t ways, struct fm_rng *rng)
{
    (void)rng;
    return fm_order_oldest(state, ways);
}

const struct fm_policy fm_policy_lru = {
    .name = "lru",
    .words = fm_order_words,
    .reset = fm_order_reset,
    .hit = fm_order_renew,
    .victim = oldest,
    .fill = fm_order_renew,
    .drop = fm_order_retire,
};
