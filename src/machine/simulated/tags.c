#include "machine/simulated/tags.h"

#include <stdlib.h>
#include <string.h>

#include "policy/bits.h"
#include "policy/plru.h"

/* Up to so many ways a search by vector compares beats the hash table (bench/simulator.c). */
#define SEARCHED_WAYS 64u

#define LANES      4u
#define CACHE_LINE 64u

static void *allocate(size_t bytes)
{
    const size_t rounded = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return aligned_alloc(CACHE_LINE, rounded);
}

static size_t slots(const struct fm_tags *tags)
{
    return (size_t)tags->sets * tags->stride;
}

static size_t table_size(const struct fm_tags *tags)
{
    return (size_t)1 << (32 - tags->table_shift);
}

bool fm_tags_open(struct fm_tags *tags, uint64_t entries, uint32_t ways,
                  enum fm_replacement replacement, uint64_t seed, struct fm_error *err)
{
    *tags = (struct fm_tags){.policy = fm_policy_of(replacement), .ways = ways};
    fm_rng_seed(&tags->rng, seed);
    tags->sets = (uint32_t)(entries / ways);
    tags->stride = (ways + LANES - 1) / LANES * LANES;
    tags->words = (uint32_t)tags->policy.words(ways);
    tags->by_sets = fm_divisor_of(tags->sets);
    tags->promotes = replacement == FM_REPLACE_LRU;
    tags->ordered = tags->promotes || replacement == FM_REPLACE_FIFO;
    tags->is_tree = replacement == FM_REPLACE_TREE_PLRU && ways <= FM_PLRU_PACKED;
    tags->is_bits = replacement == FM_REPLACE_BIT_PLRU && ways <= FM_PLRU_PACKED;
    tags->packed = tags->ordered && ways <= FM_ORDER_PACKED;
    tags->order_shift = tags->packed ? 4 * (ways - 1) : 0;
    tags->order_mask = tags->packed ? UINT64_MAX >> (4 * (FM_ORDER_PACKED - ways)) : 0;
    tags->tag = allocate(slots(tags) * sizeof *tags->tag);
    tags->state = allocate((size_t)tags->sets * tags->words * sizeof *tags->state);
    tags->visits = calloc(tags->sets, sizeof *tags->visits);
    const bool turns = tags->is_tree && ways > 1 && ways <= FM_ORDER_PACKED && entries <= FM_LARGE;
    tags->turn = turns ? calloc(tags->sets, sizeof *tags->turn) : NULL;
    tags->searched = ways <= SEARCHED_WAYS;
    if (!tags->searched) {
        /* At most half full, so that a probe rarely goes beyond the first cell. */
        tags->table_shift = (uint32_t)__builtin_clz((uint32_t)entries) - 1;
        tags->table = allocate(table_size(tags) * sizeof *tags->table);
    }
    if (!tags->tag || !tags->state || !tags->visits || (turns && !tags->turn) ||
        (!tags->searched && !tags->table)) {
        fm_tags_close(tags);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the tags of a cache of %llu lines",
                       (unsigned long long)entries);
    }
    fm_tags_clear(tags);
    return true;
}

void fm_tags_close(struct fm_tags *tags)
{
    free(tags->tag);
    free(tags->state);
    free(tags->visits);
    free(tags->turn);
    free(tags->table);
    free(tags->by_tag);
    *tags = (struct fm_tags){0};
}

void fm_tags_clear(struct fm_tags *tags)
{
    for (size_t i = 0; i < slots(tags); i++) {
        if (tags->by_tag && tags->tag[i] != FM_EMPTY)
            tags->by_tag[tags->tag[i]] = 0;
        tags->tag[i] = FM_EMPTY;
    }
    for (size_t set = 0; set < tags->sets; set++)
        tags->policy.reset(tags->state + set * tags->words, tags->ways);
    if (tags->table)
        memset(tags->table, 0, table_size(tags) * sizeof *tags->table);
}

bool fm_tags_number(struct fm_tags *tags, uint32_t end, struct fm_error *err)
{
    /* A packed order's rows are so short that to search them takes less. */
    if (tags->ways <= FM_ORDER_PACKED || end <= tags->by_tag_size)
        return true;
    free(tags->table);
    free(tags->by_tag);
    tags->table = NULL;
    tags->by_tag = calloc(end, sizeof *tags->by_tag);
    tags->by_tag_size = tags->by_tag ? end : 0;
    tags->searched = false;
    return tags->by_tag ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a table of %u pages", (unsigned)end);
}

/* The table probes one cell after another from the tag's own; a removal closes the gap. */

static size_t home(const struct fm_tags *tags, uint32_t tag)
{
    return (tag * 0x9e3779b1u) >> tags->table_shift;
}

static size_t next(const struct fm_tags *tags, size_t cell)
{
    return (cell + 1) & (table_size(tags) - 1);
}

static uint64_t entry(const struct fm_tags *tags, size_t slot)
{
    return (uint64_t)tags->tag[slot] << 32 | (slot + 1);
}

size_t fm_tags_look_up(const struct fm_tags *tags, uint32_t set, uint32_t tag)
{
    if (FM_LIKELY(tags->by_tag))
        return (size_t)tags->by_tag[tag] - 1; /* of 0: FM_NO_SLOT */
    const size_t base = (size_t)set * tags->stride;
    for (size_t cell = home(tags, tag); tags->table[cell]; cell = next(tags, cell)) {
        /* A frame may come back at another virtual address, so a tag may be in two sets. */
        const size_t slot = (uint32_t)tags->table[cell] - 1;
        if (tags->table[cell] >> 32 == tag && slot - base < tags->ways)
            return slot;
    }
    return FM_NO_SLOT;
}

/* Notes in which slot a tag is. */
static void note(struct fm_tags *tags, size_t slot)
{
    if (tags->by_tag) {
        tags->by_tag[tags->tag[slot]] = (uint32_t)slot + 1;
        return;
    }
    size_t cell = home(tags, tags->tag[slot]);
    while (tags->table[cell])
        cell = next(tags, cell);
    tags->table[cell] = entry(tags, slot);
}

/* Forgets it, before the tag goes. */
static void forget(struct fm_tags *tags, size_t slot)
{
    if (tags->by_tag) {
        tags->by_tag[tags->tag[slot]] = 0;
        return;
    }
    const size_t mask = table_size(tags) - 1;
    size_t gap = home(tags, tags->tag[slot]);
    while (tags->table[gap] != entry(tags, slot))
        gap = next(tags, gap);
    for (size_t cell = next(tags, gap); tags->table[cell]; cell = next(tags, cell)) {
        /* An entry may move back into the gap unless its own cell lies behind the gap. */
        const size_t own = home(tags, (uint32_t)(tags->table[cell] >> 32));
        if (((cell - own) & mask) >= ((cell - gap) & mask)) {
            tags->table[gap] = tags->table[cell];
            gap = cell;
        }
    }
    tags->table[gap] = 0;
}

void fm_tags_drop(struct fm_tags *tags, size_t slot)
{
    const size_t set = slot / tags->stride;
    if (!tags->searched)
        forget(tags, slot);
    tags->tag[slot] = FM_EMPTY;
    tags->policy.drop(tags->state + set * tags->words, tags->ways, (uint32_t)(slot % tags->stride));
}

size_t fm_tags_draw(const struct fm_tags *tags, struct fm_rng *rng)
{
    const size_t line = (size_t)fm_rng_below(rng, (uint64_t)tags->sets * tags->ways);
    return line / tags->ways * tags->stride + line % tags->ways;
}

void fm_tags_tell_hit(struct fm_tags *tags, uint32_t set, uint32_t way)
{
    if (tags->policy.hit)
        tags->policy.hit(&tags->policy, tags->state + (size_t)set * tags->words, tags->ways, way);
}

size_t fm_tags_give_up(struct fm_tags *tags, uint32_t set, uint32_t tag, uint32_t *old)
{
    uint64_t *state = tags->state + (size_t)set * tags->words;
    const uint32_t way = tags->policy.victim(&tags->policy, state, tags->ways, &tags->rng);
    const size_t slot = (size_t)set * tags->stride + way;
    tags->policy.fill(&tags->policy, state, tags->ways, way, &tags->rng);
    *old = tags->tag[slot];
    if (!tags->searched && *old != FM_EMPTY)
        forget(tags, slot);
    tags->tag[slot] = tag;
    if (!tags->searched)
        note(tags, slot);
    return slot;
}

/* A batch at a packed order. The copy lets the compiler keep things in registers, and a stride that
   it knows lets it unroll the search. */
static inline __attribute__((always_inline)) unsigned
pass_packed(const struct fm_tags *tags, uint32_t stride, const struct fm_batch *batch,
            unsigned count, struct fm_missed *missed)
{
    const struct fm_tags is = *tags;
    unsigned misses = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t base = (size_t)batch->sets[i] * stride;
        uint64_t *state = is.state + batch->sets[i];
        const uint64_t order = *state;
        const uint32_t way = fm_tags_way(is.tag + base, stride, batch->tags[i]);
        if (way) {
            *state = is.promotes ? fm_order_to_front(order, way - 1) : order;
            continue;
        }
        const uint64_t last = order >> is.order_shift;
        *state = fm_order_last_to_front(order, last, is.order_mask);
        is.tag[base + last] = batch->tags[i];
        missed[misses++] = (struct fm_missed){i, (uint32_t)(base + last)};
    }
    return misses;
}

/* A batch at a pseudo-LRU in a word, in the same way; `tree`: which of the two it is. */
static inline __attribute__((always_inline)) unsigned
pass_plru(const struct fm_tags *tags, bool tree, uint32_t ways, uint32_t stride,
          const struct fm_batch *batch, unsigned count, struct fm_missed *missed)
{
    const struct fm_tags is = *tags;
    const uint64_t all = fm_bits_used(ways, 0);
    unsigned misses = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t base = (size_t)batch->sets[i] * stride;
        uint64_t *empty = is.state + (size_t)batch->sets[i] * 2, *used = empty + 1;
        uint32_t way = fm_tags_way(is.tag + base, stride, batch->tags[i]) - 1;
        if (way == UINT32_MAX) {
            way = *empty ? (uint32_t)__builtin_ctzll(*empty)
                  : tree ? fm_plru_tree_victim(*used, ways)
                         : fm_plru_bits_victim(*used, all);
            *empty &= *empty - 1;
            is.tag[base + way] = batch->tags[i];
            missed[misses++] = (struct fm_missed){i, (uint32_t)(base + way)};
        }
        *used = tree ? fm_plru_tree_use(*used, ways, way) : fm_plru_bits_use(*used, all, way);
    }
    return misses;
}

static unsigned pass_tree(const struct fm_tags *tags, const struct fm_batch *batch, unsigned count,
                          struct fm_missed *missed)
{
    switch (tags->ways) {
    case 4:
        return pass_plru(tags, true, 4, 4, batch, count, missed);
    case 8:
        return pass_plru(tags, true, 8, 8, batch, count, missed);
    case 16:
        return pass_plru(tags, true, 16, 16, batch, count, missed);
    default:
        return pass_plru(tags, true, tags->ways, tags->stride, batch, count, missed);
    }
}

/* A batch at a longer order, where a table tells the slot of each tag. */
static unsigned pass_numbered(const struct fm_tags *tags, const struct fm_batch *batch,
                              unsigned count, struct fm_missed *missed)
{
    const struct fm_tags is = *tags;
    unsigned misses = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t tag = batch->tags[i], base = batch->sets[i] * is.stride;
        uint64_t *state = is.state + (size_t)batch->sets[i] * is.words;
        const uint32_t noted = is.by_tag[tag];
        if (noted) {
            if (is.promotes)
                fm_order_renew(state, is.ways, noted - 1 - base);
            continue;
        }
        const uint32_t slot = base + fm_order_turn(state, is.ways);
        if (is.tag[slot] != FM_EMPTY)
            is.by_tag[is.tag[slot]] = 0;
        is.tag[slot] = tag;
        is.by_tag[tag] = slot + 1;
        missed[misses++] = (struct fm_missed){i, slot};
    }
    return misses;
}

static unsigned pass_any(struct fm_tags *tags, const struct fm_batch *batch, unsigned count,
                         struct fm_missed *missed)
{
    unsigned misses = 0;
    for (unsigned i = 0; i < count; i++) {
        const size_t slot = fm_tags_find(tags, batch->sets[i], batch->tags[i]);
        if (slot != FM_NO_SLOT) {
            fm_tags_hit(tags, batch->sets[i], slot);
            continue;
        }
        uint32_t old;
        missed[misses++] = (struct fm_missed){
            i, (uint32_t)fm_tags_replace(tags, batch->sets[i], batch->tags[i], &old)};
    }
    return misses;
}

unsigned fm_tags_pass(struct fm_tags *tags, const struct fm_batch *batch, unsigned count,
                      struct fm_missed *missed)
{
    if (tags->by_tag && tags->ordered)
        return pass_numbered(tags, batch, count, missed);
    if (tags->searched && tags->is_tree)
        return pass_tree(tags, batch, count, missed);
    if (tags->searched && tags->is_bits)
        return pass_plru(tags, false, tags->ways, tags->stride, batch, count, missed);
    if (!tags->packed)
        return pass_any(tags, batch, count, missed);
    switch (tags->stride) {
    case 4:
        return pass_packed(tags, 4, batch, count, missed);
    case 8:
        return pass_packed(tags, 8, batch, count, missed);
    case 16:
        return pass_packed(tags, 16, batch, count, missed);
    default:
        return pass_packed(tags, tags->stride, batch, count, missed);
    }
}

unsigned fm_tags_hits(struct fm_tags *tags, const struct fm_batch *batch, unsigned from,
                      unsigned count)
{
    struct fm_tags is = *tags;
    for (; from < count; from++) {
        const size_t slot = fm_tags_find(&is, batch->sets[from], batch->tags[from]);
        if (slot == FM_NO_SLOT)
            break;
        fm_tags_hit(&is, batch->sets[from], slot);
    }
    return from;
}
