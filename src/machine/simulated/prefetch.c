#include "machine/simulated/prefetch.h"

#include <string.h>

#define CONFIRMATIONS 2u
#define AHEAD         2
#define REGION_MISSES 3u

void fm_prefetcher_open(struct fm_prefetcher *prefetcher, const struct fm_description *description,
                        struct fm_hierarchy *hierarchy)
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
    fm_prefetcher_forget(prefetcher);
}

void fm_prefetcher_forget(struct fm_prefetcher *prefetcher)
{
    for (unsigned i = 0; i < FM_STREAMS; i++)
        prefetcher->streams[i] = (struct fm_stream){.page = UINT64_MAX};
    for (unsigned i = 0; i < FM_REGIONS; i++)
        prefetcher->regions[i] = (struct fm_region){.page = UINT64_MAX};
}

/* Brings the line into the levels from `fill` on; whether it came from memory. */
static bool bring(struct fm_prefetcher *prefetcher, struct fm_address at, unsigned fill)
{
    struct fm_hierarchy *hierarchy = prefetcher->hierarchy;
    if (fm_cache_find(&hierarchy->caches[fill], at) != FM_NO_SLOT)
        return false;
    prefetcher->prefetched++;
    return fm_hierarchy_fetch(hierarchy, at, fill + 1, fill, false) == hierarchy->count;
}

static void bring_pair(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const uint32_t shift = prefetcher->hierarchy->caches[prefetcher->pair_level].shift;
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

static struct fm_stream *stream_of(struct fm_prefetcher *prefetcher, uint64_t page, uint64_t line)
{
    struct fm_stream *streams = prefetcher->streams;
    unsigned i = 0;
    while (i < FM_STREAMS - 1 && streams[i].page != page)
        i++;
    struct fm_stream stream = streams[i];
    if (stream.page != page)
        stream = (struct fm_stream){.page = page, .line = line};
    memmove(streams + 1, streams, i * sizeof *streams);
    streams[0] = stream;
    return streams;
}

static void follow_stride(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const uint32_t shift = prefetcher->hierarchy->caches[0].shift;
    const uint64_t line = at.virtual >> shift;
    struct fm_stream *stream = stream_of(prefetcher, at.virtual >> prefetcher->page_shift, line);
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

static struct fm_region *region_of(struct fm_prefetcher *prefetcher, uint64_t page)
{
    struct fm_region *regions = prefetcher->regions;
    unsigned i = 0;
    while (i < FM_REGIONS - 1 && regions[i].page != page)
        i++;
    struct fm_region region = regions[i];
    if (region.page != page)
        region = (struct fm_region){.page = page};
    memmove(regions + 1, regions, i * sizeof *regions);
    regions[0] = region;
    return regions;
}

static void bring_region(struct fm_prefetcher *prefetcher, struct fm_address at)
{
    const unsigned level = prefetcher->region_level;
    if (level == prefetcher->hierarchy->count)
        return;
    struct fm_region *region = region_of(prefetcher, at.virtual >> prefetcher->page_shift);
    if (region->misses == REGION_MISSES || ++region->misses < REGION_MISSES)
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
