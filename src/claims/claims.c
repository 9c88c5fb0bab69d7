#include "claims/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "claims/sources.h"

const struct fm_claim *fm_claims_find(const struct fm_claims *claims, const char *property)
{
    for (size_t i = 0; i < claims->count; i++)
        if (strcmp(claims->items[i].property, property) == 0)
            return &claims->items[i];
    return NULL;
}

void fm_claims_add(struct fm_claims *claims, const char *source, struct fm_value value,
                   const char *format, ...)
{
    if (claims->count == FM_CLAIMS)
        return;
    struct fm_claim *claim = &claims->items[claims->count];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(claim->property, sizeof claim->property, format, arguments);
    va_end(arguments);
    if (fm_claims_find(claims, claim->property))
        return;
    claim->value = value;
    snprintf(claim->source, sizeof claim->source, "%s", source);
    claims->count++;
}

/* Level 1 has a letter always, as its two halves are nearly always apart; a cache that holds both
   is met by loads first. */
void fm_claims_name_cache(const struct fm_claimed_cache *cache, char name[16])
{
    const char kind = cache->kind == 'u' && cache->level == 1 ? 'd' : cache->kind;
    snprintf(name, 16, kind == 'u' ? "l%u" : "l%u%c", cache->level, kind);
}

static void add_size(struct fm_claims *claims, const char *source, const char *name,
                     const char *attribute, uint64_t number)
{
    if (number)
        fm_claims_add(claims, source, fm_number((double)number), "%s.%s", name, attribute);
}

void fm_claims_add_cache(struct fm_claims *claims, const char *source,
                         const struct fm_claimed_cache *cache)
{
    char name[16];
    fm_claims_name_cache(cache, name);
    add_size(claims, source, name, "capacity", cache->capacity);
    add_size(claims, source, name, "line", cache->line);
    const bool one_set = cache->sets == 1 || (cache->capacity && cache->line && cache->ways &&
                                              cache->capacity / cache->line == cache->ways);
    if (cache->fully_associative || one_set)
        fm_claims_add(claims, source, fm_text("full"), "%s.ways", name);
    else
        add_size(claims, source, name, "ways", cache->ways);
    add_size(claims, source, name, "shared_by", cache->shared_by);
}

static bool names_a_cache(const struct fm_claims *claims)
{
    return fm_claims_find(claims, "l1d.capacity") || fm_claims_find(claims, "l2.capacity");
}

void fm_claims_of_this_machine(int cpu, struct fm_claims *claims)
{
    claims->count = 0;
    fm_claims_add_sysfs(claims, "/sys", cpu);
    fm_claims_add_cpuid(claims);
    if (!names_a_cache(claims)) /* loading a topology takes tens of milliseconds */
        fm_claims_add_hwloc(claims, cpu);
    fm_claims_add_sysconf(claims);
}
