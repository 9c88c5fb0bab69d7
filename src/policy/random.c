#include "policy/bits.h"
#include "policy/policies.h"

/* State: the empty ways. */

static void drop(uint64_t *state, uint32_t ways, uint32_t way)
{
    (void)ways;
    fm_bits_set(state, way);
}

static void fill(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way,
                 struct fm_rng *rng)
{
    (void)rng;
    (void)is;
    (void)ways;
    fm_bits_clear(state, way);
}

static uint32_t victim(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)is;
    const uint32_t empty = fm_bits_first(state, ways);
    return empty != FM_NO_BIT ? empty : (uint32_t)fm_rng_below(rng, ways);
}

const struct fm_policy fm_policy_random = {
    .draws = true,
    .words = fm_bits_words,
    .reset = fm_bits_fill,
    .hit = NULL, /* the draw forgets what was used */
    .victim = victim,
    .fill = fill,
    .drop = drop,
};
