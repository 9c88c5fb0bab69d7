/* The tags of a cache or TLB: which line is in which way of which set.
 *
 * A slot is a way of a set, numbered set * stride + way. Rows of few ways are searched with vector
 * compares, without a branch that depends on the data; rows of many ways have a hash table over
 * all slots, so that a fully associative structure costs no more. Where tags are small numbers, a
 * plain table tells the slot of each. */
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

/* More slots than this do not fit the first-level cache of the computer we run on. */
#define FM_LARGE 8192u

struct fm_tags {
    uint32_t *tag;   /* rows of `stride`, the spare ones empty for ever */
    uint64_t *state; /* the policy's, `words` a set */
    uint64_t *table; /* tag in the high half, slot + 1 in the low */
    uint32_t table_shift;
    uint32_t *by_tag; /* slot + 1; instead of the hash table */
    uint32_t by_tag_size;
    uint32_t *visits; /* by set: the last round that came there */
    uint32_t visit;
    uint64_t *turn; /* by set, of a small tree: turns.h; else NULL */
    bool searched;  /* rows are: there is neither table */
    struct fm_divisor by_sets;
    uint32_t sets, ways, stride, words;
    bool ordered;          /* the state is an order: the policy is LRU or FIFO */
    bool packed;           /* it is one in a single word */
    bool promotes;         /* a hit changes that order */
    uint32_t order_shift;  /* to the oldest way in it */
    uint64_t order_mask;   /* the nibbles in use */
    bool is_tree, is_bits; /* the state is a pseudo-LRU's of one word, and the empty ways */
    struct fm_policy policy;
    struct fm_rng rng; /* for a policy that draws lots */
};

/* All ways are empty. */
bool fm_tags_open(struct fm_tags *tags, uint64_t entries, uint32_t ways,
                  enum fm_replacement replacement, uint64_t seed, struct fm_error *err);
void fm_tags_close(struct fm_tags *tags);
void fm_tags_clear(struct fm_tags *tags);

/* From now on all tags are below `end`, and a tag is in one set alone. All ways must be empty. */
bool fm_tags_number(struct fm_tags *tags, uint32_t end, struct fm_error *err);

/* A batch of tags and their sets; one that was not there, by its number in the batch, and the slot
   that it was put into. */
#define FM_BATCH 128u
struct fm_batch {
    uint32_t sets[FM_BATCH], tags[FM_BATCH];
};
struct fm_missed {
    uint32_t number, slot;
};

/* Hits or replaces the tags one after another; returns how many were not there. */
unsigned fm_tags_pass(struct fm_tags *tags, const struct fm_batch *batch, unsigned count,
                      struct fm_missed *missed);

/* Hits the tags from `from` on up to the first that is not there, whose number it returns. */
unsigned fm_tags_hits(struct fm_tags *tags, const struct fm_batch *batch, unsigned from,
                      unsigned count);

/* Makes a slot empty. */
void fm_tags_drop(struct fm_tags *tags, size_t slot);

/* A slot drawn evenly from all, empty or not. */
size_t fm_tags_draw(const struct fm_tags *tags, struct fm_rng *rng);

/* In a round from here on, whether it is the first time that this set is come to. */
static inline void fm_tags_begin_visits(struct fm_tags *tags)
{
    tags->visit++;
}

static inline bool fm_tags_visit(struct fm_tags *tags, uint32_t set)
{
    const bool first = tags->visits[set] != tags->visit;
    tags->visits[set] = tags->visit;
    return first;
}

/* The rarer halves of the functions below: a table, a policy that is no packed order. */
size_t fm_tags_look_up(const struct fm_tags *tags, uint32_t set, uint32_t tag);
void fm_tags_tell_hit(struct fm_tags *tags, uint32_t set, uint32_t way);
size_t fm_tags_give_up(struct fm_tags *tags, uint32_t set, uint32_t tag, uint32_t *old);

#define FM_LIKELY(x) __builtin_expect(!!(x), 1)

typedef uint32_t fm_lanes __attribute__((vector_size(16), may_alias));
typedef uint64_t fm_halves __attribute__((vector_size(16)));

/* The way of a row that holds the tag, counted from 1; 0 if none does. Without a branch that
   depends on the tags: which way hits cannot be predicted. */
static inline uint32_t fm_tags_way(const uint32_t *tags, uint32_t stride, uint32_t tag)
{
    const fm_lanes *row = (const fm_lanes *)(const void *)tags;
    const fm_lanes wanted = {tag, tag, tag, tag};
    const fm_lanes low = {1, 2, 3, 4}, four = {4, 4, 4, 4};
    fm_lanes found = (fm_lanes)(row[0] == wanted) & low;
    if (stride >= 8)
        found |= (fm_lanes)(row[1] == wanted) & (low + four);
    if (stride >= 12) {
        fm_lanes number = low + 2 * four;
        uint32_t i = 2;
        do {
            found |= (fm_lanes)(row[i] == wanted) & number;
            number += four;
        } while (++i < stride / 4);
    }
    const fm_halves halves = (fm_halves)found;
    const uint64_t either = halves[0] | halves[1]; /* at most one lane is not 0 */
    return (uint32_t)(either | either >> 32);
}

/* The slot of this set that holds the tag, or FM_NO_SLOT; changes nothing. */
static inline size_t fm_tags_find(const struct fm_tags *tags, uint32_t set, uint32_t tag)
{
    if (!FM_LIKELY(tags->searched))
        return fm_tags_look_up(tags, set, tag);
    const size_t base = (size_t)set * tags->stride;
    const uint32_t way = fm_tags_way(tags->tag + base, tags->stride, tag);
    return way ? base + way - 1 : FM_NO_SLOT;
}

/* Tells the policy that the line in this slot was used. */
static inline void fm_tags_hit(struct fm_tags *tags, uint32_t set, size_t slot)
{
    const uint32_t way = (uint32_t)(slot - (size_t)set * tags->stride);
    if (FM_LIKELY(tags->packed && tags->promotes))
        tags->state[set] = fm_order_to_front(tags->state[set], way);
    else
        fm_tags_tell_hit(tags, set, way);
}

/* Puts the tag into the way the policy gives up. Returns the slot; *old is what was in it. */
static inline size_t fm_tags_replace(struct fm_tags *tags, uint32_t set, uint32_t tag,
                                     uint32_t *old)
{
    if (!FM_LIKELY(tags->packed))
        return fm_tags_give_up(tags, set, tag, old);
    const uint64_t order = tags->state[set];
    const uint64_t way = order >> tags->order_shift;
    const size_t slot = (size_t)set * tags->stride + way;
    tags->state[set] = fm_order_last_to_front(order, way, tags->order_mask);
    *old = tags->tag[slot];
    tags->tag[slot] = tag;
    return slot;
}

#endif
