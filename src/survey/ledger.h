/* The ledger: each property as it is claimed, as it was built and as a program gets it. */
#ifndef FM_SURVEY_LEDGER_H
#define FM_SURVEY_LEDGER_H

#include "claims/claims.h"
#include "core/result.h"

/* Sets claims beside findings. A level that is claimed but was not seen gets an undetermined
   capacity that says so. */
void fm_ledger_claims(struct fm_result *result, const struct fm_claims *claims);

/* Writes the ledger of the result from its findings and their claims. `scattered`: page placement
   moved what was measured. */
void fm_ledger_write(struct fm_result *result, bool scattered);

#endif
