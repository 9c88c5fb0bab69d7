#include "policy/order.h"
#include "policy/policies.h"

static uint32_t oldest(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)is;
    (void)rng;
    return fm_order_oldest(state, ways);
}

static void renew(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way,
                  struct fm_rng *rng)
{
    (void)is;
    (void)rng;
    fm_order_renew(state, ways, way);
}

const struct fm_policy fm_policy_fifo = {
    .words = fm_order_words,
    .reset = fm_order_reset,
    .hit = NULL, /* only the order of coming in counts */
    .victim = oldest,
    .fill = renew,
    .drop = fm_order_retire,
};
