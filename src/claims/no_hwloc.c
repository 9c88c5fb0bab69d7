/* A build without hwloc has no claims from it. */
#include "claims/sources.h"

void fm_claims_add_hwloc(struct fm_claims *claims, int cpu)
{
    (void)claims;
    (void)cpu;
}
