#include "machine/simulated/walk.h"

#include <string.h>

static inline struct fm_address translate(struct fm_walker *walker, uint32_t word)
{
    const uint64_t at = (uint64_t)word * FM_WORD;
    fm_tlbs_translate(&walker->tlbs, (uint32_t)(at >> walker->placement.page_shift));
    return fm_placement_address(&walker->placement, at);
}

/* Written once and compiled for each kind of phase, so that the common one, loads without
   prefetchers, carries none of the rest. */
static inline __attribute__((always_inline)) void
refer(struct fm_walker *walker, const uint32_t *words, uint64_t count, bool store, bool prefetch)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    for (uint64_t i = 0; i < count; i++) {
        const struct fm_address at = translate(walker, words[i]);
        unsigned served = 0;
        if (!fm_cache_use(&hierarchy->caches[0], at)) {
            served = fm_hierarchy_fetch(hierarchy, at, 1, 0, store);
            walker->served[served]++;
        }
        if (store)
            fm_hierarchy_write(hierarchy, at);
        if (prefetch)
            fm_prefetcher_see(&walker->prefetcher, at, served);
    }
}

static void flush(struct fm_walker *walker, const uint32_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        fm_hierarchy_flush(&walker->hierarchy, translate(walker, words[i]));
}

static void run(struct fm_walker *walker, enum fm_op op, const uint32_t *words, uint64_t count)
{
    const bool prefetch = walker->prefetcher.kinds != 0;
    if (op == FM_OP_FLUSH)
        flush(walker, words, count);
    else if (op == FM_OP_STORE)
        refer(walker, words, count, true, prefetch);
    else if (prefetch)
        refer(walker, words, count, false, true);
    else
        refer(walker, words, count, false, false);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
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
