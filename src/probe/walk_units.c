/* Where a walk can go on in units of a longer line. */
#include <math.h>

#include "probe/lab.h"
#include "probe/walk.h"
#include "refstring/refstring.h"

static bool time_units(struct fm_lab *lab, double bytes, size_t unit, double *ns,
                       struct fm_error *err)
{
    static const struct fm_care care = {.repeats = 2};
    const size_t page = lab->machine->info.page_size;
    const struct fm_swept_plan plan = {.bytes = (size_t)bytes / unit * unit,
                                       .unit = unit,
                                       .page = page,
                                       .burst = fm_swept_has_bursts(page, unit) ? 2 : 1,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    return fm_swept_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* A level inside has shorter lines, and of longer units one line of several is touched. Where a set
   is chosen by the address as it is, these have so many sets less; but where a hash decides they
   have all, and so many times the footprint fits: it would seem to rise there for a second time. */
bool fm_walk_longer_from(struct fm_lab *lab, size_t unit, double *from, struct fm_error *err)
{
    const double all = *from * (double)unit / (double)lab->walk.unit;
    if (!fm_lab_place(lab, (size_t)all, err))
        return false;
    for (; *from < all; *from = fmin(all, *from * M_SQRT2)) {
        double before, ns;
        if (!fm_lab_go_on(lab, lab->part, err) ||
            !time_units(lab, *from, lab->walk.unit, &before, err) ||
            !time_units(lab, *from, unit, &ns, err))
            return false;
        if (ns > before * (1 - FM_WORTH_A_LOOK))
            break;
    }
    return true;
}
