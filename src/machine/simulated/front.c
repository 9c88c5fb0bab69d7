#include "machine/simulated/front.h"

#include <stdlib.h>

#include "core/refstring.h"
#include "core/rng.h"

/* Pieces that a window is counted in at the most: that many entries is more than any has. */
#define PIECES 16u
/* Places for jumps that were met, at first. */
#define FIRST_SEEN 4096

static bool open_tags(struct fm_tags *tags, const char *what, uint32_t entries, uint32_t ways,
                      struct fm_error *err)
{
    if (ways == 0 || entries % ways)
        return fm_fail(err, FM_ERR_USAGE, "%s: entries are no multiple of ways", what);
    return fm_tags_open(tags, entries, ways, FM_REPLACE_LRU, 1, err);
}

bool fm_front_open(struct fm_front *front, const struct fm_description *description,
                   struct fm_error *err)
{
    const struct fm_op_cache_description *ops = &description->op_cache;
    *front = (struct fm_front){.ops_each = ops->ops, .ops_latency = ops->latency};
    for (size_t i = 0; i < description->btb_count; i++) {
        const struct fm_btb_description *btb = &description->btbs[i];
        struct fm_btb_level *level = &front->btbs[i];
        if (btb->block == 0)
            return fm_fail(err, FM_ERR_USAGE, "btb: a block has at least a byte");
        if (!open_tags(&level->tags, "btb", btb->entries, btb->ways, err))
            return false;
        level->by_block = fm_divisor_of(btb->block);
        level->miss_cost = btb->miss_cost;
        front->btb_count++;
    }
    if (ops->entries == 0)
        return true;
    if (ops->window == 0 || ops->window & (ops->window - 1) || ops->ops == 0)
        return fm_fail(err, FM_ERR_USAGE,
                       "op_cache: an entry holds a power of two bytes and at least an op");
    front->window_shift = (uint32_t)__builtin_ctz(ops->window);
    front->has_ops = open_tags(&front->ops, "op_cache", ops->entries, ops->ways, err);
    return front->has_ops;
}

void fm_front_close(struct fm_front *front)
{
    for (unsigned i = 0; i < front->btb_count; i++)
        fm_tags_close(&front->btbs[i].tags);
    if (front->has_ops)
        fm_tags_close(&front->ops);
    free(front->seen);
    *front = (struct fm_front){0};
}

void fm_front_forget(struct fm_front *front)
{
    if (front->has_ops)
        fm_tags_clear(&front->ops);
}

void fm_front_begin(struct fm_front *front)
{
    front->served = front->first_seen = 0;
    for (unsigned i = 0; i < front->btb_count; i++)
        front->btbs[i].missed = 0;
}

/* Whether a tag is in its set; used if it is, put there if not. */
static bool touch(struct fm_tags *tags, uint32_t set, uint32_t tag)
{
    const size_t slot = fm_tags_find(tags, set, tag);
    uint32_t old;
    if (slot == FM_NO_SLOT)
        fm_tags_replace(tags, set, tag, &old);
    else
        fm_tags_hit(tags, set, slot);
    return slot != FM_NO_SLOT;
}

/* Whether the entries of one window are there, of which so many operations are executed. */
static bool touch_window(struct fm_front *front, uint64_t window, unsigned ops)
{
    bool all = true;
    const uint32_t set = fm_remainder(front->ops.by_sets, (uint32_t)window);
    const unsigned pieces = (ops + front->ops_each - 1) / front->ops_each;
    for (unsigned i = 0; i < pieces && i < PIECES; i++)
        all &= touch(&front->ops, set, (uint32_t)(window * PIECES + i));
    return all;
}

bool fm_front_holds(struct fm_front *front, const struct fm_code_piece *piece)
{
    if (!front->has_ops)
        return false;
    bool all = true;
    const uint64_t bytes = piece->to - piece->from;
    for (uint64_t at = piece->from; at < piece->to;) {
        const uint64_t window = at >> front->window_shift;
        const uint64_t end = (window + 1) << front->window_shift;
        const uint64_t here = (end < piece->to ? end : piece->to) - at;
        /* Operations are as long as each other, so a window has its part of them. */
        const uint64_t ops = here == bytes ? piece->ops : (here * piece->ops + bytes - 1) / bytes;
        all &= touch_window(front, window, (unsigned)(ops ? ops : 1));
        at += here;
    }
    return all;
}

void fm_front_count_targets(struct fm_front *front, bool on)
{
    front->endless = on && front->btb_count == 0;
}

uint64_t fm_front_targets_missed(const struct fm_front *front)
{
    return front->btb_count ? front->btbs[front->btb_count - 1].missed : front->first_seen;
}

/* The place of a jump in the table, or the empty one where it would be. No jump is 0. */
static uint32_t *place_in(uint32_t *seen, size_t size, uint32_t jump)
{
    size_t at = (size_t)fm_mix64(jump) & (size - 1);
    while (seen[at] && seen[at] != jump)
        at = (at + 1) & (size - 1);
    return &seen[at];
}

/* Twice as large; stays as it is where there is no memory, until it is full. */
static void enlarge(struct fm_front *front)
{
    const size_t size = front->seen_size ? 2 * front->seen_size : FIRST_SEEN;
    uint32_t *larger = calloc(size, sizeof *larger);
    if (!larger)
        return;
    for (size_t i = 0; i < front->seen_size; i++)
        if (front->seen[i])
            *place_in(larger, size, front->seen[i]) = front->seen[i];
    free(front->seen);
    front->seen = larger;
    front->seen_size = size;
}

static void remember(struct fm_front *front, uint64_t address)
{
    const uint32_t jump = (uint32_t)(address / FM_FILLER) + 1;
    if (2 * front->seen_count >= front->seen_size)
        enlarge(front);
    if (front->seen_count + 1 >= front->seen_size)
        return;
    uint32_t *place = place_in(front->seen, front->seen_size, jump);
    front->first_seen += !*place;
    front->seen_count += !*place;
    *place = jump;
}

void fm_front_jump(struct fm_front *front, uint64_t address)
{
    bool found = false;
    if (front->endless)
        remember(front, address);
    for (unsigned i = 0; i < front->btb_count; i++) {
        struct fm_btb_level *btb = &front->btbs[i];
        const uint32_t block = fm_quotient(btb->by_block, (uint32_t)address);
        const uint32_t set = fm_remainder(btb->tags.by_sets, block);
        const bool here = touch(&btb->tags, set, (uint32_t)(address / FM_FILLER));
        found |= here;
        btb->missed += !found;
    }
}

double fm_front_cycles(const struct fm_front *front)
{
    double cycles = (double)front->served * front->ops_latency;
    /* Those that a level misses and the next does not cost what this level says. */
    for (unsigned i = 0; i < front->btb_count; i++) {
        const uint64_t further = i + 1 < front->btb_count ? front->btbs[i + 1].missed : 0;
        cycles += (double)(front->btbs[i].missed - further) * front->btbs[i].miss_cost;
    }
    return cycles;
}
