/* The ledger: each property as claimed beside what was measured. */
#ifndef FM_SURVEY_LEDGER_H
#define FM_SURVEY_LEDGER_H

#include "claims/claims.h"
#include "core/result.h"

/* Sets claims beside findings. A level that is claimed but was not seen gets an undetermined
   capacity that says so. */
void fm_ledger_claims(struct fm_result *result, const struct fm_claims *claims);

#endif
