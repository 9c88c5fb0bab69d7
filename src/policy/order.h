/* The ways of a set from the newest to the oldest: the state of LRU and FIFO.
 *
 * Up to FM_ORDER_PACKED ways the order is one word, a way in each nibble, the newest in the
 * lowest; these functions are inline because a simulated reference calls them at every level.
 * Up to 64 ways it is a row of bytes, which one line of this computer's caches holds, and beyond
 * that a doubly linked ring. Empty ways are kept at the old end. */
#ifndef FM_POLICY_ORDER_H
#define FM_POLICY_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define FM_ORDER_PACKED 16u

/* A word with the lowest bit of the lowest nibble that equals way. */
static inline uint64_t fm_order_place(uint64_t order, uint32_t way)
{
    const uint64_t ones = 0x1111111111111111u;
    const uint64_t differs = order ^ (ones * way);
    /* Borrows spoil only the nibbles above the lowest zero. */
    const uint64_t zero = (differs - ones) & ~differs & (ones << 3);
    return (zero & -zero) >> 3;
}

static inline uint64_t fm_order_to_front(uint64_t order, uint32_t way)
{
    const uint64_t newer = fm_order_place(order, way) - 1;
    const uint64_t moved = (newer << 4) | 15;
    return (order & ~moved) | ((order & newer) << 4) | way;
}

static inline uint32_t fm_order_last(uint64_t order, uint32_t ways)
{
    return (uint32_t)(order >> (4 * (ways - 1))) & 15;
}

/* What fm_order_to_front gives for the last way, without looking for it; `used` has ones in the
   nibbles of the ways there are. */
static inline uint64_t fm_order_last_to_front(uint64_t order, uint64_t last, uint64_t used)
{
    return (order << 4 | last) & used;
}

size_t fm_order_words(uint32_t ways);
void fm_order_reset(uint64_t *state, uint32_t ways);
uint32_t fm_order_oldest(const uint64_t *state, uint32_t ways);
void fm_order_renew(uint64_t *state, uint32_t ways, uint32_t way);
/* Renews the oldest, and says which it was. */
uint32_t fm_order_turn(uint64_t *state, uint32_t ways);
/* The way at a place, the newest at 0; `before` is the way at the place before it, of the first
 * any. */
uint32_t fm_order_way_at(const uint64_t *state, uint32_t ways, uint32_t place, uint32_t before);
void fm_order_retire(uint64_t *state, uint32_t ways, uint32_t way);

#endif
