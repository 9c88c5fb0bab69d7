#include "machine/simulated/cache.h"

#include <stdlib.h>

bool fm_cache_open(struct fm_cache *cache, const struct fm_cache_description *description,
                   uint64_t seed, struct fm_error *err)
{
    *cache = (struct fm_cache){
        .shift = (uint32_t)__builtin_ctz(description->line),
        .latency = description->latency,
        .index = description->index,
        .inclusive = description->inclusion == FM_INCLUSION_INCLUSIVE,
        .exclusive = description->inclusion == FM_INCLUSION_EXCLUSIVE,
        .write_back = description->write_policy == FM_WRITE_BACK,
        .write_allocate = description->write_allocate,
        .streaming = description->streaming_stores,
        .fp_bypass = description->fp_bypass,
        .banks = description->banks,
        .bank_width = fm_bank_width(description),
        .sector = description->sector > description->line ? description->sector : 0,
    };
    cache->store_latency =
        description->store_latency > 0 ? description->store_latency : description->latency;
    cache->in_parts = description->sector && description->sector < description->line;
    cache->part_shift =
        cache->in_parts ? (uint32_t)__builtin_ctz(description->sector) : cache->shift;
    if (!fm_tags_open(&cache->tags, description->capacity / description->line, description->ways,
                      description->replacement, seed, err))
        return false;
    const size_t slots = (size_t)cache->tags.sets * cache->tags.stride;
    cache->dirty = calloc(slots, sizeof *cache->dirty);
    cache->alias = calloc(slots, sizeof *cache->alias);
    if (cache->in_parts)
        cache->parts = calloc(slots, sizeof *cache->parts);
    if (cache->dirty && cache->alias && (cache->parts || !cache->in_parts))
        return true;
    fm_cache_close(cache);
    return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to simulate the cache %s", description->name);
}

void fm_cache_close(struct fm_cache *cache)
{
    fm_tags_close(&cache->tags);
    free(cache->dirty);
    free(cache->alias);
    free(cache->parts);
    *cache = (struct fm_cache){0};
}

/* Compiled once for each kind of index, known or not as a power of two. */
static inline __attribute__((always_inline)) void find_sets(struct fm_cache is, enum fm_index index,
                                                            bool power,
                                                            const struct fm_address *addresses,
                                                            unsigned count, struct fm_batch *batch)
{
    is.index = index;
    is.tags.by_sets.magic = power ? 0 : is.tags.by_sets.magic;
    for (unsigned i = 0; i < count; i++) {
        batch->sets[i] = fm_cache_set(&is, addresses[i]);
        batch->tags[i] = fm_cache_tag(&is, addresses[i]);
    }
}

/* Bytes that this computer fetches at once. */
#define FETCHED 64

void fm_cache_aim(const struct fm_cache *cache, const struct fm_address *addresses, unsigned count,
                  struct fm_batch *batch, bool fetch)
{
    const struct fm_cache is = *cache; /* in registers: no store can change it */
    const bool power = is.tags.by_sets.magic == 0;
    if (power && is.index == FM_INDEX_VIRTUAL)
        find_sets(is, FM_INDEX_VIRTUAL, true, addresses, count, batch);
    else if (power && is.index == FM_INDEX_PHYSICAL)
        find_sets(is, FM_INDEX_PHYSICAL, true, addresses, count, batch);
    else
        find_sets(is, is.index, false, addresses, count, batch);
    if (!fetch || (size_t)is.tags.sets * is.tags.stride <= FM_LARGE)
        return;
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t way = 0; way < is.tags.stride; way += FETCHED / sizeof *is.tags.tag)
            __builtin_prefetch(is.tags.tag + (size_t)batch->sets[i] * is.tags.stride + way);
        __builtin_prefetch(is.tags.state + (size_t)batch->sets[i] * is.tags.words);
    }
    if (!is.tied || !is.named)
        return;
    for (unsigned i = 0; i < count; i++)
        __builtin_prefetch(is.alias + (size_t)batch->sets[i] * is.tags.stride);
}

unsigned fm_cache_pass(struct fm_cache *cache, struct fm_address *addresses, unsigned count)
{
    struct fm_batch batch;
    struct fm_missed missed[FM_BATCH];
    fm_cache_aim(cache, addresses, count, &batch, true);
    const unsigned misses = fm_tags_pass(&cache->tags, &batch, count, missed);
    for (unsigned i = 0; i < misses; i++)
        addresses[i] = addresses[missed[i].number];
    if (cache->tied && cache->named)
        for (unsigned i = 0; i < misses; i++)
            fm_cache_name(cache, missed[i].slot, addresses[i]);
    return misses;
}
