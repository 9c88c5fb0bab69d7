#include "policy/bits.h"
#include "policy/policies.h"

/* State: the empty ways, then one bit a way that says "used of late". When a use would set the
   last of them, the others are cleared. The lowest way without the bit is replaced. */

static uint64_t *used_bits(uint64_t *state, uint32_t ways)
{
    return state + fm_bits_words(ways);
}

static size_t words(uint32_t ways)
{
    return 2 * fm_bits_words(ways);
}

static void reset(uint64_t *state, uint32_t ways)
{
    uint64_t *used = used_bits(state, ways);
    fm_bits_fill(state, ways);
    for (size_t i = 0; i < fm_bits_words(ways); i++)
        used[i] = 0;
}

static uint32_t first_unused(const uint64_t *used, uint32_t ways)
{
    for (size_t i = 0; i < fm_bits_words(ways); i++) {
        const uint64_t unused = ~used[i] & fm_bits_used(ways, i);
        if (unused)
            return (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(unused);
    }
    return FM_NO_BIT;
}

static void hit(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way)
{
    (void)is;
    uint64_t *used = used_bits(state, ways);
    fm_bits_set(used, way);
    if (first_unused(used, ways) != FM_NO_BIT)
        return;
    for (size_t i = 0; i < fm_bits_words(ways); i++)
        used[i] = 0;
    fm_bits_set(used, way);
}

static uint32_t victim(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)is;
    (void)rng;
    const uint32_t empty = fm_bits_first(state, ways);
    if (empty != FM_NO_BIT)
        return empty;
    const uint32_t unused = first_unused(used_bits(state, ways), ways);
    return unused != FM_NO_BIT ? unused : 0; /* none: the set has one way */
}

static void fill(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way,
                 struct fm_rng *rng)
{
    (void)rng;
    fm_bits_clear(state, way);
    hit(is, state, ways, way);
}

static void drop(uint64_t *state, uint32_t ways, uint32_t way)
{
    fm_bits_set(state, way);
    fm_bits_clear(used_bits(state, ways), way);
}

const struct fm_policy fm_policy_bit_plru = {
    .words = words,
    .reset = reset,
    .hit = hit,
    .victim = victim,
    .fill = fill,
    .drop = drop,
};
