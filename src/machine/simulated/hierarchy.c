#include "machine/simulated/hierarchy.h"

/* The cache of a level that is not for the other side alone, NULL if there is none; *twice if there
   are several. */
static const struct fm_cache_description *described(const struct fm_description *description,
                                                    unsigned level, enum fm_holds other,
                                                    bool *twice)
{
    const struct fm_cache_description *found = NULL;
    *twice = false;
    for (size_t i = 0; i < description->cache_count; i++) {
        const struct fm_cache_description *cache = &description->caches[i];
        if (cache->level != level || cache->holds == other)
            continue;
        *twice = found != NULL;
        found = cache;
    }
    return found;
}

static bool power_of_two(uint64_t x)
{
    return x && (x & (x - 1)) == 0;
}

/* What one miss brings into a cache. */
static uint32_t fill_of(const struct fm_cache_description *cache)
{
    return cache->sector ? cache->sector : cache->line;
}

/* `inner` is NULL for the first level. */
static bool possible_sector(const struct fm_cache_description *cache,
                            const struct fm_cache_description *inner, uint64_t page_size,
                            struct fm_error *err)
{
    const uint32_t sector = fill_of(cache);
    if (!power_of_two(sector) || sector < FM_WORD || sector > page_size ||
        cache->line / sector > FM_PARTS_MOST)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: sector %u is impossible", cache->name, sector);
    if (!inner)
        return true;
    if (sector < cache->line &&
        sector < (fill_of(inner) < inner->line ? fill_of(inner) : inner->line))
        return fm_fail(err, FM_ERR_USAGE, "cache %s: sector %u is less than what %s asks for",
                       cache->name, sector, inner->name);
    if (cache->inclusion == FM_INCLUSION_EXCLUSIVE &&
        (sector != cache->line || fill_of(inner) < inner->line))
        return fm_fail(err, FM_ERR_USAGE,
                       "cache %s: an exclusive cache takes whole lines, one by one", cache->name);
    return true;
}

static bool possible(const struct fm_cache_description *cache,
                     const struct fm_cache_description *inner, uint64_t page_size,
                     struct fm_error *err)
{
    const uint32_t inner_line = inner ? inner->line : FM_WORD;
    if (!power_of_two(cache->line) || cache->line < FM_WORD || cache->line > page_size)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: line %u is no power of two from %u to a page",
                       cache->name, cache->line, FM_WORD);
    if (cache->line < inner_line)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: line %u is smaller than that inside, %u",
                       cache->name, cache->line, inner_line);
    const uint64_t row = (uint64_t)cache->line * cache->ways;
    if (row == 0 || cache->capacity == 0 || cache->capacity % row)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: capacity is no multiple of line x ways",
                       cache->name);
    if (cache->capacity / cache->line > UINT32_MAX / 4)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: too many lines to simulate", cache->name);
    char word[FM_REPLACEMENT_TEXT];
    const char *misfit = fm_replacement_misfit(cache->replacement, cache->ways);
    if (misfit)
        return fm_fail(err, FM_ERR_USAGE, "cache %s: %s %s", cache->name,
                       fm_replacement_word(cache->replacement, word), misfit);
    return possible_sector(cache, inner, page_size, err);
}

static uint64_t smallest_page(const struct fm_description *description)
{
    uint64_t smallest = description->page_size;
    for (size_t i = 0; i < description->tlb_count; i++)
        for (size_t j = 0; j < description->tlbs[i].page_size_count; j++)
            if (description->tlbs[i].page_sizes[j] < smallest)
                smallest = description->tlbs[i].page_sizes[j];
    return smallest;
}

static void tie(struct fm_hierarchy *hierarchy, uint64_t page)
{
    bool named = false;
    hierarchy->caches[0].exclusive = false;
    for (unsigned i = 0; i < hierarchy->count; i++) {
        struct fm_cache *cache = &hierarchy->caches[i];
        const bool feeds = i + 1 < hierarchy->count && cache[1].exclusive;
        cache->tied = cache->inclusive || feeds;
        hierarchy->inclusive |= cache->inclusive && i > 0;
        hierarchy->exclusive |= cache->exclusive;
        hierarchy->sectored |= cache->sector || cache->in_parts;
        /* An index inside the page is the same in both addresses. */
        if (page % ((uint64_t)cache->tags.sets << cache->shift) == 0 &&
            cache->index == FM_INDEX_VIRTUAL)
            cache->index = FM_INDEX_PHYSICAL;
        named |= cache->index == FM_INDEX_VIRTUAL;
    }
    for (unsigned i = 0; i < hierarchy->code_count; i++)
        named |= hierarchy->code[i].index == FM_INDEX_VIRTUAL;
    for (unsigned i = 0; i < hierarchy->count; i++)
        hierarchy->caches[i].named = named;
    for (unsigned i = 0; i < hierarchy->code_count; i++)
        hierarchy->code[i].named = true;
}

/* The caches of code alone; a level without one ends them. */
static bool open_code(struct fm_hierarchy *hierarchy, const struct fm_description *description,
                      uint64_t seed, struct fm_error *err)
{
    const struct fm_cache_description *inner = NULL;
    for (unsigned level = 1; level <= FM_CACHE_LEVELS; level++) {
        bool twice;
        const struct fm_cache_description *cache =
            described(description, level, FM_HOLDS_DATA, &twice);
        /* One for both beside one for code alone serves data. */
        for (size_t i = 0; twice && i < description->cache_count; i++)
            if (description->caches[i].level == level &&
                description->caches[i].holds == FM_HOLDS_INSTRUCTIONS)
                cache = &description->caches[i];
        hierarchy->runs_code |= cache && level == 1;
        if (!cache || cache->holds == FM_HOLDS_BOTH)
            return true;
        struct fm_cache_description whole = *cache;
        whole.sector = 0; /* code comes in whole lines */
        if (!possible(&whole, inner, description->page_size, err) ||
            !fm_cache_open(&hierarchy->code[level - 1], &whole, fm_mix64(~seed + level), err))
            return false;
        inner = cache;
        hierarchy->code_count = level;
    }
    return true;
}

bool fm_hierarchy_open(struct fm_hierarchy *hierarchy, const struct fm_description *description,
                       uint64_t seed, struct fm_error *err)
{
    *hierarchy = (struct fm_hierarchy){0};
    const struct fm_cache_description *inner = NULL;
    for (unsigned level = 1; level <= FM_CACHE_LEVELS; level++) {
        bool twice;
        const struct fm_cache_description *cache =
            described(description, level, FM_HOLDS_INSTRUCTIONS, &twice);
        if (twice)
            return fm_fail(err, FM_ERR_USAGE, "two data caches at level %u", level);
        if (!cache)
            break;
        if (!possible(cache, inner, description->page_size, err) ||
            !fm_cache_open(&hierarchy->caches[level - 1], cache, fm_mix64(seed + level), err))
            return false;
        inner = cache;
        hierarchy->count = level;
    }
    if (hierarchy->count == 0)
        return fm_fail(err, FM_ERR_USAGE, "no data cache at level 1");
    if (!open_code(hierarchy, description, seed, err))
        return false;
    tie(hierarchy, smallest_page(description));
    return true;
}

void fm_hierarchy_close(struct fm_hierarchy *hierarchy)
{
    for (unsigned i = 0; i < hierarchy->count; i++)
        fm_cache_close(&hierarchy->caches[i]);
    for (unsigned i = 0; i < hierarchy->code_count; i++)
        fm_cache_close(&hierarchy->code[i]);
}

bool fm_hierarchy_is_dirty(const struct fm_hierarchy *hierarchy)
{
    bool dirty = false;
    for (unsigned i = 0; i < hierarchy->count; i++)
        dirty |= hierarchy->caches[i].dirty_count != 0;
    return dirty;
}

/* The first write-back level from `level` on that holds the line keeps the data; else memory. */
static unsigned keep(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at)
{
    for (; level < hierarchy->count; level++) {
        struct fm_cache *cache = &hierarchy->caches[level];
        const size_t slot = cache->write_back ? fm_cache_find(cache, at) : FM_NO_SLOT;
        if (slot != FM_NO_SLOT && fm_cache_has(cache, slot, at)) {
            fm_cache_soil(cache, slot, at);
            break;
        }
    }
    return level;
}

static void write_from(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at)
{
    hierarchy->taken[keep(hierarchy, level, at)]++;
}

void fm_hierarchy_write(struct fm_hierarchy *hierarchy, struct fm_address at)
{
    write_from(hierarchy, 0, at);
}

/* A dirty line came into a level, where the move itself was no write. */
static void arrive_dirty(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at)
{
    const unsigned end = keep(hierarchy, level, at);
    hierarchy->taken[end] += end != level;
}

static void write_back(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at)
{
    hierarchy->writebacks++;
    write_from(hierarchy, level, at);
}

/* Takes what a line covers out of a cache of code. */
static void drop_code(struct fm_cache *cache, struct fm_address line, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += (uint64_t)1 << cache->shift) {
        const struct fm_address part = {line.virtual + at, line.physical + at};
        const size_t slot = fm_cache_find(cache, part);
        if (slot != FM_NO_SLOT)
            fm_tags_drop(&cache->tags, slot);
    }
}

/* Takes what the line at `level` covers out of every level inside; whether any of it was dirty. */
static bool expel(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address line)
{
    const uint64_t bytes = (uint64_t)1 << hierarchy->caches[level].shift;
    bool dirty = false;
    for (unsigned i = 0; i < level; i++) {
        struct fm_cache *cache = &hierarchy->caches[i];
        for (uint64_t at = 0; at < bytes; at += (uint64_t)1 << cache->shift) {
            const struct fm_address part = {line.virtual + at, line.physical + at};
            const size_t slot = fm_cache_find(cache, part);
            if (slot == FM_NO_SLOT)
                continue;
            if (fm_cache_clean(cache, slot)) {
                hierarchy->writebacks++;
                dirty = true;
            }
            fm_tags_drop(&cache->tags, slot);
        }
    }
    for (unsigned i = 0; i < hierarchy->code_count && level >= hierarchy->code_count; i++)
        drop_code(&hierarchy->code[i], line, bytes);
    return dirty;
}

/* A line is no longer wanted in its slot; whether what it held must be written outward. */
static bool part_with(struct fm_hierarchy *hierarchy, unsigned level, size_t slot,
                      struct fm_address line)
{
    struct fm_cache *cache = &hierarchy->caches[level];
    const bool dirty = fm_cache_clean(cache, slot);
    return (cache->inclusive && expel(hierarchy, level, line)) || dirty;
}

/* Whether the line is in the set; if it is, it has been used. */
static inline __attribute__((always_inline)) bool use(struct fm_cache *cache, uint32_t set,
                                                      struct fm_address at)
{
    const uint32_t tag = fm_cache_tag(cache, at);
    const size_t slot = fm_tags_find(&cache->tags, set, tag);
    if (slot == FM_NO_SLOT || !fm_cache_has(cache, slot, at))
        return false;
    fm_tags_hit(&cache->tags, set, slot);
    return true;
}

static void evict(struct fm_hierarchy *hierarchy, unsigned level, size_t slot, uint32_t tag);

/* Fills one more part of a line; whether the line was there. */
static __attribute__((noinline)) bool add_part(struct fm_cache *cache, uint32_t set,
                                               struct fm_address at)
{
    const size_t slot = fm_tags_find(&cache->tags, set, fm_cache_tag(cache, at));
    if (slot == FM_NO_SLOT)
        return false;
    cache->parts[slot] |= fm_cache_part(cache, at);
    fm_tags_hit(&cache->tags, set, slot);
    return true;
}

/* Puts a line into a set of a level that does not hold it. */
static inline void insert(struct fm_hierarchy *hierarchy, unsigned level, uint32_t set,
                          struct fm_address at, bool dirty)
{
    struct fm_cache *cache = &hierarchy->caches[level];
    uint32_t old;
    if (!FM_LIKELY(!cache->in_parts) && add_part(cache, set, at))
        return;
    const size_t slot = fm_tags_replace(&cache->tags, set, fm_cache_tag(cache, at), &old);
    if (!FM_LIKELY(!cache->tied && !cache->dirty_count)) {
        if (old != FM_EMPTY)
            evict(hierarchy, level, slot, old);
        fm_cache_name(cache, slot, at);
    }
    if (!FM_LIKELY(!cache->in_parts))
        cache->parts[slot] = fm_cache_part(cache, at);
    if (dirty)
        arrive_dirty(hierarchy, level, at);
}

/* A victim of the level inside comes into an exclusive level. */
static void take_in(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at,
                    bool dirty)
{
    struct fm_cache *cache = &hierarchy->caches[level];
    const uint32_t set = fm_cache_set(cache, at);
    hierarchy->writebacks += dirty;
    if (!use(cache, set, at))
        insert(hierarchy, level, set, at, dirty);
    else if (dirty)
        arrive_dirty(hierarchy, level, at);
}

/* Another tag stands in the slot already; sees to the line that was there. */
static void evict(struct fm_hierarchy *hierarchy, unsigned level, size_t slot, uint32_t tag)
{
    const struct fm_address line = fm_cache_line(&hierarchy->caches[level], slot, tag);
    const bool dirty = part_with(hierarchy, level, slot, line);
    if (level + 1 < hierarchy->count && hierarchy->caches[level + 1].exclusive)
        take_in(hierarchy, level + 1, line, dirty);
    else if (dirty)
        write_back(hierarchy, level + 1, line);
}

static void lose(struct fm_hierarchy *hierarchy, unsigned level, size_t slot)
{
    struct fm_cache *cache = &hierarchy->caches[level];
    const struct fm_address line = fm_cache_line(cache, slot, cache->tags.tag[slot]);
    if (part_with(hierarchy, level, slot, line))
        write_back(hierarchy, level + 1, line);
    fm_tags_drop(&cache->tags, slot);
}

/* Whether a miss brings the line into this level. */
static bool fills(const struct fm_cache *cache, bool store)
{
    return !cache->exclusive && (!store || (cache->write_allocate && !cache->streamed));
}

bool fm_hierarchy_allocates(const struct fm_hierarchy *hierarchy, unsigned served)
{
    for (unsigned i = 0; i < served; i++)
        if (fills(&hierarchy->caches[i], true))
            return true;
    return false;
}

/* Takes the line out of the exclusive level that served it, unless a part of it must stay or
   nothing inside takes it. Returns whether the line that moves is dirty. */
static bool move_out(struct fm_hierarchy *hierarchy, unsigned served, unsigned fill,
                     struct fm_address at, bool store)
{
    struct fm_cache *cache = &hierarchy->caches[served];
    unsigned taker = served;
    while (taker > fill && !fills(&hierarchy->caches[taker - 1], store))
        taker--;
    if (taker == fill || hierarchy->caches[taker - 1].shift != cache->shift)
        return false;
    const size_t slot = fm_cache_find(cache, at);
    const bool dirty = fm_cache_clean(cache, slot);
    fm_tags_drop(&cache->tags, slot);
    if (!dirty || hierarchy->caches[taker - 1].write_back)
        return dirty;
    write_back(hierarchy, served + 1, at);
    return false;
}

unsigned fm_hierarchy_fetch(struct fm_hierarchy *hierarchy, struct fm_address at,
                            const uint32_t *sets, unsigned search, unsigned fill, bool store)
{
    struct fm_cache *const end = &hierarchy->caches[hierarchy->count];
    struct fm_cache *cache = &hierarchy->caches[search];
    sets += search;
    while (cache < end && !use(cache, *sets, at)) {
        cache++;
        sets++;
    }
    const unsigned served = (unsigned)(cache - hierarchy->caches);
    bool dirty = false;
    if (cache < end && cache->exclusive)
        dirty = move_out(hierarchy, served, fill, at, store);
    for (unsigned level = served; level > fill;) {
        cache--;
        sets--;
        level--;
        if (!fills(cache, store))
            continue;
        insert(hierarchy, level, *sets, at, dirty);
        dirty = false;
    }
    return served;
}

/* Brings the line into the levels from `level` on that lack it, where `level` does. */
static void bring(struct fm_hierarchy *hierarchy, struct fm_address at, unsigned level)
{
    uint32_t sets[FM_CACHE_LEVELS];
    for (unsigned i = level; i < hierarchy->count; i++)
        sets[i] = fm_cache_set(&hierarchy->caches[i], at);
    if (fm_cache_find(&hierarchy->caches[level], at) == FM_NO_SLOT)
        fm_hierarchy_fetch(hierarchy, at, sets, level + 1, level, false);
}

void fm_hierarchy_bring_sectors(struct fm_hierarchy *hierarchy, struct fm_address at,
                                unsigned served, unsigned fill, bool store)
{
    for (unsigned level = served; level-- > fill;) {
        const struct fm_cache *cache = &hierarchy->caches[level];
        if (!cache->sector || !fills(cache, store))
            continue;
        const uint64_t within = at.physical & (cache->sector - 1);
        for (uint64_t i = 0; i < cache->sector; i += (uint64_t)1 << cache->shift)
            if (i >> cache->shift != within >> cache->shift)
                bring(hierarchy,
                      (struct fm_address){at.virtual - within + i, at.physical - within + i},
                      level);
    }
}

void fm_hierarchy_flush(struct fm_hierarchy *hierarchy, struct fm_address at)
{
    for (unsigned i = 0; i < hierarchy->count; i++) {
        const size_t slot = fm_cache_find(&hierarchy->caches[i], at);
        if (slot != FM_NO_SLOT)
            lose(hierarchy, i, slot);
    }
    for (unsigned i = 0; i < hierarchy->code_count; i++)
        drop_code(&hierarchy->code[i], at, 1);
}

void fm_hierarchy_pollute(struct fm_hierarchy *hierarchy, struct fm_rng *rng)
{
    for (unsigned i = 0; i < hierarchy->count; i++) {
        const struct fm_tags *tags = &hierarchy->caches[i].tags;
        const size_t slot = fm_tags_draw(tags, rng);
        if (tags->tag[slot] != FM_EMPTY)
            lose(hierarchy, i, slot);
    }
    for (unsigned i = 0; i < hierarchy->code_count && hierarchy->has_code; i++) {
        struct fm_tags *tags = &hierarchy->code[i].tags;
        const size_t slot = fm_tags_draw(tags, rng);
        if (tags->tag[slot] != FM_EMPTY)
            fm_tags_drop(tags, slot);
    }
}

/* Puts a line into a cache of code, and sees to the line that was there. */
static void insert_code(struct fm_hierarchy *hierarchy, unsigned level, struct fm_address at)
{
    struct fm_cache *cache = &hierarchy->code[level];
    uint32_t old;
    const size_t slot =
        fm_tags_replace(&cache->tags, fm_cache_set(cache, at), fm_cache_tag(cache, at), &old);
    const struct fm_address victim = fm_cache_line(cache, slot, old);
    fm_cache_name(cache, slot, at);
    if (old == FM_EMPTY)
        return;
    for (unsigned i = 0; i < level && cache->inclusive; i++)
        drop_code(&hierarchy->code[i], victim, (uint64_t)1 << cache->shift);
    const unsigned next = level + 1;
    if (next == hierarchy->code_count && next < hierarchy->count &&
        hierarchy->caches[next].exclusive)
        take_in(hierarchy, next, victim, false);
}

/* Code comes from the shared levels, of which an exclusive one gives the line away. */
static unsigned fetch_shared(struct fm_hierarchy *hierarchy, struct fm_address at)
{
    const unsigned first = hierarchy->code_count;
    uint32_t sets[FM_CACHE_LEVELS] = {0};
    for (unsigned level = first; level < hierarchy->count; level++)
        sets[level] = fm_cache_set(&hierarchy->caches[level], at);
    const unsigned served = fm_hierarchy_fetch(hierarchy, at, sets, first, first, false);
    struct fm_cache *cache = &hierarchy->caches[first];
    if (first == 0 || first >= hierarchy->count || served != first || !cache->exclusive ||
        cache->shift != hierarchy->code[first - 1].shift)
        return served;
    const size_t slot = fm_cache_find(cache, at);
    if (fm_cache_clean(cache, slot))
        write_back(hierarchy, first + 1, at);
    fm_tags_drop(&cache->tags, slot);
    return served;
}

unsigned fm_hierarchy_fetch_code(struct fm_hierarchy *hierarchy, struct fm_address at)
{
    unsigned served = 0;
    hierarchy->has_code = true;
    while (served < hierarchy->code_count) {
        struct fm_cache *cache = &hierarchy->code[served];
        if (use(cache, fm_cache_set(cache, at), at))
            break;
        served++;
    }
    unsigned level = served;
    if (served == hierarchy->code_count)
        served = fetch_shared(hierarchy, at);
    while (level > 0)
        insert_code(hierarchy, --level, at);
    return served;
}

unsigned fm_hierarchy_code_levels(const struct fm_hierarchy *hierarchy)
{
    return hierarchy->code_count > hierarchy->count ? hierarchy->code_count : hierarchy->count;
}

double fm_hierarchy_code_latency(const struct fm_hierarchy *hierarchy, unsigned level)
{
    return level < hierarchy->code_count ? hierarchy->code[level].latency
                                         : hierarchy->caches[level].latency;
}

bool fm_hierarchy_holds_code(const struct fm_hierarchy *hierarchy, struct fm_address at)
{
    const struct fm_cache *first = hierarchy->code_count ? hierarchy->code : hierarchy->caches;
    return fm_cache_find(first, at) != FM_NO_SLOT;
}
