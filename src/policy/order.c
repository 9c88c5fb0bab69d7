#include "policy/order.h"

#include <string.h>

/* The row: a way in each byte, the newest first. */
#define ROW 64u

static uint8_t *row(uint64_t *state)
{
    return (uint8_t *)state;
}

static size_t place_in_row(uint64_t *state, uint32_t ways, uint32_t way)
{
    return (size_t)((uint8_t *)memchr(row(state), (int)way, ways) - row(state));
}

/* The ring: word w links way w, the low half to the next newer, the high half to the next older.
   One more word closes the ring: its low half is the oldest way, its high half the newest. */

static uint32_t newer(uint64_t link)
{
    return (uint32_t)link;
}

static uint32_t older(uint64_t link)
{
    return (uint32_t)(link >> 32);
}

static void set_newer(uint64_t *link, uint32_t way)
{
    *link = (*link & ~(uint64_t)UINT32_MAX) | way;
}

static void set_older(uint64_t *link, uint32_t way)
{
    *link = (*link & UINT32_MAX) | (uint64_t)way << 32;
}

static void join(uint64_t *ring, uint32_t young, uint32_t old)
{
    set_older(&ring[young], old);
    set_newer(&ring[old], young);
}

static void take_out(uint64_t *ring, uint32_t way)
{
    join(ring, newer(ring[way]), older(ring[way]));
}

size_t fm_order_words(uint32_t ways)
{
    if (ways <= FM_ORDER_PACKED)
        return 1;
    return ways <= ROW ? (ways + sizeof(uint64_t) - 1) / sizeof(uint64_t) : (size_t)ways + 1;
}

/* Way 0 is the oldest, so that a set fills from there. */
void fm_order_reset(uint64_t *state, uint32_t ways)
{
    if (ways <= FM_ORDER_PACKED) {
        state[0] = 0;
        for (uint32_t way = 0; way < ways; way++)
            state[0] = state[0] << 4 | way;
        return;
    }
    if (ways <= ROW) {
        for (uint32_t way = 0; way < ways; way++)
            row(state)[ways - 1 - way] = (uint8_t)way;
        return;
    }
    for (uint32_t way = 0; way <= ways; way++)
        state[way] = 0;
    for (uint32_t way = 0; way < ways; way++)
        join(state, way + 1, way);
    join(state, 0, ways);
}

uint32_t fm_order_oldest(const uint64_t *state, uint32_t ways)
{
    if (ways <= FM_ORDER_PACKED)
        return fm_order_last(state[0], ways);
    return ways <= ROW ? ((const uint8_t *)state)[ways - 1] : newer(state[ways]);
}

void fm_order_renew(uint64_t *state, uint32_t ways, uint32_t way)
{
    if (ways <= FM_ORDER_PACKED) {
        state[0] = fm_order_to_front(state[0], way);
        return;
    }
    if (ways <= ROW) {
        memmove(row(state) + 1, row(state), place_in_row(state, ways, way));
        row(state)[0] = (uint8_t)way;
        return;
    }
    take_out(state, way);
    const uint32_t newest = older(state[ways]);
    join(state, way, newest);
    join(state, ways, way);
}

void fm_order_retire(uint64_t *state, uint32_t ways, uint32_t way)
{
    if (ways <= FM_ORDER_PACKED) {
        const uint64_t low = fm_order_place(state[0], way) - 1;
        const uint32_t last = 4 * (ways - 1);
        const uint64_t kept = ((uint64_t)1 << last) - 1;
        state[0] = (((state[0] & low) | ((state[0] >> 4) & ~low)) & kept) | (uint64_t)way << last;
        return;
    }
    if (ways <= ROW) {
        uint8_t *at = row(state) + place_in_row(state, ways, way), *last = row(state) + ways - 1;
        memmove(at, at + 1, (size_t)(last - at));
        *last = (uint8_t)way;
        return;
    }
    take_out(state, way);
    const uint32_t oldest = newer(state[ways]);
    join(state, oldest, way);
    join(state, way, ways);
}
