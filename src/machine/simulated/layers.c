#include "machine/simulated/hierarchy.h"

/* What a level is asked, one after another: a line that a load wants, or one that the level inside
   gives up and an exclusive level takes in. Level 1 sees loads alone; each of them asks a level
   further out for a line once at the most, and hands it one line at the most. */
struct asked {
    struct fm_address at[FM_BATCH];
    bool given[FM_BATCH]; /* handed over by the level inside */
    unsigned count;
};

bool fm_hierarchy_is_layered(const struct fm_hierarchy *hierarchy)
{
    bool dirty = false;
    for (unsigned i = 0; i < hierarchy->count; i++)
        dirty |= hierarchy->caches[i].dirty_count != 0;
    return !dirty && !hierarchy->sectored && !(hierarchy->exclusive && hierarchy->inclusive);
}

/* Whether a level gives away a line that it serves: the level inside that takes it has lines as
   long. */
static bool gives_away(const struct fm_hierarchy *hierarchy, unsigned level)
{
    const struct fm_cache *cache = &hierarchy->caches[level], *taker = cache;
    if (!cache->exclusive)
        return false;
    do
        taker--;
    while (taker->exclusive);
    return taker->shift == cache->shift;
}

static void ask(struct asked *next, struct fm_address at, bool given)
{
    next->at[next->count] = at;
    next->given[next->count++] = given;
}

/* A level answers in the order it is asked, and what it asks of the next is in that order too.
   Returns how many loads it served. `hands_on`: the next level is exclusive. */
static unsigned answer(struct fm_cache *cache, bool gives, bool hands_on, const struct asked *asked,
                       struct asked *next)
{
    struct fm_tags *tags = &cache->tags;
    struct fm_batch lines;
    unsigned served = 0;
    fm_cache_aim(cache, asked->at, asked->count, &lines, true);
    next->count = 0;
    for (unsigned i = 0; i < asked->count; i++) {
        const uint32_t set = lines.sets[i];
        const bool given = asked->given[i];
        const size_t slot = fm_tags_find(tags, set, lines.tags[i]);
        if (slot != FM_NO_SLOT) {
            served += !given;
            fm_tags_hit(tags, set, slot);
            if (gives && !given)
                fm_tags_drop(tags, slot);
            continue;
        }
        if (!given)
            ask(next, asked->at[i], false);
        if (cache->exclusive && !given)
            continue;
        uint32_t old;
        const size_t filled = fm_tags_replace(tags, set, lines.tags[i], &old);
        if (hands_on && old != FM_EMPTY)
            ask(next, fm_cache_line(cache, filled, old), true);
        if (cache->tied)
            fm_cache_name(cache, filled, asked->at[i]);
    }
    return served;
}

/* Where some level is exclusive. */
static void hand_on(struct fm_hierarchy *hierarchy, const struct fm_address *batch, unsigned count,
                    uint64_t *served)
{
    struct asked asked[2];
    asked[0].count = 0;
    for (unsigned i = 0; i < count; i++)
        ask(&asked[0], batch[i], false);
    for (unsigned level = 0; level < hierarchy->count; level++) {
        const bool hands_on =
            level + 1 < hierarchy->count && hierarchy->caches[level + 1].exclusive;
        const unsigned here = answer(&hierarchy->caches[level], gives_away(hierarchy, level),
                                     hands_on, &asked[level & 1], &asked[~level & 1]);
        served[level] += here;
        count -= here;
    }
    served[hierarchy->count] += count;
}

/* Where none is. */
static void pass_on(struct fm_hierarchy *hierarchy, struct fm_address *batch, unsigned count,
                    uint64_t *served)
{
    for (unsigned level = 0; level < hierarchy->count && count > 0; level++) {
        const unsigned misses = fm_cache_pass(&hierarchy->caches[level], batch, count);
        served[level] += count - misses;
        count = misses;
    }
    served[hierarchy->count] += count;
}

void fm_hierarchy_pass(struct fm_hierarchy *hierarchy, struct fm_address *batch, unsigned count,
                       uint64_t *served)
{
    if (!hierarchy->exclusive) {
        pass_on(hierarchy, batch, count, served);
        return;
    }
    for (unsigned done = 0; done < count; done += FM_BATCH / 2) {
        const unsigned some = count - done < FM_BATCH / 2 ? count - done : FM_BATCH / 2;
        hand_on(hierarchy, batch + done, some, served);
    }
}
