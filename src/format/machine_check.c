#include "format/machine_check.h"

#include <string.h>

#include "core/replacement.h"
#include "core/units.h"

/* The simulator keeps a tag for every line. */
#define LINES_MOST ((uint64_t)1 << 24)

static bool power_of_two(uint64_t x)
{
    return x && !(x & (x - 1));
}

static uint64_t power_below(uint64_t x)
{
    uint64_t power = 1;
    while (power <= x / 2)
        power *= 2;
    return power;
}

/* The nearest divisors of `whole` around `part`, for the end of a message. */
static uint64_t divisor_below(uint64_t whole, uint64_t part)
{
    uint64_t d = part < whole ? part : whole;
    while (d > 1 && whole % d)
        d--;
    return d;
}

static uint64_t divisor_above(uint64_t whole, uint64_t part)
{
    uint64_t d = part;
    while (d < whole && whole % d)
        d++;
    return d < whole ? d : whole;
}

static bool check_power(struct fm_yaml *yaml, const char *list, size_t i, const char *key,
                        uint64_t value)
{
    if (power_of_two(value))
        return true;
    const uint64_t below = power_below(value);
    return fm_yaml_fail(yaml, list, i, key, "%llu is no power of two; use %llu or %llu",
                        (unsigned long long)value, (unsigned long long)below,
                        (unsigned long long)below * 2);
}

static bool check_ways(struct fm_yaml *yaml, const char *list, size_t i, uint64_t whole,
                       const char *what, uint32_t *ways)
{
    if (*ways == FM_WAYS_FULL)
        *ways = (uint32_t)whole;
    if (whole % *ways == 0)
        return true;
    return fm_yaml_fail(yaml, list, i, "ways", "%u does not divide the %llu %s; use %llu or %llu",
                        *ways, (unsigned long long)whole, what,
                        (unsigned long long)divisor_below(whole, *ways),
                        (unsigned long long)divisor_above(whole, *ways));
}

static bool check_policy(struct fm_yaml *yaml, const char *list, size_t i,
                         enum fm_replacement replacement, uint32_t ways)
{
    char word[FM_REPLACEMENT_TEXT];
    const char *misfit = fm_replacement_misfit(replacement, ways);
    return !misfit ||
           fm_yaml_fail(yaml, list, i, "replacement", "%s %s, not %u; use lru or bit-plru",
                        fm_replacement_word(replacement, word), misfit, ways);
}

static bool check_bypass(struct fm_yaml *yaml, const char *list, size_t i, bool bypass,
                         unsigned level, enum fm_holds holds)
{
    return !bypass || (level == 1 && holds != FM_HOLDS_INSTRUCTIONS) ||
           fm_yaml_fail(yaml, list, i, "fp_bypass",
                        "only a first level of data can be gone past; leave it out");
}

static bool check_banks(struct fm_yaml *yaml, size_t i, const struct fm_cache_description *cache)
{
    if (!cache->banks)
        return !cache->bank_width ||
               fm_yaml_fail(yaml, "caches", i, "bank_width", "is that of no banks; add `banks`");
    if (!check_power(yaml, "caches", i, "banks", cache->banks) ||
        (cache->bank_width && !check_power(yaml, "caches", i, "bank_width", cache->bank_width)))
        return false;
    return fm_bank_width(cache) >= FM_WORD ||
           fm_yaml_fail(yaml, "caches", i, "banks",
                        "%u share a line of %u bytes, less than a word of %u each; use at most %u, "
                        "or say their `bank_width`",
                        cache->banks, cache->line, FM_WORD, cache->line / FM_WORD);
}

/* What one miss brings in, by itself. */
static bool check_sector(struct fm_yaml *yaml, size_t i, const struct fm_cache_description *cache,
                         uint64_t page)
{
    char text[FM_SIZE_TEXT];
    if (!cache->sector)
        return true;
    if (!check_power(yaml, "caches", i, "sector", cache->sector))
        return false;
    if (cache->sector > page)
        return fm_yaml_fail(yaml, "caches", i, "sector",
                            "%u is above the page of %s; use at most %s", cache->sector,
                            fm_format_size(page, text), text);
    if (cache->line / cache->sector > FM_PARTS_MOST)
        return fm_yaml_fail(yaml, "caches", i, "sector",
                            "%u makes more than %d parts of a line; use at least %u", cache->sector,
                            FM_PARTS_MOST, cache->line / FM_PARTS_MOST);
    return true;
}

/* One cache by itself. */
static bool check_cache(struct fm_yaml *yaml, size_t i, struct fm_cache_description *cache,
                        uint64_t page)
{
    char text[FM_SIZE_TEXT];
    if (!check_power(yaml, "caches", i, "line", cache->line))
        return false;
    if (cache->line > page)
        return fm_yaml_fail(yaml, "caches", i, "line", "%u is above the page of %s; use at most %s",
                            cache->line, fm_format_size(page, text), text);
    if (!check_bypass(yaml, "caches", i, cache->fp_bypass, cache->level, cache->holds))
        return false;
    if (cache->index == FM_INDEX_FOLDED)
        return fm_yaml_fail(yaml, "caches", i, "index", "is one of TLBs alone; use hashed");
    const uint64_t lines = cache->capacity / cache->line;
    if (cache->capacity % cache->line)
        return fm_yaml_fail(yaml, "caches", i, "capacity",
                            "%llu is no whole number of %u-byte lines; use %llu or %llu",
                            (unsigned long long)cache->capacity, cache->line,
                            (unsigned long long)(lines ? lines : 1) * cache->line,
                            (unsigned long long)((lines ? lines : 1) + 1) * cache->line);
    if (lines > LINES_MOST)
        return fm_yaml_fail(yaml, "caches", i, "capacity",
                            "is too large to simulate; use at most %s",
                            fm_format_size(LINES_MOST * cache->line, text));
    return check_ways(yaml, "caches", i, lines, "lines of this cache", &cache->ways) &&
           check_policy(yaml, "caches", i, cache->replacement, cache->ways) &&
           check_sector(yaml, i, cache, page) && check_banks(yaml, i, cache);
}

static bool same_path(enum fm_holds a, enum fm_holds b)
{
    return a == b || a == FM_HOLDS_BOTH || b == FM_HOLDS_BOTH;
}

/* The cache of the level above `outer` on a path both serve, or NULL. */
static const struct fm_cache_description *inner_cache(const struct fm_description *d,
                                                      const struct fm_cache_description *outer,
                                                      enum fm_holds path)
{
    for (size_t i = 0; i < d->cache_count; i++)
        if (d->caches[i].level + 1 == outer->level && same_path(d->caches[i].holds, path))
            return &d->caches[i];
    return NULL;
}

/* An outer cache against one that it serves. */
static bool check_pair(struct fm_yaml *yaml, size_t i, const struct fm_cache_description *outer,
                       const struct fm_cache_description *inner)
{
    char text[FM_SIZE_TEXT];
    if (outer->line < inner->line)
        return fm_yaml_fail(yaml, "caches", i, "line", "%u is below the %u of %s; use at least %u",
                            outer->line, inner->line, inner->name, inner->line);
    if (outer->inclusion == FM_INCLUSION_EXCLUSIVE && outer->line != inner->line)
        return fm_yaml_fail(yaml, "caches", i, "line",
                            "an exclusive cache swaps whole lines with %s; use %u", inner->name,
                            inner->line);
    const uint32_t part =
        inner->sector && inner->sector < inner->line ? inner->sector : inner->line;
    if (outer->sector && outer->sector < outer->line && outer->sector < part)
        return fm_yaml_fail(yaml, "caches", i, "sector",
                            "%u is below the %u that %s asks for; use at least %u", outer->sector,
                            part, inner->name, part);
    const bool moves_whole =
        (!outer->sector || outer->sector == outer->line) && part == inner->line;
    if (outer->inclusion == FM_INCLUSION_EXCLUSIVE && !moves_whole)
        return fm_yaml_fail(yaml, "caches", i, outer->sector ? "sector" : "inclusion",
                            "an exclusive cache swaps whole lines with %s one by one; leave out "
                            "the sectors of both",
                            inner->name);
    if (outer->inclusion == FM_INCLUSION_EXCLUSIVE && inner->fp_bypass)
        return fm_yaml_fail(yaml, "caches", i, "inclusion",
                            "loads of real numbers go past %s, and an exclusive cache holds only "
                            "what leaves it; leave out its fp_bypass",
                            inner->name);
    if (outer->capacity < inner->capacity)
        return fm_yaml_fail(yaml, "caches", i, "capacity",
                            "is below that of %s, which it serves; use at least %s", inner->name,
                            fm_format_size(inner->capacity, text));
    if (outer->latency <= inner->latency)
        return fm_yaml_fail(yaml, "caches", i, "latency",
                            "%.10g is not above the %.10g of %s; use more", outer->latency,
                            inner->latency, inner->name);
    return true;
}

/* A cache's place among the others. */
static bool check_level(struct fm_yaml *yaml, const struct fm_description *d, size_t i)
{
    const struct fm_cache_description *cache = &d->caches[i];
    for (size_t j = 0; j < i; j++) {
        const struct fm_cache_description *other = &d->caches[j];
        if (strcmp(other->name, cache->name) == 0)
            return fm_yaml_fail(yaml, "caches", i, "name",
                                "'%s' is taken by caches[%zu]; use another", cache->name, j);
        if (other->level == cache->level && same_path(other->holds, cache->holds))
            return fm_yaml_fail(yaml, "caches", i, "level",
                                "%s serves level %u already; use level %u, or let one hold data "
                                "and the other instructions",
                                other->name, cache->level, cache->level + 1);
    }
    if (cache->level == 1)
        return true;
    for (enum fm_holds path = FM_HOLDS_DATA; path <= FM_HOLDS_INSTRUCTIONS; path++) {
        if (!same_path(cache->holds, path))
            continue;
        const struct fm_cache_description *inner = inner_cache(d, cache, path);
        /* The instruction side may be left out below a cache that holds both. */
        if (!inner && (path == FM_HOLDS_DATA || cache->holds == FM_HOLDS_INSTRUCTIONS))
            return fm_yaml_fail(yaml, "caches", i, "level",
                                "there is no level %u for %s; number the levels without a gap",
                                cache->level - 1, path == FM_HOLDS_DATA ? "data" : "instructions");
        if (inner && !check_pair(yaml, i, cache, inner))
            return false;
    }
    return true;
}

static bool check_caches(struct fm_yaml *yaml, struct fm_description *d)
{
    bool data = false;
    for (size_t i = 1; i < d->cache_count; i++)
        if (d->caches[i].level < d->caches[i - 1].level)
            return fm_yaml_fail(yaml, "caches", i, "level",
                                "%u comes after level %u; list the caches from the core outwards",
                                d->caches[i].level, d->caches[i - 1].level);
    for (size_t i = 0; i < d->cache_count; i++) {
        if (!check_cache(yaml, i, &d->caches[i], d->page_size) || !check_level(yaml, d, i))
            return false;
        data = data || (d->caches[i].level == 1 && d->caches[i].holds != FM_HOLDS_INSTRUCTIONS);
        if (d->memory_latency <= d->caches[i].latency)
            return fm_yaml_fail(yaml, "memory", FM_YAML_NO_INDEX, "latency",
                                "%.10g is not above the %.10g of %s; use more", d->memory_latency,
                                d->caches[i].latency, d->caches[i].name);
    }
    if (!data)
        return fm_yaml_fail(yaml, NULL, FM_YAML_NO_INDEX, "caches",
                            "none is at level 1 and holds data; add one");
    return true;
}

static bool share_page_size(const struct fm_tlb_description *a, const struct fm_tlb_description *b)
{
    for (size_t i = 0; i < a->page_size_count; i++)
        for (size_t j = 0; j < b->page_size_count; j++)
            if (a->page_sizes[i] == b->page_sizes[j])
                return true;
    return false;
}

/* One TLB by itself. */
static bool check_tlb(struct fm_yaml *yaml, size_t i, struct fm_tlb_description *tlb, uint64_t page)
{
    if (!tlb->page_size_count) {
        tlb->page_sizes[0] = page;
        tlb->page_size_count = 1;
    }
    for (size_t k = 0; k < tlb->page_size_count; k++)
        if (!check_power(yaml, "tlbs", i, "page_sizes", tlb->page_sizes[k]))
            return false;
    if (!check_ways(yaml, "tlbs", i, tlb->entries, "entries", &tlb->ways) ||
        !check_bypass(yaml, "tlbs", i, tlb->fp_bypass, tlb->level, tlb->holds))
        return false;
    if (tlb->index == FM_INDEX_PHYSICAL)
        return fm_yaml_fail(yaml, "tlbs", i, "index",
                            "a TLB is asked before the physical address is known; use virtual, "
                            "folded or hashed");
    if (tlb->pages_per_entry & (tlb->pages_per_entry - 1))
        return fm_yaml_fail(yaml, "tlbs", i, "pages_per_entry", "%u is no power of two; use one",
                            tlb->pages_per_entry);
    const uint32_t sets = tlb->entries / tlb->ways;
    if (tlb->index == FM_INDEX_FOLDED && (sets & (sets - 1)))
        return fm_yaml_fail(yaml, "tlbs", i, "index",
                            "%u sets are no power of two, whose bits could be folded; use hashed",
                            sets);
    if (tlb->reserved % sets || tlb->reserved >= tlb->entries)
        return fm_yaml_fail(yaml, "tlbs", i, "reserved",
                            "%u must leave entries and be as many in each of %u sets; use a "
                            "multiple of %u below %u",
                            tlb->reserved, sets, sets, tlb->entries);
    return check_policy(yaml, "tlbs", i, tlb->replacement, tlb->ways - tlb->reserved / sets);
}

/* A TLB's place among the others; those for different page sizes do not meet. */
static bool check_tlb_level(struct fm_yaml *yaml, const struct fm_description *d, size_t i)
{
    const struct fm_tlb_description *tlb = &d->tlbs[i];
    bool inner = tlb->level == 1;
    for (size_t j = 0; j < i; j++) {
        const struct fm_tlb_description *other = &d->tlbs[j];
        if (strcmp(other->name, tlb->name) == 0)
            return fm_yaml_fail(yaml, "tlbs", i, "name", "'%s' is taken by tlbs[%zu]; use another",
                                tlb->name, j);
        if (other->level > tlb->level)
            return fm_yaml_fail(yaml, "tlbs", i, "level",
                                "%u comes after level %u; list the TLBs from the core outwards",
                                tlb->level, other->level);
        if (!same_path(other->holds, tlb->holds))
            continue;
        inner = inner || other->level + 1 == tlb->level;
        if (!share_page_size(other, tlb))
            continue;
        if (other->level == tlb->level)
            return fm_yaml_fail(yaml, "tlbs", i, "level",
                                "%s serves level %u and this page size already; use level %u",
                                other->name, tlb->level, tlb->level + 1);
        if (tlb->entries < other->entries)
            return fm_yaml_fail(yaml, "tlbs", i, "entries",
                                "%u is below the %u of %s; use at least %u", tlb->entries,
                                other->entries, other->name, other->entries);
    }
    if (!inner)
        return fm_yaml_fail(yaml, "tlbs", i, "level",
                            "there is no level %u before it; number the levels without a gap",
                            tlb->level - 1);
    return true;
}

/* The branch target buffer and the op cache. */
static bool check_front(struct fm_yaml *yaml, struct fm_description *d)
{
    struct fm_op_cache_description *ops = &d->op_cache;
    for (size_t i = 0; i < d->btb_count; i++) {
        if (!check_ways(yaml, "btb", i, d->btbs[i].entries, "entries", &d->btbs[i].ways))
            return false;
        if (i && d->btbs[i].entries <= d->btbs[i - 1].entries)
            return fm_yaml_fail(yaml, "btb", i, "entries",
                                "%u is not above the %u of the level before; use more",
                                d->btbs[i].entries, d->btbs[i - 1].entries);
    }
    return ops->entries == 0 ||
           (check_ways(yaml, "op_cache", FM_YAML_NO_INDEX, ops->entries, "entries", &ops->ways) &&
            check_power(yaml, "op_cache", FM_YAML_NO_INDEX, "window", ops->window));
}

bool fm_description_check(struct fm_yaml *yaml, struct fm_description *description)
{
    if (!check_power(yaml, NULL, FM_YAML_NO_INDEX, "page_size", description->page_size) ||
        !check_caches(yaml, description))
        return false;
    if (description->cold_walk_latency > 0 &&
        description->cold_walk_latency < description->walk_latency)
        return fm_yaml_fail(yaml, "walk", FM_YAML_NO_INDEX, "cold_latency",
                            "%.10g is below the %.10g of a walk whose table is in cache; use more",
                            description->cold_walk_latency, description->walk_latency);
    const struct fm_growth_description *growth = &description->growth;
    char text[FM_SIZE_TEXT];
    if (growth->misses && (!power_of_two(growth->to) || growth->to <= description->page_size))
        return fm_yaml_fail(yaml, NULL, FM_YAML_NO_INDEX, "page_growth",
                            "pages grow to a power of two above %s; use one",
                            fm_format_size(description->page_size, text));
    for (size_t i = 0; i < description->tlb_count; i++)
        if (!check_tlb(yaml, i, &description->tlbs[i], description->page_size) ||
            !check_tlb_level(yaml, description, i))
            return false;
    return check_front(yaml, description);
}
