#include "machine/simulated/hierarchy.h"

/* The lines that a batch may make a level give up, and which reference does it. */
struct victims {
    struct fm_address lines[FM_BATCH];
    unsigned causes[FM_BATCH];
    unsigned count;
};

/* While each reference comes to a set of its own, the oldest line there is the only one that can
   go, and no other reference wants it, since that would come to this set too. None goes where the
   set holds what is wanted. Returns how many references that is. */
static unsigned find_victims(struct fm_cache *cache, const struct fm_address *addresses,
                             unsigned count, struct victims *victims)
{
    struct fm_tags *tags = &cache->tags;
    struct fm_batch batch;
    fm_cache_aim(cache, addresses, count, &batch, true);
    victims->count = 0;
    fm_tags_begin_visits(tags);
    for (unsigned i = 0; i < count; i++) {
        const size_t set = batch.sets[i];
        if (!fm_tags_visit(tags, batch.sets[i]))
            return i;
        if (fm_tags_find(tags, batch.sets[i], batch.tags[i]) != FM_NO_SLOT)
            continue;
        const uint32_t way = fm_order_oldest(tags->state + set * tags->words, tags->ways);
        const size_t slot = set * tags->stride + way;
        victims->causes[victims->count] = i;
        victims->lines[victims->count] = fm_cache_line(cache, slot, tags->tag[slot]);
        victims->count += tags->tag[slot] != FM_EMPTY;
    }
    return count;
}

/* The first reference that would make the level give up a line that an inner cache holds, wholly
   or in part; `count` if none would. */
static unsigned first_held(const struct fm_cache *outer, const struct fm_cache *inner,
                           struct victims *victims, unsigned count)
{
    const uint64_t part = (uint64_t)1 << inner->shift;
    struct fm_batch batch;
    for (uint64_t at = 0; at >> outer->shift == 0; at += part) {
        fm_cache_aim(inner, victims->lines, victims->count, &batch, false);
        for (unsigned i = 0; i < victims->count && victims->causes[i] < count; i++)
            if (fm_tags_find(&inner->tags, batch.sets[i], batch.tags[i]) != FM_NO_SLOT)
                count = victims->causes[i];
        for (unsigned i = 0; i < victims->count; i++) {
            victims->lines[i].virtual += part;
            victims->lines[i].physical += part;
        }
    }
    for (unsigned i = 0; i < victims->count; i++) {
        victims->lines[i].virtual -= (uint64_t)1 << outer->shift;
        victims->lines[i].physical -= (uint64_t)1 << outer->shift;
    }
    return count;
}

static unsigned independent_of(const struct fm_hierarchy *hierarchy, struct fm_cache *cache,
                               const struct fm_address *addresses, unsigned count)
{
    struct victims victims;
    if (!cache->tags.ordered)
        return 0;
    count = find_victims(cache, addresses, count, &victims);
    for (const struct fm_cache *inner = hierarchy->caches; inner < cache; inner++)
        count = first_held(cache, inner, &victims, count);
    for (unsigned i = 0; i < hierarchy->code_count && hierarchy->has_code; i++)
        count = first_held(cache, &hierarchy->code[i], &victims, count);
    return count;
}

unsigned fm_hierarchy_independent(struct fm_hierarchy *hierarchy,
                                  const struct fm_address *addresses, unsigned count)
{
    for (unsigned i = 1; i < hierarchy->count; i++)
        if (hierarchy->caches[i].inclusive)
            count = independent_of(hierarchy, &hierarchy->caches[i], addresses, count);
    return count;
}
