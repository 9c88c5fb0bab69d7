#include "policy/order.h"
#include "policy/policies.h"

static uint32_t oldest(uint64_t *state, uint32_t ways, struct fm_rng *rng)
{
    (void)rng;
    return fm_order_oldest(state, ways);
}

const struct fm_policy fm_policy_fifo = {
    .name = "fifo",
    .words = fm_order_words,
    .reset = fm_order_reset,
    .hit = NULL, /* only the order of coming in counts */
    .victim = oldest,
    .fill = fm_order_renew,
    .drop = fm_order_retire,
};
