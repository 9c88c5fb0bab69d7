/* The sources of claims, each adding what those before it did not say. */
#ifndef FM_CLAIMS_SOURCES_H
#define FM_CLAIMS_SOURCES_H

#include <stdint.h>

#include "claims/claims.h"

/* One cache as a source describes it; 0 stands for what it does not say. */
struct fm_claimed_cache {
    unsigned level;
    char kind; /* 'd', 'i' or 'u' for unified */
    uint64_t capacity, line, ways, sets, shared_by;
    bool fully_associative;
};

/* Adds a claim unless there is one of that property already. */
void fm_claims_add(struct fm_claims *claims, const char *source, struct fm_value value,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The cache's structure name: l1d, l1i, l2, …; l2d and l2i where split. */
void fm_claims_name_cache(const struct fm_claimed_cache *cache, char name[16]);

/* Adds all that is known of a cache under its name. */
void fm_claims_add_cache(struct fm_claims *claims, const char *source,
                         const struct fm_claimed_cache *cache);

/* `root` is where sysfs is mounted: "/sys". */
void fm_claims_add_sysfs(struct fm_claims *claims, const char *root, int cpu);

/* One of the processor's own answers about its caches: CPUID leaf 4 of Intel and 0x8000001D of AMD,
   which have the same layout. False when the answer says that there are no more caches. */
bool fm_claims_add_cpuid_answer(struct fm_claims *claims, uint32_t eax, uint32_t ebx, uint32_t ecx);

/* Each does nothing where the system or the build has no such source. */
void fm_claims_add_cpuid(struct fm_claims *claims);
void fm_claims_add_hwloc(struct fm_claims *claims, int cpu);
void fm_claims_add_sysconf(struct fm_claims *claims);

#endif
