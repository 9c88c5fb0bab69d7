/* The tags of a cache or TLB: which line is in which way of which set.
 *
 * A slot is a way of a set, numbered set * stride + way. Rows of few ways are searched with vector
 * compares, without a branch that depends on the data; rows of many ways have a hash table over
 * all slots, so that a fully associative structure costs no more. */
#ifndef FM_MACHINE_SIMULATED_TAGS_H
#define FM_MACHINE_SIMULATED_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "machine/simulated/divisor.h"
#include "policy/order.h"
#include "policy/policy.h"

#define FM_EMPTY   UINT32_MAX /* the tag of an empty way: no line has this number */
#define FM_NO_SLOT SIZE_MAX

struct fm_tags {
    uint32_t *tag;   /* rows of `stride`, the spare ones empty for ever */
    uint64_t *state; /* the policy's, `words` a set */
    uint64_t *table; /* tag in the high half, slot + 1 in the low; NULL: rows are searched */
    uint32_t table_shift;
    const struct fm_policy *policy;
    struct fm_rng *rng; /* for a policy that draws lots; not ours */
    uint32_t sets, ways, stride, words;
    struct fm_divisor by_sets;
    bool packed;   /* the state is an order in one word */
    bool promotes; /* a hit changes that order */
};

/* rng must outlive the tags. All ways are empty. */
bool fm_tags_open(struct fm_tags *tags, uint64_t entries, uint32_t ways,
                  enum fm_replacement replacement, struct fm_rng *rng, struct fm_error *err);
void fm_tags_close(struct fm_tags *tags);
void fm_tags_clear(struct fm_tags *tags);

/* Makes a slot empty. */
void fm_tags_drop(struct fm_tags *tags, size_t slot);

/* A slot drawn evenly from all, empty or not. */
size_t fm_tags_draw(const struct fm_tags *tags, struct fm_rng *rng);

size_t fm_tags_look_up(const struct fm_tags *tags, uint32_t set, uint32_t tag);
void fm_tags_table_remove(struct fm_tags *tags, size_t slot);
void fm_tags_table_add(struct fm_tags *tags, size_t slot);

typedef uint32_t fm_lanes __attribute__((vector_size(16), may_alias));
typedef uint64_t fm_halves __attribute__((vector_size(16)));

/* The slot of this set that holds the tag, or FM_NO_SLOT; changes nothing. */
static inline size_t fm_tags_find(const struct fm_tags *tags, uint32_t set, uint32_t tag)
{
    if (tags->table)
        return fm_tags_look_up(tags, set, tag);
    const size_t base = (size_t)set * tags->stride;
    const fm_lanes *row = (const fm_lanes *)(const void *)(tags->tag + base);
    const fm_lanes wanted = {tag, tag, tag, tag};
    fm_lanes number = {1, 2, 3, 4}, found = {0, 0, 0, 0};
    for (uint32_t i = 0; i < tags->stride; i += 4, number += 4)
        found |= (fm_lanes)(*row++ == wanted) & number;
    const fm_halves halves = (fm_halves)found;
    const uint64_t either = halves[0] | halves[1];
    const uint32_t way = (uint32_t)(either | either >> 32); /* at most one lane is not 0 */
    return way ? base + way - 1 : FM_NO_SLOT;
}

/* Tells the policy that the line in this slot was used. */
static inline void fm_tags_hit(struct fm_tags *tags, uint32_t set, size_t slot)
{
    const uint32_t way = (uint32_t)(slot - (size_t)set * tags->stride);
    if (tags->packed && tags->promotes)
        tags->state[set] = fm_order_to_front(tags->state[set], way);
    else if (tags->policy->hit)
        tags->policy->hit(tags->state + (size_t)set * tags->words, tags->ways, way);
}

/* Puts the tag into the way the policy gives up. Returns the slot; *old is what was in it. */
static inline size_t fm_tags_replace(struct fm_tags *tags, uint32_t set, uint32_t tag,
                                     uint32_t *old)
{
    uint64_t *state = tags->state + (size_t)set * tags->words;
    uint32_t way;
    if (tags->packed) {
        way = fm_order_last(*state, tags->ways);
        *state = fm_order_last_to_front(*state, tags->ways, way);
    } else {
        way = tags->policy->victim(state, tags->ways, tags->rng);
        tags->policy->fill(state, tags->ways, way);
    }
    const size_t slot = (size_t)set * tags->stride + way;
    *old = tags->tag[slot];
    if (tags->table && *old != FM_EMPTY)
        fm_tags_table_remove(tags, slot);
    tags->tag[slot] = tag;
    if (tags->table)
        fm_tags_table_add(tags, slot);
    return slot;
}

#endif
