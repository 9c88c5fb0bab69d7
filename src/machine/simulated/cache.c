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
    };
    if (!fm_tags_open(&cache->tags, description->capacity / description->line, description->ways,
                      description->replacement, seed, err))
        return false;
    const size_t slots = (size_t)cache->tags.sets * cache->tags.stride;
    cache->dirty = calloc(slots, sizeof *cache->dirty);
    cache->alias = calloc(slots, sizeof *cache->alias);
    if (cache->dirty && cache->alias)
        return true;
    fm_cache_close(cache);
    return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to simulate the cache %s", description->name);
}

void fm_cache_close(struct fm_cache *cache)
{
    fm_tags_close(&cache->tags);
    free(cache->dirty);
    free(cache->alias);
    *cache = (struct fm_cache){0};
}

unsigned fm_cache_pass(struct fm_cache *cache, struct fm_address *batch, unsigned count)
{
    uint32_t sets[FM_BATCH], tags[FM_BATCH];
    uint8_t missed[FM_BATCH];
    for (unsigned i = 0; i < count; i++) {
        sets[i] = fm_cache_set(cache, batch[i]);
        tags[i] = fm_cache_tag(cache, batch[i]);
    }
    const unsigned misses = fm_tags_pass(&cache->tags, sets, tags, count, missed);
    for (unsigned i = 0; i < misses; i++)
        batch[i] = batch[missed[i]];
    return misses;
}
