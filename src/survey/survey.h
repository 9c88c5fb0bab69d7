/* A survey: probes run on a machine in order of need, within a budget; their findings joined and
 * set beside what the system claims. The only room that reads claims. */
#ifndef FM_SURVEY_SURVEY_H
#define FM_SURVEY_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "claims/claims.h"
#include "core/error.h"
#include "core/machine.h"
#include "core/result.h"
#include "core/survey_options.h"

/* Runs the survey. Interrupted or out of time, it still returns true: result->complete is then
   false and what is not reached is undetermined with the reason. False with err filled when the
   machine failed. claims may be NULL. */
bool fm_survey(struct fm_machine *machine, const struct fm_claims *claims,
               const struct fm_survey_options *options, struct fm_result *result,
               struct fm_error *err);

struct fm_probe_info {
    const char *name;
    const char *finds;
    const char *needs;
    const char *curve; /* id of the curve it draws, or NULL */
    bool counts;       /* it reads counters, not the clock */
};

/* The probes there are, in the order they run. */
size_t fm_probe_count(void);
struct fm_probe_info fm_probe_at(size_t index);

/* Whether every name in a comma list is a probe's; err names the first that is not. */
bool fm_survey_check_only(const char *only, struct fm_error *err);

#endif
