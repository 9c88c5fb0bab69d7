#include "policy/bits.h"
#include "policy/plru.h"
#include "policy/policies.h"

/* State: the empty ways, then a binary tree over the ways, one bit a node: node 1 is the root,
   node n has the children 2n and 2n+1, way w is the leaf ways+w. A bit points to the child where
   the next victim is; a use makes every bit on the way to the root point elsewhere. */

static uint64_t *tree_bits(uint64_t *state, uint32_t ways)
{
    return state + fm_bits_words(ways);
}

static size_t words(uint32_t ways)
{
    return 2 * fm_bits_words(ways);
}

static void reset(uint64_t *state, uint32_t ways)
{
    uint64_t *tree = tree_bits(state, ways);
    fm_bits_fill(state, ways);
    for (size_t i = 0; i < fm_bits_words(ways); i++)
        tree[i] = 0;
}

static void hit(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way)
{
    (void)is;
    uint64_t *tree = tree_bits(state, ways);
    if (ways <= FM_PLRU_PACKED) {
        *tree = fm_plru_tree_use(*tree, ways, way);
        return;
    }
    for (uint32_t node = ways + way; node > 1; node /= 2) {
        if (node % 2)
            fm_bits_clear(tree, node / 2);
        else
            fm_bits_set(tree, node / 2);
    }
}

static uint32_t victim(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)is;
    (void)rng;
    const uint32_t empty = fm_bits_first(state, ways);
    if (empty != FM_NO_BIT)
        return empty;
    const uint64_t *tree = tree_bits(state, ways);
    uint32_t node = 1;
    while (node < ways)
        node = 2 * node + (uint32_t)(tree[node / 64] >> (node % 64) & 1);
    return node - ways;
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
    (void)ways;
    fm_bits_set(state, way);
}

const struct fm_policy fm_policy_tree_plru = {
    .words = words,
    .reset = reset,
    .hit = hit,
    .victim = victim,
    .fill = fill,
    .drop = drop,
};
