/* Calibrator's string of spots. */
#include <stdio.h>

#include "refstring/build.h"
#include "refstring/refstring.h"

bool fm_spot_string(struct fm_string *string, const struct fm_spot_plan *plan, struct fm_error *err)
{
    if (plan->count == 0 || plan->stride < FM_WORD || plan->stride % FM_WORD)
        return fm_fail(err, FM_ERR_INTERNAL, "%zu spots, %zu bytes apart", plan->count,
                       plan->stride);
    const size_t last = plan->first + plan->count - 1;
    if (!fm_string_begin(string, last * plan->stride + FM_WORD, plan->count, err))
        return false;
    snprintf(string->label, sizeof string->label, "spots(n=%zu,stride=%zu,first=%zu)", plan->count,
             plan->stride, plan->first);
    for (size_t i = 0; i < plan->count; i++)
        string->orders[0].word[i] = (uint32_t)((last - i) * plan->stride / FM_WORD);
    return true;
}
