/* What the system says of itself. Claims stand beside the findings; only survey/ reads them, and
 * no measurement or analysis ever sees one. */
#ifndef FM_CLAIMS_CLAIMS_H
#define FM_CLAIMS_CLAIMS_H

#include "core/description.h"
#include "core/result.h"

struct fm_claim {
    char property[FM_PROPERTY_TEXT]; /* "l2.capacity" */
    struct fm_value value;
    char source[32]; /* who says so: "sysfs", "cpuid", "hwloc", "sysconf", "machine file",
                        "callgrind" */
};

#define FM_CLAIMS 96
struct fm_claims {
    struct fm_claim items[FM_CLAIMS];
    size_t count;
};

/* Fills claims with what is said of this computer as seen from `cpu`, on which the caller should
   be running. Where two sources speak of one property, the first of the list above is kept. */
void fm_claims_of_this_machine(int cpu, struct fm_claims *claims);

/* Fills claims with a machine file's data caches and memory. The capacity there is the physical
   one: sets x ways x line. */
void fm_claims_of_description(const struct fm_description *description, struct fm_claims *claims);

/* The same of the cache model that callgrind was started with. */
void fm_claims_of_callgrind(const struct fm_description *model, struct fm_claims *claims);

/* NULL when nobody says anything of the property. */
const struct fm_claim *fm_claims_find(const struct fm_claims *claims, const char *property);

#endif
