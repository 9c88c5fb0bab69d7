#include "machine/simulated/hierarchy.h"

/* What a level is asked, one after another: a line that a load wants; one that the level inside
   brings beside what a load wanted; or one that it gives up and an exclusive level takes in. */
enum kind { WANTED, BESIDE, GIVEN };

struct asked {
    struct fm_address at[FM_BATCH];
    uint8_t kind[FM_BATCH];
    unsigned count;
};

/* Bytes that a load which this level lacks brings into it, where these are more than a line; 0: no
   more. Lines from memory come in pairs as those of a sector do. */
static uint32_t brings(const struct fm_hierarchy *hierarchy, unsigned level, bool pairs)
{
    const struct fm_cache *cache = &hierarchy->caches[level];
    return pairs && level + 1 == hierarchy->count ? 2u << cache->shift : cache->sector;
}

uint64_t fm_hierarchy_block(const struct fm_hierarchy *hierarchy, bool pairs)
{
    uint64_t most = 1;
    for (unsigned i = 0; i < hierarchy->count; i++)
        most = brings(hierarchy, i, pairs) > most ? brings(hierarchy, i, pairs) : most;
    return most;
}

static bool hands_on(const struct fm_hierarchy *hierarchy, unsigned level)
{
    return level + 1 < hierarchy->count && hierarchy->caches[level + 1].exclusive;
}

/* What a load may become at the most: with an exclusive level it asks each for a line once and
   hands it one; else each level asks for what it brings beside. */
static unsigned most_asked(const struct fm_hierarchy *hierarchy, bool pairs)
{
    unsigned most = hierarchy->exclusive ? 2 : 1;
    for (unsigned i = 0; i < hierarchy->count; i++) {
        const unsigned lines = brings(hierarchy, i, pairs) >> hierarchy->caches[i].shift;
        most += lines ? lines - 1 : 0;
    }
    return most;
}

bool fm_hierarchy_is_layered(const struct fm_hierarchy *hierarchy, bool pairs)
{
    bool in_parts = false;
    for (unsigned i = 0; i < hierarchy->count; i++)
        in_parts |= hierarchy->caches[i].in_parts;
    const unsigned kinds =
        hierarchy->exclusive + hierarchy->inclusive + hierarchy->sectored + pairs;
    return !fm_hierarchy_is_dirty(hierarchy) && !in_parts && kinds <= 1 &&
           most_asked(hierarchy, pairs) <= FM_BATCH;
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

static void ask(struct asked *next, struct fm_address at, enum kind kind)
{
    next->at[next->count] = at;
    next->kind[next->count++] = (uint8_t)kind;
}

/* Brings what else a load brings; returns how many lines. */
static unsigned bring_beside(struct fm_cache *cache, struct fm_address at, uint32_t bytes,
                             struct asked *next)
{
    const uint64_t within = at.physical & (bytes - 1);
    unsigned brought = 0;
    for (uint64_t i = 0; i < bytes; i += (uint64_t)1 << cache->shift) {
        const struct fm_address line = {at.virtual - within + i, at.physical - within + i};
        const uint32_t set = fm_cache_set(cache, line), tag = fm_cache_tag(cache, line);
        uint32_t old;
        if (i >> cache->shift == within >> cache->shift ||
            fm_tags_find(&cache->tags, set, tag) != FM_NO_SLOT)
            continue;
        ask(next, line, BESIDE);
        fm_tags_replace(&cache->tags, set, tag, &old);
        brought++;
    }
    return brought;
}

/* How a level answers, and what became of it. */
struct answering {
    bool gives;      /* what it serves leaves it */
    bool hands_on;   /* the next level is exclusive */
    uint32_t brings; /* bytes, where more than a line comes */
    unsigned served, brought;
};

/* A level answers in the order it is asked, and what it asks of the next is in that order too. */
static void answer(struct fm_cache *cache, struct answering *how, const struct asked *asked,
                   struct asked *next)
{
    const struct answering is = *how;
    struct fm_tags *tags = &cache->tags;
    struct fm_batch lines;
    unsigned served = 0, brought = 0;
    fm_cache_aim(cache, asked->at, asked->count, &lines, true);
    next->count = 0;
    for (unsigned i = 0; i < asked->count; i++) {
        const uint32_t set = lines.sets[i];
        const enum kind kind = asked->kind[i];
        const size_t slot = fm_tags_find(tags, set, lines.tags[i]);
        if (slot != FM_NO_SLOT) {
            served += kind == WANTED;
            fm_tags_hit(tags, set, slot);
            if (is.gives && kind != GIVEN)
                fm_tags_drop(tags, slot);
            continue;
        }
        if (kind != GIVEN)
            ask(next, asked->at[i], kind);
        if (cache->exclusive && kind != GIVEN)
            continue;
        uint32_t old;
        const size_t filled = fm_tags_replace(tags, set, lines.tags[i], &old);
        if (is.hands_on && old != FM_EMPTY)
            ask(next, fm_cache_line(cache, filled, old), GIVEN);
        if (cache->tied)
            fm_cache_name(cache, filled, asked->at[i]);
        if (is.brings && kind == WANTED)
            brought += bring_beside(cache, asked->at[i], is.brings, next);
    }
    how->served = served;
    how->brought = brought;
}

/* The levels from `first` on, some of which hand lines on or bring more than a line. Returns how
   many of these the last has brought. */
static unsigned answer_all(struct fm_hierarchy *hierarchy, unsigned first, bool pairs,
                           const struct fm_address *batch, unsigned count, uint64_t *served)
{
    struct asked asked[2];
    struct answering how = {.brought = 0};
    asked[first & 1].count = 0;
    for (unsigned i = 0; i < count; i++)
        ask(&asked[first & 1], batch[i], WANTED);
    for (unsigned level = first; level < hierarchy->count; level++) {
        how = (struct answering){.gives = gives_away(hierarchy, level),
                                 .hands_on = hands_on(hierarchy, level),
                                 .brings = brings(hierarchy, level, pairs)};
        answer(&hierarchy->caches[level], &how, &asked[level & 1], &asked[~level & 1]);
        served[level] += how.served;
        count -= how.served;
    }
    served[hierarchy->count] += count;
    return how.brought;
}

unsigned fm_hierarchy_pass(struct fm_hierarchy *hierarchy, struct fm_address *batch, unsigned count,
                           bool pairs, uint64_t *served)
{
    unsigned level = 0, brought = 0;
    for (; level < hierarchy->count && count > 0; level++) {
        if (hands_on(hierarchy, level) || brings(hierarchy, level, pairs))
            break;
        const unsigned misses = fm_cache_pass(&hierarchy->caches[level], batch, count);
        served[level] += count - misses;
        count = misses;
    }
    if (level == hierarchy->count || count == 0) {
        served[hierarchy->count] += count;
        return 0;
    }
    const unsigned at_once = FM_BATCH / most_asked(hierarchy, pairs);
    for (unsigned done = 0; done < count; done += at_once)
        brought += answer_all(hierarchy, level, pairs, batch + done,
                              count - done < at_once ? count - done : at_once, served);
    return pairs ? brought : 0;
}
