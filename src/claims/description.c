/* A machine file's own words as claims. */
#include "claims/sources.h"

static const char machine_file[] = "machine file", callgrind[] = "callgrind";

/* Whether the level has a cache of its own for instructions, beside the one for data. */
static bool is_split(const struct fm_description *description, unsigned level)
{
    for (size_t i = 0; i < description->cache_count; i++)
        if (description->caches[i].level == level &&
            description->caches[i].holds == FM_HOLDS_INSTRUCTIONS)
            return true;
    return false;
}

static void add_latency(struct fm_claims *claims, const char *source,
                        const struct fm_description *description, const char *name, double cycles)
{
    if (!(cycles > 0))
        return;
    fm_claims_add(claims, source, fm_number(cycles), "%s.latency_cycles", name);
    if (description->clock_mhz > 0)
        fm_claims_add(claims, source, fm_number(cycles * 1000 / description->clock_mhz),
                      "%s.latency", name);
}

static void add_data_cache(struct fm_claims *claims, const char *source,
                           const struct fm_description *description,
                           const struct fm_cache_description *described)
{
    const bool split = described->level == 1 || is_split(description, described->level);
    const struct fm_claimed_cache cache = {
        .level = described->level,
        .kind = split ? 'd' : 'u',
        .capacity = described->capacity,
        .line = described->line,
        .ways = described->ways,
    };
    fm_claims_add_cache(claims, source, &cache);
    char name[16];
    fm_claims_name_cache(&cache, name);
    add_latency(claims, source, description, name, described->latency);
}

/* What a fetch takes is not told: a jump takes it only in part. */
static void add_code_cache(struct fm_claims *claims, const char *source,
                           const struct fm_cache_description *described)
{
    const struct fm_claimed_cache cache = {
        .level = described->level,
        .kind = 'i',
        .capacity = described->capacity,
        .line = described->line,
        .ways = described->ways,
    };
    fm_claims_add_cache(claims, source, &cache);
}

static void add_caches(struct fm_claims *claims, const char *source,
                       const struct fm_description *description)
{
    claims->count = 0;
    for (size_t i = 0; i < description->cache_count; i++)
        if (description->caches[i].holds != FM_HOLDS_INSTRUCTIONS)
            add_data_cache(claims, source, description, &description->caches[i]);
        else
            add_code_cache(claims, source, &description->caches[i]);
}

void fm_claims_of_callgrind(const struct fm_description *model, struct fm_claims *claims)
{
    add_caches(claims, callgrind, model);
}

void fm_claims_of_description(const struct fm_description *description, struct fm_claims *claims)
{
    const char *source = machine_file;
    add_caches(claims, source, description);
    add_latency(claims, source, description, "memory", description->memory_latency);
    if (description->clock_mhz > 0)
        fm_claims_add(claims, source, fm_number(1000 / description->clock_mhz), "cpu.cycle_time");
    if (description->page_size)
        fm_claims_add(claims, source, fm_number((double)description->page_size), "page.size");
}
