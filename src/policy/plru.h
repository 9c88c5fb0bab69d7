/* Pseudo-LRU of up to 64 ways as arithmetic on one word, beside one that marks the empty ways:
   inline, because a simulated reference calls these at every level with such a policy. */
#ifndef FM_POLICY_PLRU_H
#define FM_POLICY_PLRU_H

#include <stdint.h>

#define FM_PLRU_PACKED 64u

/* The bits of tree_plru.c after a use of the way. */
static inline uint64_t fm_plru_tree_use(uint64_t tree, uint32_t ways, uint32_t way)
{
#pragma GCC unroll 6 /* as many levels as there can be: no branch where the ways are known */
    for (uint32_t node = ways + way; node > 1; node /= 2) {
        const uint64_t left = ~node & 1;
        tree = (tree & ~((uint64_t)1 << node / 2)) | left << node / 2;
    }
    return tree;
}

/* The way that they point to. */
static inline uint32_t fm_plru_tree_victim(uint64_t tree, uint32_t ways)
{
    uint32_t node = 1;
#pragma GCC unroll 6
    while (node < ways)
        node = 2 * node + (uint32_t)(tree >> node & 1);
    return node - ways;
}

/* The bits of bit_plru.c after a use of the way; `all` has one for each way. */
static inline uint64_t fm_plru_bits_use(uint64_t used, uint64_t all, uint32_t way)
{
    const uint64_t own = (uint64_t)1 << way;
    return (used | own) == all ? own : used | own;
}

/* The order that the tree of up to 16 ways makes, a way in each nibble: at each node the half that
   it points to comes first. With no way empty, trees that agree in what lies at each place will go
   on doing so. */
static inline uint64_t fm_plru_tree_order(uint64_t tree, uint32_t ways)
{
    uint64_t order = ways > 1; /* the root; then the nodes of each level, the leaves at last */
    for (uint32_t count = 1; count < ways; count *= 2) {
        const uint32_t leaves = 2 * count == ways ? ways : 0;
        uint64_t below = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t node = (uint32_t)(order >> 4 * i) & 15;
            const uint32_t first = 2 * node + (uint32_t)(tree >> node & 1) - leaves;
            below |= (uint64_t)(first | (first ^ 1) << 4) << 8 * i;
        }
        order = below;
    }
    return order;
}

/* The lowest way that was not used. Of a single way there is none such. */
static inline uint32_t fm_plru_bits_victim(uint64_t used, uint64_t all)
{
    return used == all ? 0 : (uint32_t)__builtin_ctzll(~used);
}

#endif
