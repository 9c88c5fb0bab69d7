/* How a walk times a footprint, and where it can go on in units of a longer line. */
#include <math.h>

#include "probe/lab.h"
#include "probe/walk.h"
#include "refstring/refstring.h"

/* A reading brings pages of its own along, which push some of ours out of a TLB: misses that a run
   has but once, and that are little of so many hits of the first level, or of what takes as long.
 */
#define HITS_A_RUN 16384
/* Part of a latency that longer units may take less, and nothing inside serve any of them. */
#define AS_LONG 0.01

static uint64_t least_references(const struct fm_lab *lab, size_t bytes)
{
    const double here_ns = lab->walk.count ? fm_walk_at(&lab->walk, (double)bytes) : 0;
    return lab->fastest_ns > 0 && here_ns > lab->fastest_ns
               ? (uint64_t)(HITS_A_RUN * lab->fastest_ns / here_ns)
               : HITS_A_RUN;
}

bool fm_walk_time(struct fm_lab *lab, size_t bytes, size_t unit, unsigned burst,
                  const struct fm_care *how, double *ns, struct fm_error *err)
{
    struct fm_care care = *how;
    care.least = least_references(lab, bytes);
    const struct fm_swept_plan plan = {.bytes = bytes,
                                       .unit = unit,
                                       .page = lab->machine->info.page_size,
                                       .burst = burst,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    return fm_swept_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

static bool time_units(struct fm_lab *lab, double bytes, size_t unit, double *ns,
                       struct fm_error *err)
{
    static const struct fm_care care = {.repeats = 2};
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, unit);
    return fm_walk_time(lab, (size_t)bytes / unit * unit, unit, bursts ? 2 : 1, &care, ns, err);
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
        if (ns > before * (1 - AS_LONG))
            break;
    }
    return true;
}

bool fm_walk_shorter_cost(struct fm_lab *lab, double bytes, size_t shorter, size_t longer,
                          double *more_ns, struct fm_error *err)
{
    double few, all;
    if (!fm_lab_place(lab, (size_t)bytes, err) || !fm_lab_go_on(lab, lab->part, err) ||
        !time_units(lab, bytes, longer, &few, err) || !time_units(lab, bytes, shorter, &all, err))
        return false;
    *more_ns = all - few;
    return true;
}
