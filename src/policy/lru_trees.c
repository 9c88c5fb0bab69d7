#include "policy/bits.h"
#include "policy/order.h"
#include "policy/plru.h"
#include "policy/policies.h"

/* State: the empty ways; the order in which groups of ways were used; a tree over the ways of each
   group, a word for each. As many groups as the odd part of the ways: three of twelve. */

static uint32_t group_size(uint32_t ways)
{
    return ways & -ways;
}

static uint32_t group_count(uint32_t ways)
{
    return ways / group_size(ways);
}

static uint64_t *order_of(uint64_t *state, uint32_t ways)
{
    return state + fm_bits_words(ways);
}

static uint64_t *trees_of(uint64_t *state, uint32_t ways)
{
    return order_of(state, ways) + fm_order_words(group_count(ways));
}

static size_t words(uint32_t ways)
{
    const uint32_t groups = group_count(ways);
    return fm_bits_words(ways) + fm_order_words(groups) + groups;
}

static void reset(uint64_t *state, uint32_t ways)
{
    uint64_t *trees = trees_of(state, ways);
    fm_bits_fill(state, ways);
    fm_order_reset(order_of(state, ways), group_count(ways));
    for (uint32_t i = 0; i < group_count(ways); i++)
        trees[i] = 0;
}

static void hit(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way)
{
    (void)is;
    const uint32_t size = group_size(ways), group = way / size;
    uint64_t *tree = &trees_of(state, ways)[group];
    *tree = fm_plru_tree_use(*tree, size, way % size);
    fm_order_renew(order_of(state, ways), group_count(ways), group);
}

static uint32_t victim(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)is;
    (void)rng;
    const uint32_t empty = fm_bits_first(state, ways), size = group_size(ways);
    if (empty != FM_NO_BIT)
        return empty;
    const uint32_t group = fm_order_oldest(order_of(state, ways), group_count(ways));
    return group * size + fm_plru_tree_victim(trees_of(state, ways)[group], size);
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

const struct fm_policy fm_policy_lru_trees = {
    .words = words,
    .reset = reset,
    .hit = hit,
    .victim = victim,
    .fill = fill,
    .drop = drop,
};
