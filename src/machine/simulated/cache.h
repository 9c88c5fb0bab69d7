/* One data-side cache of a simulated machine.
 *
 * Lines are tagged by physical address, also where the index is virtual, because every placement
 * uses the same virtual addresses again. A set is (address / line) modulo sets. With a hashed
 * index that set is moved on by a hash of the quotient, which is all the upper bits of the physical
 * address: lines at a fixed stride no longer meet in one set, but a run of as many lines as there
 * are sets, from a multiple of that on, still meets each set once, as it does with the XOR trees of
 * real processors.
 *
 * A line may be filled in parts (sub-blocks): it then has one tag, and a bit for each part that is
 * there. */
#ifndef FM_MACHINE_SIMULATED_CACHE_H
#define FM_MACHINE_SIMULATED_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "machine/simulated/tags.h"

/* One byte of the arena as the program and as the memory knows it. */
struct fm_address {
    uint64_t virtual, physical;
};

struct fm_cache {
    struct fm_tags tags;
    uint32_t shift; /* log2 of the line */
    double latency; /* cycles, load to use */
    enum fm_index index;
    bool inclusive;      /* what it evicts leaves the levels inside */
    bool exclusive;      /* filled by victims of the level inside alone */
    bool write_back;     /* otherwise writes pass through */
    bool write_allocate; /* a missed store brings the line in */
    bool fp_bypass;      /* loads of real numbers go past it */
    bool streamed;       /* … but just now it does not */
    bool in_parts;       /* a line is filled in parts */
    bool tied;           /* what it evicts matters to another level even when clean */
    bool named;          /* and must be known by its virtual address too */

    uint8_t *dirty;       /* by slot */
    uint64_t dirty_count; /* how many are, so that machines that only read pay nothing */
    uint32_t *alias;      /* by slot, virtual line; kept where named, and tied or dirty */

    double store_latency; /* cycles, of a write that ends here */
    uint32_t streaming;   /* whole lines stored in a row that make stores stream; 0: none do */
    uint32_t sector;      /* bytes that a demand miss brings, where more than a line; else 0 */
    uint32_t banks, bank_width; /* 0: any two loads go at once */
    uint32_t part_shift;        /* log2 of a part of a line */
    uint64_t *parts;            /* by slot: which parts are there; only where lines are in parts */
};

bool fm_cache_open(struct fm_cache *cache, const struct fm_cache_description *description,
                   uint64_t seed, struct fm_error *err);
void fm_cache_close(struct fm_cache *cache);

/* Finds the sets and tags of a batch of addresses, and when asked to fetches what will be searched
   for them: the tags of an outer level do not fit this computer's own inner caches. */
void fm_cache_aim(const struct fm_cache *cache, const struct fm_address *addresses, unsigned count,
                  struct fm_batch *batch, bool fetch);

/* Hits or replaces a batch, one after another. The addresses that were not there are moved to the
   front; returns how many. Only where no other level cares about what is replaced. */
unsigned fm_cache_pass(struct fm_cache *cache, struct fm_address *addresses, unsigned count);

static inline uint32_t fm_cache_tag(const struct fm_cache *cache, struct fm_address at)
{
    return (uint32_t)(at.physical >> cache->shift);
}

static inline uint32_t fm_cache_hash(uint32_t x)
{
    uint64_t hash = x * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return (uint32_t)(hash >> 32);
}

static inline uint32_t fm_cache_set(const struct fm_cache *cache, struct fm_address at)
{
    const struct fm_divisor by = cache->tags.by_sets;
    if (cache->index == FM_INDEX_VIRTUAL)
        return fm_remainder(by, (uint32_t)(at.virtual >> cache->shift));
    const uint32_t line = fm_cache_tag(cache, at);
    uint32_t set = fm_remainder(by, line);
    if (cache->index == FM_INDEX_HASHED) {
        set += (uint32_t)((uint64_t)fm_cache_hash(fm_quotient(by, line)) * by.number >> 32);
        set -= set >= by.number ? by.number : 0;
    }
    return set;
}

/* The slot that holds the address, or FM_NO_SLOT; changes nothing. */
static inline size_t fm_cache_find(const struct fm_cache *cache, struct fm_address at)
{
    return fm_tags_find(&cache->tags, fm_cache_set(cache, at), fm_cache_tag(cache, at));
}

/* The part of its line that an address lies in, as a bit. */
static inline uint64_t fm_cache_part(const struct fm_cache *cache, struct fm_address at)
{
    const uint32_t parts_shift = cache->shift - cache->part_shift;
    return (uint64_t)1 << (at.physical >> cache->part_shift & (((uint64_t)1 << parts_shift) - 1));
}

/* Whether the part of the line that the address lies in is there. */
static inline bool fm_cache_has(const struct fm_cache *cache, size_t slot, struct fm_address at)
{
    return FM_LIKELY(!cache->in_parts) || (cache->parts[slot] & fm_cache_part(cache, at));
}

static inline bool fm_cache_holds(const struct fm_cache *cache, struct fm_address at)
{
    const size_t slot = fm_cache_find(cache, at);
    return slot != FM_NO_SLOT && fm_cache_has(cache, slot, at);
}

/* The first byte of the line in a slot that held `tag`. The virtual half holds only for a tied or
   dirty line that is named. */
static inline struct fm_address fm_cache_line(const struct fm_cache *cache, size_t slot,
                                              uint32_t tag)
{
    const uint32_t alias = cache->named ? cache->alias[slot] : 0;
    return (struct fm_address){(uint64_t)alias << cache->shift, (uint64_t)tag << cache->shift};
}

static inline void fm_cache_name(struct fm_cache *cache, size_t slot, struct fm_address at)
{
    if (cache->named)
        cache->alias[slot] = (uint32_t)(at.virtual >> cache->shift);
}

static inline void fm_cache_soil(struct fm_cache *cache, size_t slot, struct fm_address at)
{
    cache->dirty_count += !cache->dirty[slot];
    cache->dirty[slot] = 1;
    fm_cache_name(cache, slot, at);
}

/* Makes a slot clean; says whether it was dirty. */
static inline bool fm_cache_clean(struct fm_cache *cache, size_t slot)
{
    const bool was = cache->dirty_count && cache->dirty[slot];
    if (was) {
        cache->dirty[slot] = 0;
        cache->dirty_count--;
    }
    return was;
}

#endif
