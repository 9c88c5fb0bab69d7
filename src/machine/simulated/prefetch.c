#include "machine/simulated/prefetch.h"

#define CONFIRMATIONS 2u
#define AHEAD         2
#define REGION_MISSES 3u

bool fm_prefetcher_open(struct fm_prefetcher *prefetcher, const struct fm_description *description,
                        struct fm_hierarchy *hierarchy, struct fm_error *err)
{
    *prefetcher = (struct fm_prefetcher){
        .hierarchy = hierarchy,
        .kinds = description->prefetch,
        .page_shift = (uint32_t)__builtin_ctzll(description->page_size),
        .region_level = hierarchy->count,
    };
    for (unsigned i = hierarchy->count; i-- > 1;)
        if (!hierarchy->caches[i].exclusive)
            prefetcher->region_level = i;
    for (unsigned i = 0; i < hierarchy->count; i++)
        if (!hierarchy->caches[i].exclusive)
            prefetcher->pair_level = i;
    return fm_tags_open(&prefetcher->stream_pages, FM_STREAMS, FM_STREAMS, FM_REPLACE_LRU, 0,
                        err) &&
           fm_tags_open(&prefetcher->region_pages, FM_REGIONS, FM_REGIONS, FM_REPLACE_LRU, 0, err);
}

void fm_prefetcher_close(struct fm_prefetcher *prefetcher)
{
    fm_tags_close(&prefetcher->stream_pages);
    fm_tags_close(&prefetcher->region_pages);
}

void fm_prefetcher_forget(struct fm_prefetcher *prefetcher)
{
    fm_tags_clear(&prefetcher->stream_pages);
    fm_tags_clear(&prefetcher->region_pages);
}

/* The page's slot in a table of pages, where it is now the one used last; *new if it was not
   there. */
static size_t page_slot(const struct fm_prefetcher *prefetcher, struct fm_tags *pages,
                        struct fm_address at, bool *new)
{
    const uint32_t page = (uint32_t)(at.virtual >> prefetcher->page_shift);
    const size_t slot = fm_tags_find(pages, 0, page);
    uint32_t old;
    *new = slot == FM_NO_SLOT;
    if (*new)
        return fm_tags_replace(pages, 0, page, &old);
    fm_tags_hit(pages, 0, slot);
    return slot;
}

/* Brings the line into the levels from `fill` on; whether it came from memory. */
static bool bring(struct fm_prefetcher *prefetcher, struct fm_address at, unsigned fill)
{
    struct fm_hierarchy *hierarchy = prefetcher->hierarchy;
    if (fm_cache_holds(&hierarchy->caches[fill], at))
        return false;
    uint32_t sets[FM_CACHE_LEVELS];
    for (unsigned level = fill; level < hierarchy->count; level++)
        sets[level] = fm_cache_set(&hierarchy->caches[level], at);
    prefetcher->prefetched++;
    return fm_hierarchy_fetch(hierarchy, at, sets, fill + 1, fill, false) == hierarchy->count;
}

static uint32_t pair_shift(const struct fm_prefetcher *prefetcher)
{
    return prefetcher->hierarchy->caches[prefetcher->pair_level].shift;
}

bool fm_prefetcher_pairs(const struct fm_prefetcher *prefetcher)
{
    return prefetcher->kinds == FM_PREFETCH_ADJACENT_LINE &&
           pair_shift(prefetcher) < prefetcher->page_shift;
}

static void bring_pair(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const uint32_t shift = pair_shift(prefetcher);
    if (!(prefetcher->kinds & FM_PREFETCH_ADJACENT_LINE) || shift >= prefetcher->page_shift)
        return;
    const uint64_t other = (uint64_t)1 << shift;
    bring(prefetcher, (struct fm_address){at.virtual ^ other, at.physical ^ other},
          prefetcher->pair_level);
}

/* Brings the line so many bytes away, if it is in the same page. */
static void bring_near(struct fm_prefetcher *prefetcher, struct fm_address at, int64_t distance,
                       unsigned fill)
{
    const struct fm_address near = {at.virtual + (uint64_t)distance,
                                    at.physical + (uint64_t)distance};
    if (near.virtual >> prefetcher->page_shift != at.virtual >> prefetcher->page_shift)
        return;
    if (bring(prefetcher, near, fill))
        bring_pair(prefetcher, near);
}

static void follow_stride(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const uint32_t shift = prefetcher->hierarchy->caches[0].shift;
    const uint64_t line = at.virtual >> shift;
    bool new;
    struct fm_stream *stream =
        &prefetcher->streams[page_slot(prefetcher, &prefetcher->stream_pages, at, &new)];
    if (new)
        *stream = (struct fm_stream){.line = line};
    if (stream->line == line)
        return;
    const int64_t step = (int64_t)(line - stream->line);
    stream->line = line;
    if (step != stream->step) {
        stream->step = step;
        stream->confirmed = 0;
        return;
    }
    if (stream->confirmed < CONFIRMATIONS)
        stream->confirmed++;
    if (stream->confirmed < CONFIRMATIONS)
        return;
    for (int i = 1; i <= AHEAD; i++)
        bring_near(prefetcher, at, i * step * ((int64_t)1 << shift), 0);
}

static void bring_region(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const unsigned level = prefetcher->region_level;
    if (level == prefetcher->hierarchy->count)
        return;
    bool new;
    unsigned *misses =
        &prefetcher->region_misses[page_slot(prefetcher, &prefetcher->region_pages, at, &new)];
    if (new)
        *misses = 0;
    if (*misses == REGION_MISSES || ++*misses < REGION_MISSES)
        return;
    const int64_t line = (int64_t)1 << prefetcher->hierarchy->caches[level].shift;
    const int64_t page = (int64_t)1 << prefetcher->page_shift;
    const int64_t first = -(int64_t)(at.virtual & (uint64_t)(page - 1));
    for (int64_t distance = first; distance < first + page; distance += line)
        bring_near(prefetcher, at, distance, level);
}

void fm_prefetcher_see(struct fm_prefetcher *prefetcher, struct fm_address at, unsigned served)
{
    const int64_t line = (int64_t)1 << prefetcher->hierarchy->caches[0].shift;
    if (served == prefetcher->hierarchy->count)
        bring_pair(prefetcher, at);
    if (served > 0 && prefetcher->kinds & FM_PREFETCH_NEXT_LINE)
        bring_near(prefetcher, at, line, 0);
    if (prefetcher->kinds & FM_PREFETCH_STRIDE)
        follow_stride(prefetcher, at);
    if (served > 0 && prefetcher->kinds & FM_PREFETCH_REGION)
        bring_region(prefetcher, at);
}
