#include "machine/simulated/walk.h"

#include <string.h>

bool fm_walker_open(struct fm_walker *walker, const struct fm_description *description,
                    uint64_t seed, struct fm_error *err)
{
    const uint64_t page = description->page_size;
    *walker = (struct fm_walker){.base_page = page,
                                 .walk_latency = description->walk_latency,
                                 .memory_latency = description->memory_latency};
    if (!(description->clock_mhz > 0))
        return fm_fail(err, FM_ERR_USAGE, "%s: clock_mhz must be above 0", description->name);
    if (page == 0 || page & (page - 1))
        return fm_fail(err, FM_ERR_USAGE, "%s: page_size must be a power of two",
                       description->name);
    /* Streams of their own, so that switching noise on leaves the placements as they were. */
    if (!fm_hierarchy_open(&walker->hierarchy, description, fm_mix64(seed ^ 1), err) ||
        !fm_tlbs_open(&walker->tlbs, description, err))
        return false;
    fm_placement_open(&walker->placement, description, &walker->hierarchy, fm_mix64(seed ^ 2));
    fm_sim_clock_open(&walker->clock, description, fm_mix64(seed ^ 3));
    fm_prefetcher_open(&walker->prefetcher, description, &walker->hierarchy);
    return true;
}

void fm_walker_close(struct fm_walker *walker)
{
    fm_hierarchy_close(&walker->hierarchy);
    fm_tlbs_close(&walker->tlbs);
    fm_placement_close(&walker->placement);
}

/* A page is a power of two and at least a line, the largest of which is the outermost. */
static bool fits(const struct fm_hierarchy *hierarchy, uint64_t page)
{
    return (page & (page - 1)) == 0 && page >> hierarchy->caches[hierarchy->count - 1].shift;
}

bool fm_walker_place(struct fm_walker *walker, uint64_t bytes, uint64_t page_size,
                     struct fm_error *err)
{
    if (page_size != walker->base_page &&
        !(fm_tlbs_hold(&walker->tlbs, page_size) && fits(&walker->hierarchy, page_size)))
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "pages of %llu bytes: no TLB of the simulated machine holds them",
                       (unsigned long long)page_size);
    if (!fm_placement_draw(&walker->placement, bytes, (uint32_t)__builtin_ctzll(page_size), err))
        return false;
    fm_tlbs_prepare(&walker->tlbs, page_size);
    fm_prefetcher_forget(&walker->prefetcher);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline struct fm_address translate(struct fm_walker *walker, uint32_t word)
{
    const uint64_t at = (uint64_t)word * FM_WORD;
    fm_tlbs_translate(&walker->tlbs, (uint32_t)(at >> walker->placement.page_shift));
    return fm_placement_address(&walker->placement, at);
}

static void refer(struct fm_walker *walker, const uint32_t *words, uint64_t count, bool store)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    for (uint64_t i = 0; i < count; i++) {
        const struct fm_address at = translate(walker, words[i]);
        const unsigned served = fm_hierarchy_fetch(hierarchy, at, 0, 0, store);
        walker->served[served]++;
        if (store)
            fm_hierarchy_write(hierarchy, at);
        if (walker->prefetcher.kinds)
            fm_prefetcher_see(&walker->prefetcher, at, served);
    }
}

/* The pages of a batch of words, without those that repeat the one before. */
static unsigned pages_of(struct fm_walker *walker, const uint32_t *words, unsigned count,
                         uint32_t *pages)
{
    const uint32_t shift = walker->placement.page_shift;
    uint32_t last = walker->tlbs.last_page;
    unsigned changes = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t page = (uint32_t)((uint64_t)words[i] * FM_WORD >> shift);
        pages[changes] = page;
        changes += page != last;
        last = page;
    }
    walker->tlbs.last_page = last;
    return changes;
}

/* A batch of loads, on a plain hierarchy without prefetchers. Nothing that happens in one TLB or
   cache then matters to another, so each takes the whole batch at once and hands its misses on. */
static void load_batch(struct fm_walker *walker, const uint32_t *words, unsigned count)
{
    const struct fm_hierarchy *hierarchy = &walker->hierarchy;
    struct fm_address batch[FM_BATCH];
    uint32_t pages[FM_BATCH];
    if (walker->tlbs.used_count)
        fm_tlbs_pass(&walker->tlbs, pages, pages_of(walker, words, count, pages));
    for (unsigned i = 0; i < count; i++)
        batch[i] = fm_placement_address(&walker->placement, (uint64_t)words[i] * FM_WORD);
    for (unsigned level = 0; level < hierarchy->count && count > 0; level++) {
        const unsigned misses = fm_cache_pass(&walker->hierarchy.caches[level], batch, count);
        walker->served[level] += count - misses;
        count = misses;
    }
    walker->served[hierarchy->count] += count;
}

static void load(struct fm_walker *walker, const uint32_t *words, uint64_t count)
{
    if (!fm_hierarchy_is_plain(&walker->hierarchy) || walker->prefetcher.kinds) {
        refer(walker, words, count, false);
        return;
    }
    for (uint64_t now; count > 0; words += now, count -= now) {
        now = least(count, FM_BATCH);
        load_batch(walker, words, (unsigned)now);
    }
}

static void flush(struct fm_walker *walker, const uint32_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        fm_hierarchy_flush(&walker->hierarchy, translate(walker, words[i]));
    walker->served[0] += count;
}

static void run(struct fm_walker *walker, enum fm_op op, const uint32_t *words, uint64_t count)
{
    if (op == FM_OP_FLUSH)
        flush(walker, words, count);
    else if (op == FM_OP_STORE)
        refer(walker, words, count, true);
    else
        load(walker, words, count);
}

static void reset_counters(struct fm_walker *walker)
{
    memset(walker->served, 0, sizeof walker->served);
    memset(walker->tlbs.missed, 0, sizeof walker->tlbs.missed);
    walker->hierarchy.writebacks = 0;
    walker->prefetcher.prefetched = 0;
}

size_t fm_walk(struct fm_walker *walker, const struct fm_string *string,
               const struct fm_phase *phase, size_t from)
{
    const struct fm_order *order = &string->orders[phase->order];
    const size_t window = phase->window ? phase->window : order->count;
    struct fm_sim_clock *clock = &walker->clock;
    reset_counters(walker);
    for (uint64_t left = phase->references; left > 0;) {
        const uint64_t count = least(least(left, window - from), clock->until_pollution);
        run(walker, phase->op, order->word + from, count);
        left -= count;
        from = (from + count) % window;
        if (clock->until_pollution == UINT64_MAX)
            continue;
        clock->until_pollution -= count;
        if (clock->until_pollution == 0) {
            fm_hierarchy_pollute(&walker->hierarchy, &clock->rng);
            fm_sim_clock_draw_pollution(clock);
        }
    }
    return from;
}

double fm_walker_cycles(const struct fm_walker *walker, uint64_t references)
{
    const unsigned levels = walker->hierarchy.count;
    double sum = (double)walker->served[levels] * walker->memory_latency;
    for (unsigned i = 0; i < levels; i++)
        sum += (double)walker->served[i] * walker->hierarchy.caches[i].latency;
    return sum + fm_tlbs_cycles(&walker->tlbs, references, walker->walk_latency);
}

void fm_walker_count(const struct fm_walker *walker, uint64_t references, struct fm_counts *counts)
{
    *counts = (struct fm_counts){
        .references = references,
        .prefetches = walker->prefetcher.prefetched,
        .writebacks = walker->hierarchy.writebacks,
    };
    uint64_t missed = 0;
    for (unsigned i = walker->hierarchy.count; i > 0; i--) {
        missed += walker->served[i];
        counts->cache_miss[i - 1] = missed;
    }
    fm_tlbs_count(&walker->tlbs, references, counts);
}
