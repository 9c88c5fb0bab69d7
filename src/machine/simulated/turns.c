#include "machine/simulated/turns.h"

#include <string.h>

#include "policy/plru.h"

/* A way in each nibble; that of a row with room, where nothing is swapped. */
#define IN_PLACE 0xfedcba9876543210u

static uint32_t nibble(uint64_t word, uint32_t place)
{
    return (uint32_t)(word >> 4 * place) & 15;
}

static const uint64_t *state_of(const struct fm_tags *tags, uint32_t set)
{
    return tags->state + (size_t)set * tags->words;
}

static uint64_t order_of(const struct fm_tags *tags, uint32_t set)
{
    const uint64_t *state = state_of(tags, set);
    return state[0] ? IN_PLACE : fm_plru_tree_order(state[1], tags->ways);
}

void fm_turns_note(struct fm_tags *tags)
{
    for (uint32_t set = 0; tags->turn && set < tags->sets; set++)
        tags->turn[set] = order_of(tags, set);
}

void fm_turns_learn(struct fm_tags *tags)
{
    for (uint32_t set = 0; tags->turn && set < tags->sets; set++) {
        const uint64_t before = tags->turn[set], now = order_of(tags, set);
        tags->turn[set] = 0;
        for (uint32_t i = 0; i < tags->ways; i++)
            tags->turn[set] |= (uint64_t)nibble(now, i) << 4 * nibble(before, i);
    }
}

/* Swaps the ways of a row once. */
static void turn(struct fm_tags *tags, uint32_t set)
{
    uint32_t *row = tags->tag + (size_t)set * tags->stride, moved[FM_ORDER_PACKED] = {0};
    uint64_t *tree = tags->state + (size_t)set * tags->words + 1;
    const uint64_t order = order_of(tags, set);
    for (uint32_t way = 0; way < tags->ways; way++)
        moved[nibble(tags->turn[set], way)] = row[way];
    memcpy(row, moved, tags->ways * sizeof *row);
    /* Used from the first to the last, they are in this order again. */
    for (uint32_t i = 0; i < tags->ways; i++)
        *tree = fm_plru_tree_use(*tree, tags->ways, nibble(tags->turn[set], nibble(order, i)));
}

void fm_turns_apply(struct fm_tags *tags, uint64_t laps)
{
    for (uint32_t set = 0; tags->turn && set < tags->sets; set++) {
        const uint64_t in_use = UINT64_MAX >> (64 - 4 * tags->ways);
        if (state_of(tags, set)[0] || tags->turn[set] == (IN_PLACE & in_use))
            continue;
        /* As often as there are ways, and all are back. */
        for (uint64_t i = laps % tags->ways; i > 0; i--)
            turn(tags, set);
    }
}
