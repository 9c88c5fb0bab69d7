/* Of knees that run into each other the walk alone does not say which is how wide: too many
 * hierarchies have nearly the same walk. Sets and ways, found by other strings, say what one of
 * them looks like, and then the others are what is left. */
#include "probe/revise.h"

#include <string.h>

#include "probe/capacity.h"

/* Whether what a level holds was read from knees, or could not be. */
static bool is_from_knees(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *capacity = fm_lab_finding(lab, index, "capacity", "B");
    return capacity && !fm_lab_counted(lab, (unsigned)index) &&
           (capacity->status != FM_MEASURED || strcmp(capacity->method, "knees") == 0);
}

bool fm_revise_capacities(struct fm_lab *lab, size_t index, const struct fm_known_ways *ways,
                          struct fm_error *err)
{
    const struct fm_known was = lab->known;
    if (!was.fit.count || !is_from_knees(lab, index))
        return true;
    fm_know_knee(&lab->known.known_knees[index], ways);
    if (!fm_refit_walk(lab, &was, fm_fit_allowed(&was.fit)))
        return true;
    for (size_t i = 1; i + 1 < lab->known.count; i++)
        if (is_from_knees(lab, i) && !fm_report_fitted(lab, i, err))
            return false;
    return true;
}
