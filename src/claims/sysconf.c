/* The C library's word: glibc repeats CPUID or firmware tables, and says 0 where it does not know.
 */
#include <unistd.h>

#include "claims/sources.h"

static uint64_t ask(int name)
{
    const long answer = sysconf(name);
    return answer > 0 ? (uint64_t)answer : 0;
}

static void add_caches(struct fm_claims *claims)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const struct {
        unsigned level;
        char kind;
        int capacity, ways, line;
    } names[] = {
        {1, 'i', _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE},
        {1, 'd', _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE},
        {2, 'u', _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE},
        {3, 'u', _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE},
        {4, 'u', _SC_LEVEL4_CACHE_SIZE, _SC_LEVEL4_CACHE_ASSOC, _SC_LEVEL4_CACHE_LINESIZE},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct fm_claimed_cache cache = {
            .level = names[i].level,
            .kind = names[i].kind,
            .capacity = ask(names[i].capacity),
            .line = ask(names[i].line),
            .ways = ask(names[i].ways),
        };
        fm_claims_add_cache(claims, "sysconf", &cache);
    }
#else
    (void)claims;
#endif
}

void fm_claims_add_sysconf(struct fm_claims *claims)
{
    add_caches(claims);
    const uint64_t page = ask(_SC_PAGESIZE);
    if (page)
        fm_claims_add(claims, "sysconf", fm_number((double)page), "page.size");
}
