/* What an x86 processor answers when asked for its caches. */
#include "claims/sources.h"

static uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & (uint32_t)((1ull << (high - low + 1)) - 1);
}

bool fm_claims_add_cpuid_answer(struct fm_claims *claims, uint32_t eax, uint32_t ebx, uint32_t ecx)
{
    const char kinds[] = {0, 'd', 'i', 'u'};
    const uint32_t type = bits(eax, 4, 0);
    if (type == 0)
        return false;
    if (type >= sizeof kinds || bits(eax, 7, 5) == 0)
        return true;
    struct fm_claimed_cache cache = {
        .level = bits(eax, 7, 5),
        .kind = kinds[type],
        .line = bits(ebx, 11, 0) + 1,
        .ways = bits(ebx, 31, 22) + 1,
        .sets = (uint64_t)ecx + 1,
        .fully_associative = bits(eax, 9, 9),
    };
    cache.capacity = cache.ways * (bits(ebx, 21, 12) + 1) * cache.line * cache.sets;
    fm_claims_add_cache(claims, "cpuid", &cache);
    return true;
}

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

static void add_leaf(struct fm_claims *claims, uint32_t leaf)
{
    unsigned eax, ebx, ecx, edx;
    for (unsigned index = 0; index < 2 * FM_CACHE_LEVELS; index++)
        if (!__get_cpuid_count(leaf, index, &eax, &ebx, &ecx, &edx) ||
            !fm_claims_add_cpuid_answer(claims, eax, ebx, ecx))
            return;
}

/* AMD answers leaf 4 with nothing and its own leaf only where the extension bit says that it is
   there; elsewhere that leaf is reserved. */
void fm_claims_add_cpuid(struct fm_claims *claims)
{
    unsigned eax, ebx, ecx, edx;
    add_leaf(claims, 4);
    if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && bits(ecx, 22, 22))
        add_leaf(claims, 0x8000001D);
}

#else

void fm_claims_add_cpuid(struct fm_claims *claims)
{
    (void)claims;
}

#endif
