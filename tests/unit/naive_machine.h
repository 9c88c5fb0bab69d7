/* The simulated machine once more, as plainly as it can be written: every rule from the headers in
   src/machine/simulated/, lists that are searched from end to end, nothing remembered for speed.
   It is what the fast simulator is compared with. */
#ifndef FM_TESTS_NAIVE_MACHINE_H
#define FM_TESTS_NAIVE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/description.h"
#include "core/rng.h"

struct naive_line {
    bool valid, dirty, used;
    uint64_t virtual, physical; /* line numbers; of a TLB: the page */
    uint64_t stamp;             /* last use (LRU) or coming in (FIFO) */
    unsigned prediction;
    uint64_t parts; /* by number, of a line that is filled in parts */
};

struct naive_cache {
    const struct fm_cache_description *is;
    bool exclusive;
    uint64_t sets;
    struct naive_line *lines; /* sets x ways */
    bool *tree;               /* sets x ways: node n of a set's tree points right */
    struct fm_rng rng;
};

struct naive_tlb {
    const struct fm_tlb_description *is;
    uint64_t sets;
    struct naive_line *lines;
};

struct naive_page {
    uint64_t page, stamp, line;
    int64_t step;
    unsigned seen;
};

struct naive {
    const struct fm_description *is;
    struct naive_cache caches[FM_CACHE_LEVELS];
    unsigned cache_count;
    struct naive_tlb tlbs[FM_DESCRIBED_TLBS];
    unsigned tlb_count;
    uint64_t page_size; /* in use */
    const uint32_t *frames;
    struct naive_page streams[16], regions[32];
    uint64_t time;
    uint64_t run_from, run_to; /* bytes stored without a gap */
    double cycles;             /* those of the caches and memory */
    double waited;             /* of them for the line of the last reference */
    struct fm_counts counts;
};

struct naive_at {
    uint64_t virtual, physical;
};

/* --- building --- */

static void naive_open(struct naive *naive, const struct fm_description *is)
{
    *naive = (struct naive){.is = is};
    for (unsigned level = 1; level <= FM_CACHE_LEVELS; level++)
        for (size_t i = 0; i < is->cache_count; i++) {
            const struct fm_cache_description *cache = &is->caches[i];
            if (cache->level != level || cache->holds == FM_HOLDS_INSTRUCTIONS)
                continue;
            struct naive_cache *made = &naive->caches[naive->cache_count++];
            made->is = cache;
            made->exclusive = level > 1 && cache->inclusion == FM_INCLUSION_EXCLUSIVE;
            made->sets = cache->capacity / cache->line / cache->ways;
            made->lines = calloc(made->sets * cache->ways, sizeof *made->lines);
            made->tree = calloc(made->sets * cache->ways, sizeof *made->tree);
        }
}

static void naive_close(struct naive *naive)
{
    for (unsigned i = 0; i < naive->cache_count; i++) {
        free(naive->caches[i].lines);
        free(naive->caches[i].tree);
    }
    for (unsigned i = 0; i < naive->tlb_count; i++)
        free(naive->tlbs[i].lines);
}

static bool naive_lists(const struct fm_tlb_description *tlb, uint64_t page_size)
{
    for (size_t i = 0; i < tlb->page_size_count; i++)
        if (tlb->page_sizes[i] == page_size)
            return true;
    return false;
}

static void naive_place(struct naive *naive, const uint32_t *frames, uint64_t page_size)
{
    naive->frames = frames;
    naive->page_size = page_size;
    for (unsigned i = 0; i < naive->tlb_count; i++)
        free(naive->tlbs[i].lines);
    naive->tlb_count = 0;
    for (unsigned level = 1; level <= FM_TLB_LEVELS; level++)
        for (size_t i = 0; i < naive->is->tlb_count; i++) {
            const struct fm_tlb_description *tlb = &naive->is->tlbs[i];
            if (tlb->level != level || tlb->holds == FM_HOLDS_INSTRUCTIONS ||
                !naive_lists(tlb, page_size))
                continue;
            struct naive_tlb *made = &naive->tlbs[naive->tlb_count++];
            made->is = tlb;
            made->sets = tlb->entries / tlb->ways;
            made->lines = calloc(tlb->entries, sizeof *made->lines);
        }
    for (int i = 0; i < 16; i++)
        naive->streams[i] = (struct naive_page){.page = UINT64_MAX};
    for (int i = 0; i < 32; i++)
        naive->regions[i] = (struct naive_page){.page = UINT64_MAX};
}

/* --- one cache --- */

static uint64_t naive_set(const struct naive_cache *cache, struct naive_at at)
{
    const uint64_t address = cache->is->index == FM_INDEX_VIRTUAL ? at.virtual : at.physical;
    const uint64_t line = address / cache->is->line;
    if (cache->is->index != FM_INDEX_HASHED)
        return line % cache->sets;
    const uint64_t mixed = line / cache->sets * 0x9e3779b97f4a7c15u;
    const uint64_t hash = ((mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93u) >> 32;
    return (line % cache->sets + ((hash * cache->sets) >> 32)) % cache->sets;
}

static struct naive_line *naive_find(const struct naive_cache *cache, struct naive_at at)
{
    struct naive_line *set = cache->lines + naive_set(cache, at) * cache->is->ways;
    for (uint32_t way = 0; way < cache->is->ways; way++)
        if (set[way].valid && set[way].physical == at.physical / cache->is->line)
            return &set[way];
    return NULL;
}

static uint64_t naive_part(const struct naive_cache *cache, struct naive_at at)
{
    return at.physical % cache->is->line / cache->is->sector;
}

static bool naive_in_parts(const struct naive_cache *cache)
{
    return cache->is->sector && cache->is->sector < cache->is->line;
}

/* The line, if what the address asks for of it is there. */
static struct naive_line *naive_hold(const struct naive_cache *cache, struct naive_at at)
{
    struct naive_line *line = naive_find(cache, at);
    if (line && naive_in_parts(cache) && !(line->parts >> naive_part(cache, at) & 1))
        return NULL;
    return line;
}

/* The tree over the ways low..high-1, its root being node: point away from way. */
static void naive_point_away(bool *tree, uint32_t node, uint32_t low, uint32_t high, uint32_t way)
{
    if (high - low == 1)
        return;
    const uint32_t middle = (low + high) / 2;
    tree[node] = way < middle;
    if (way < middle)
        naive_point_away(tree, 2 * node, low, middle, way);
    else
        naive_point_away(tree, 2 * node + 1, middle, high, way);
}

static uint32_t naive_pointed_at(const bool *tree, uint32_t node, uint32_t low, uint32_t high)
{
    if (high - low == 1)
        return low;
    const uint32_t middle = (low + high) / 2;
    return tree[node] ? naive_pointed_at(tree, 2 * node + 1, middle, high)
                      : naive_pointed_at(tree, 2 * node, low, middle);
}

static void naive_mark_used(struct naive_line *set, uint32_t ways, uint32_t way)
{
    set[way].used = true;
    for (uint32_t i = 0; i < ways; i++)
        if (!set[i].used)
            return;
    for (uint32_t i = 0; i < ways; i++)
        set[i].used = i == way;
}

static void naive_used(struct naive *naive, struct naive_cache *cache, struct naive_line *line,
                       bool new)
{
    const uint32_t ways = cache->is->ways;
    const size_t slot = (size_t)(line - cache->lines), set = slot / ways;
    const uint32_t way = (uint32_t)(slot % ways);
    if (new || cache->is->replacement == FM_REPLACE_LRU)
        line->stamp = ++naive->time;
    line->prediction = new && cache->is->replacement == FM_REPLACE_SRRIP ? 2 : 0;
    if (cache->is->replacement == FM_REPLACE_TREE_PLRU)
        naive_point_away(cache->tree + set * ways, 1, 0, ways, way);
    naive_mark_used(cache->lines + set * ways, ways, way);
}

static uint32_t naive_oldest(const struct naive_line *set, uint32_t ways)
{
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < ways; way++)
        if (set[way].stamp < set[oldest].stamp)
            oldest = way;
    return oldest;
}

static uint32_t naive_distant(struct naive_line *set, uint32_t ways)
{
    for (;;) {
        for (uint32_t way = 0; way < ways; way++)
            if (set[way].prediction == 3)
                return way;
        for (uint32_t way = 0; way < ways; way++)
            set[way].prediction++;
    }
}

static uint32_t naive_victim(struct naive_cache *cache, uint64_t number)
{
    const uint32_t ways = cache->is->ways;
    struct naive_line *set = cache->lines + number * ways;
    for (uint32_t way = 0; way < ways; way++)
        if (!set[way].valid)
            return way;
    switch (cache->is->replacement) {
    case FM_REPLACE_TREE_PLRU:
        return naive_pointed_at(cache->tree + number * ways, 1, 0, ways);
    case FM_REPLACE_BIT_PLRU:
        for (uint32_t way = 0; way < ways; way++)
            if (!set[way].used)
                return way;
        return 0;
    case FM_REPLACE_RANDOM:
        return (uint32_t)fm_rng_below(&cache->rng, ways);
    case FM_REPLACE_SRRIP:
    case FM_REPLACE_NRU:
        return naive_distant(set, ways);
    default:
        break;
    }
    return naive_oldest(set, ways);
}

static void naive_remove(struct naive_line *line)
{
    line->valid = line->dirty = line->used = false;
}

/* --- between the caches --- */

/* Writes from `level` on; free of cost if it ends at that level and `arrived` there anyway. */
static void naive_write(struct naive *naive, unsigned level, struct naive_at at, bool arrived)
{
    for (unsigned i = level; i < naive->cache_count; i++) {
        const struct fm_cache_description *is = naive->caches[i].is;
        struct naive_line *line = naive_hold(&naive->caches[i], at);
        if (line && is->write_policy == FM_WRITE_BACK) {
            line->dirty = true;
            if (i > level || !arrived)
                naive->cycles += is->store_latency > 0 ? is->store_latency : is->latency;
            return;
        }
    }
    naive->cycles += naive->is->memory_latency;
}

static void naive_expel(struct naive *naive, unsigned level, struct naive_at line, bool *dirty)
{
    for (unsigned i = 0; i < level; i++)
        for (uint64_t at = 0; at < naive->caches[level].is->line; at += naive->caches[i].is->line) {
            struct naive_line *inner = naive_find(
                &naive->caches[i], (struct naive_at){line.virtual + at, line.physical + at});
            if (!inner)
                continue;
            if (inner->dirty) {
                naive->counts.writebacks++;
                *dirty = true;
            }
            naive_remove(inner);
        }
}

static void naive_insert(struct naive *naive, unsigned level, struct naive_at at, bool dirty);

static void naive_leave(struct naive *naive, unsigned level, struct naive_line *line, bool evicted)
{
    struct naive_cache *cache = &naive->caches[level];
    const struct naive_at at = {line->virtual * cache->is->line, line->physical * cache->is->line};
    bool dirty = line->dirty;
    naive_remove(line);
    if (cache->is->inclusion == FM_INCLUSION_INCLUSIVE)
        naive_expel(naive, level, at, &dirty);
    naive->counts.writebacks += dirty;
    if (!evicted || level + 1 == naive->cache_count || !cache[1].exclusive) {
        if (dirty)
            naive_write(naive, level + 1, at, false);
        return;
    }
    struct naive_line *there = naive_find(&cache[1], at);
    if (!there) {
        naive_insert(naive, level + 1, at, dirty);
        return;
    }
    naive_used(naive, &cache[1], there, false);
    if (dirty)
        naive_write(naive, level + 1, at, true);
}

static void naive_insert(struct naive *naive, unsigned level, struct naive_at at, bool dirty)
{
    struct naive_cache *cache = &naive->caches[level];
    const uint64_t set = naive_set(cache, at);
    struct naive_line *there = naive_find(cache, at);
    if (there) {
        there->parts |= (uint64_t)1 << naive_part(cache, at);
        naive_used(naive, cache, there, false);
        return;
    }
    const uint32_t way = naive_victim(cache, set);
    struct naive_line *line = &cache->lines[set * cache->is->ways + way];
    if (line->valid)
        naive_leave(naive, level, line, true);
    *line = (struct naive_line){.valid = true,
                                .virtual = at.virtual / cache->is->line,
                                .physical = at.physical / cache->is->line};
    if (naive_in_parts(cache))
        line->parts = (uint64_t)1 << naive_part(cache, at);
    naive_used(naive, cache, line, true);
    if (dirty)
        naive_write(naive, level, at, true);
}

/* Whole lines of this cache that the stores before the one at `run_to - 1 word` have covered. */
static bool naive_streams(const struct naive *naive, const struct naive_cache *cache)
{
    const uint64_t size = cache->is->line;
    uint64_t whole = 0;
    for (uint64_t line = 0; (line + 1) * size <= naive->run_to - FM_WORD; line++)
        whole += line * size >= naive->run_from;
    return cache->is->streaming_stores && whole >= cache->is->streaming_stores;
}

static bool naive_takes(const struct naive *naive, const struct naive_cache *cache, bool store)
{
    return !cache->exclusive &&
           (!store || (cache->is->write_allocate && !naive_streams(naive, cache)));
}

/* Looks from level `first` on, fills from `first` on; returns the level that had it. */
static unsigned naive_fetch(struct naive *naive, struct naive_at at, unsigned first, bool store)
{
    unsigned served = first;
    struct naive_line *line = NULL;
    while (served < naive->cache_count && !(line = naive_hold(&naive->caches[served], at)))
        served++;
    if (line)
        naive_used(naive, &naive->caches[served], line, false);
    bool dirty = false;
    int taker = (int)served - 1;
    while (taker >= (int)first && !naive_takes(naive, &naive->caches[taker], store))
        taker--;
    if (line && naive->caches[served].exclusive && taker >= (int)first &&
        naive->caches[taker].is->line == naive->caches[served].is->line) {
        dirty = line->dirty;
        naive_remove(line);
        if (dirty && naive->caches[taker].is->write_policy == FM_WRITE_THROUGH) {
            naive->counts.writebacks++;
            naive_write(naive, served + 1, at, false);
            dirty = false;
        }
    }
    for (int i = (int)served - 1; i >= (int)first; i--)
        if (naive_takes(naive, &naive->caches[i], store)) {
            naive_insert(naive, (unsigned)i, at, dirty);
            dirty = false;
        }
    return served;
}

/* --- prefetchers --- */

static bool naive_bring(struct naive *naive, struct naive_at at, unsigned level)
{
    if (naive_hold(&naive->caches[level], at))
        return false;
    naive->counts.prefetches++;
    return naive_fetch(naive, at, level, false) == naive->cache_count;
}

static void naive_bring_pair(struct naive *naive, struct naive_at at)
{
    unsigned level = naive->cache_count - 1;
    while (naive->caches[level].exclusive)
        level--;
    const uint64_t line = naive->caches[level].is->line;
    if (!(naive->is->prefetch & FM_PREFETCH_ADJACENT_LINE) || line >= naive->is->page_size)
        return;
    const bool second = at.virtual / line % 2;
    naive_bring(naive,
                (struct naive_at){second ? at.virtual - line : at.virtual + line,
                                  second ? at.physical - line : at.physical + line},
                level);
}

static void naive_bring_near(struct naive *naive, struct naive_at at, int64_t distance,
                             unsigned level)
{
    const struct naive_at near = {at.virtual + (uint64_t)distance,
                                  at.physical + (uint64_t)distance};
    if (near.virtual / naive->is->page_size == at.virtual / naive->is->page_size &&
        naive_bring(naive, near, level))
        naive_bring_pair(naive, near);
}

static struct naive_page *naive_page_of(struct naive *naive, struct naive_page *pages, int count,
                                        uint64_t page, uint64_t line)
{
    struct naive_page *found = pages;
    for (int i = 0; i < count; i++)
        if (pages[i].stamp < found->stamp)
            found = &pages[i];
    for (int i = 0; i < count; i++)
        if (pages[i].page == page)
            found = &pages[i];
    if (found->page != page)
        *found = (struct naive_page){.page = page, .line = line};
    found->stamp = ++naive->time;
    return found;
}

static void naive_stride(struct naive *naive, struct naive_at at)
{
    const int64_t size = naive->caches[0].is->line;
    const uint64_t line = at.virtual / (uint64_t)size;
    struct naive_page *stream =
        naive_page_of(naive, naive->streams, 16, at.virtual / naive->is->page_size, line);
    const int64_t step = (int64_t)line - (int64_t)stream->line;
    if (step == 0)
        return;
    stream->seen = step == stream->step ? stream->seen + 1 : 1;
    stream->step = step;
    stream->line = line;
    if (stream->seen < 3)
        return;
    naive_bring_near(naive, at, step * size, 0);
    naive_bring_near(naive, at, 2 * step * size, 0);
}

static void naive_region(struct naive *naive, struct naive_at at)
{
    unsigned level = 1;
    while (level < naive->cache_count && naive->caches[level].exclusive)
        level++;
    if (level >= naive->cache_count)
        return;
    const int64_t page_size = (int64_t)naive->is->page_size;
    struct naive_page *region =
        naive_page_of(naive, naive->regions, 32, at.virtual / (uint64_t)page_size, 0);
    if (++region->seen != 3)
        return;
    const int64_t within = (int64_t)(at.virtual % (uint64_t)page_size);
    for (int64_t i = 0; i < page_size; i += naive->caches[level].is->line)
        naive_bring_near(naive, at, i - within, level);
}

/* --- references --- */

static void naive_translate(struct naive *naive, uint64_t page)
{
    unsigned served = 0;
    for (; served < naive->tlb_count; served++) {
        const struct naive_tlb *tlb = &naive->tlbs[served];
        struct naive_line *set = tlb->lines + page % tlb->sets * tlb->is->ways;
        struct naive_line *found = NULL;
        for (uint32_t way = 0; way < tlb->is->ways; way++)
            if (set[way].valid && set[way].virtual == page)
                found = &set[way];
        if (found) {
            found->stamp = ++naive->time;
            break;
        }
        set[naive_oldest(set, tlb->is->ways)] =
            (struct naive_line){.valid = true, .virtual = page, .stamp = ++naive->time};
    }
    if (naive->tlb_count == 0)
        return;
    const bool walk = served == naive->tlb_count;
    const unsigned last = naive->tlbs[naive->tlb_count - 1].is->level;
    for (unsigned level = 1; level <= last; level++)
        naive->counts.tlb_miss[level - 1] += walk || level < naive->tlbs[served].is->level;
    naive->counts.walks += walk;
}

/* The rest of the sectors of a demanded line, from the outermost level that missed it inward. */
static void naive_sectors(struct naive *naive, struct naive_at at, unsigned served, unsigned first,
                          bool store)
{
    for (int level = (int)served - 1; level >= (int)first; level--) {
        const struct naive_cache *cache = &naive->caches[level];
        const uint64_t line = cache->is->line, sector = cache->is->sector;
        if (sector <= line || !naive_takes(naive, cache, store))
            continue;
        for (uint64_t i = 0; i < sector; i += line) {
            const uint64_t begin = at.physical / sector * sector + i;
            const struct naive_at other = {at.virtual - at.physical + begin, begin};
            if (begin / line != at.physical / line && !naive_find(cache, other))
                naive_fetch(naive, other, (unsigned)level, false);
        }
    }
}

static void naive_refer(struct naive *naive, uint64_t address, enum fm_op op)
{
    const uint64_t page = address / naive->page_size;
    const struct naive_at at = {address, naive->frames[page] * naive->page_size +
                                             address % naive->page_size};
    naive->counts.references++;
    naive_translate(naive, page);
    if (op == FM_OP_FLUSH) {
        naive->cycles += naive->caches[0].is->latency;
        for (unsigned i = 0; i < naive->cache_count; i++) {
            struct naive_line *line = naive_find(&naive->caches[i], at);
            if (line)
                naive_leave(naive, i, line, false);
        }
        return;
    }
    if (op == FM_OP_STORE) {
        if (address != naive->run_to)
            naive->run_from = address;
        naive->run_to = address + FM_WORD;
    }
    const unsigned first = op == FM_OP_LOAD_REAL && naive->caches[0].is->fp_bypass;
    const unsigned served = naive_fetch(naive, at, first, op == FM_OP_STORE);
    bool waits = op != FM_OP_STORE;
    for (unsigned i = first; i < served; i++) {
        naive->counts.cache_miss[i]++;
        waits |= naive_takes(naive, &naive->caches[i], op == FM_OP_STORE);
    }
    naive->waited = !waits                        ? 0
                    : served < naive->cache_count ? naive->caches[served].is->latency
                                                  : naive->is->memory_latency;
    naive->cycles += naive->waited;
    naive_sectors(naive, at, served, first, op == FM_OP_STORE);
    if (op == FM_OP_STORE)
        naive_write(naive, 0, at, false);
    if (served == naive->cache_count)
        naive_bring_pair(naive, at);
    if (served > 0 && naive->is->prefetch & FM_PREFETCH_NEXT_LINE)
        naive_bring_near(naive, at, naive->caches[0].is->line, 0);
    if (naive->is->prefetch & FM_PREFETCH_STRIDE)
        naive_stride(naive, at);
    if (served > 0 && naive->is->prefetch & FM_PREFETCH_REGION)
        naive_region(naive, at);
}

#endif
