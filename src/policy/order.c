#include "policy/order.h"

/* The row: a way in each byte, the newest in the lowest of the first word. Bytes beyond the oldest
   are no way's. */
#define ROW      64u
#define BYTES    8u
#define ALL_ONES 0x0101010101010101u

/* The highest bit of the byte of a word that is this way; 0 if none is. */
static uint64_t place_in_word(uint64_t word, uint32_t way)
{
    const uint64_t differs = word ^ ALL_ONES * way;
    const uint64_t zero = (differs - ALL_ONES) & ~differs & (ALL_ONES << 7);
    return zero & -zero;
}

static uint32_t in_row(const uint64_t *row, uint32_t place)
{
    return (uint32_t)(row[place / BYTES] >> 8 * (place % BYTES)) & 0xff;
}

static void reset_row(uint64_t *row, uint32_t ways)
{
    for (uint32_t i = 0; i < (ways + BYTES - 1) / BYTES; i++)
        row[i] = UINT64_MAX;
    for (uint32_t place = 0; place < ways; place++)
        row[place / BYTES] ^= (uint64_t)(0xff ^ (ways - 1 - place)) << 8 * (place % BYTES);
}

/* All that are newer than the way move on by one place. */
static void renew_in_row(uint64_t *row, uint32_t way)
{
    uint64_t last = way, place;
    for (;; row++) {
        const uint64_t word = *row, moved = word << 8 | last;
        place = place_in_word(word, way);
        if (place) {
            const uint64_t up_to = (place << 1) - 1;
            *row = (moved & up_to) | (word & ~up_to);
            return;
        }
        *row = moved;
        last = word >> 56;
    }
}

/* The oldest comes to the front: all move on by one place, and there is nothing to look for. */
static void turn_row(uint64_t *row, uint32_t ways)
{
    const uint32_t end = (ways - 1) / BYTES, last = 8 * ((ways - 1) % BYTES);
    const uint64_t kept = UINT64_MAX >> (56 - last);
    uint64_t before = in_row(row, ways - 1);
    for (uint32_t i = 0; i < end; i++) {
        const uint64_t word = row[i];
        row[i] = word << 8 | before;
        before = word >> 56;
    }
    row[end] = ((row[end] << 8 | before) & kept) | (row[end] & ~kept);
}

/* All that are older move back by one. */
static void retire_in_row(uint64_t *row, uint32_t ways, uint32_t way)
{
    const uint32_t end = (ways - 1) / BYTES, shift = 8 * ((ways - 1) % BYTES);
    uint32_t i = 0;
    while (!place_in_word(row[i], way))
        i++;
    uint64_t kept = (place_in_word(row[i], way) >> 7) - 1;
    for (; i <= end; i++) {
        const uint64_t moved = row[i] >> 8 | (i < end ? row[i + 1] : UINT64_MAX) << 56;
        row[i] = (row[i] & kept) | (moved & ~kept);
        kept = 0;
    }
    row[end] = (row[end] & ~((uint64_t)0xff << shift)) | (uint64_t)way << shift;
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
    return ways <= ROW ? (ways + BYTES - 1) / BYTES : (size_t)ways + 1;
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
        reset_row(state, ways);
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
    return ways <= ROW ? in_row(state, ways - 1) : newer(state[ways]);
}

void fm_order_renew(uint64_t *state, uint32_t ways, uint32_t way)
{
    if (ways <= FM_ORDER_PACKED) {
        state[0] = fm_order_to_front(state[0], way);
        return;
    }
    if (ways <= ROW) {
        renew_in_row(state, way);
        return;
    }
    take_out(state, way);
    const uint32_t newest = older(state[ways]);
    join(state, way, newest);
    join(state, ways, way);
}

uint32_t fm_order_turn(uint64_t *state, uint32_t ways)
{
    const uint32_t way = fm_order_oldest(state, ways);
    if (ways > FM_ORDER_PACKED && ways <= ROW)
        turn_row(state, ways);
    else
        fm_order_renew(state, ways, way);
    return way;
}

uint32_t fm_order_way_at(const uint64_t *state, uint32_t ways, uint32_t place, uint32_t before)
{
    if (ways <= FM_ORDER_PACKED)
        return (uint32_t)(state[0] >> 4 * place) & 15;
    return ways <= ROW ? in_row(state, place) : older(state[place ? before : ways]);
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
        retire_in_row(state, ways, way);
        return;
    }
    take_out(state, way);
    const uint32_t oldest = newer(state[ways]);
    join(state, oldest, way);
    join(state, way, ways);
}
