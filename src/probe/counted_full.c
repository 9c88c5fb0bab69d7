/* Where a structure begins to miss, where all units of a footprint must be asked: a lap is long
 * then, so each look has to tell as much as it can. */
#include <math.h>

#include "probe/counted_search.h"
#include "probe/lab.h"

/* Round numbers that are tried, which may be all there is room for. */
#define ROUND 3
/* … and that are near enough where pages move what lies between. */
#define NEARLY 1.03
/* … lines, of the longest there are. */
#define FEW_LINES 2
/* A little less than how close the bounds must come. */
#define BESIDE 1.0038
/* So near to one in twenty, as a part of it, is where it is. */
#define JUST 0.02
/* Pages of which luck would not leave an edge where it was, to the unit, even once. */
#define MANY_PAGES 256
/* Halvings that are left when fresh pages are asked whether there is an edge at all. */
#define FEW_LEFT 8

/* What was seen: none miss and some do; at most one in twenty does, and more do. */
struct bounds {
    size_t none, some;
    size_t fits, misses;
    double some_misses; /* of the fewest that do, in a lap; 0: not known */
    size_t more;        /* the fewest but one that do, and what they miss */
    double more_misses;
    double part; /* that misses of what was looked at last */
};

static void note_misses(struct bounds *bounds, size_t units, double misses)
{
    if (units < bounds->some) {
        bounds->more = bounds->some;
        bounds->more_misses = bounds->some_misses;
        bounds->some = units;
        bounds->some_misses = misses;
    } else if (units > bounds->some && units < bounds->more) {
        bounds->more = units;
        bounds->more_misses = misses;
    }
}

static bool look(struct fm_lab *lab, struct fm_count_search *search, size_t units,
                 struct bounds *bounds, struct fm_error *err)
{
    double each;
    if (!fm_misses_over(lab, search, units, FM_NO_MISS, &each, err))
        return false;
    if (each > FM_NO_MISS)
        note_misses(bounds, units, each);
    else if (units > bounds->none)
        bounds->none = units;
    bounds->part = each / (double)units;
    if (bounds->part <= FM_ONE_IN_TWENTY && units > bounds->fits)
        bounds->fits = units;
    else if (bounds->part > FM_ONE_IN_TWENTY && units < bounds->misses)
        bounds->misses = units;
    return true;
}

/* Where some miss long before one in twenty does there is no sharp edge: even of one way that is a
   fortieth further, or a few lines, of which the first may make few others miss. */
static bool is_soft(const struct fm_counted_plan *plan, const struct bounds *bounds)
{
    return (double)bounds->some * NEARLY < (double)bounds->fits &&
           (bounds->fits - bounds->some) * plan->unit > FEW_LINES * plan->longest_line;
}

/* The number between two that is a multiple of the largest power of two. */
static size_t roundest(size_t above, size_t below)
{
    size_t step = 1;
    while ((below - 1) / (2 * step) * (2 * step) > above)
        step *= 2;
    return (below - 1) / step * step;
}

/* What an edge lies above: a unit too many misses itself and makes at least one other miss. */
static size_t least_edge(const struct bounds *bounds)
{
    const size_t inside = (size_t)(FM_WELL_INSIDE * (double)bounds->fits);
    const double beyond = (double)bounds->some - bounds->some_misses / 2 - 1;
    const size_t least = bounds->none > inside ? bounds->none : inside;
    return bounds->some_misses > 0 && beyond > (double)least ? (size_t)beyond : least;
}

/* Sets are most often a power of two of them, and ways are few: nearly every structure holds a
   round number of lines. One that fits where the next does not is the edge, whichever it is; of
   others the bounds have come closer. */
static bool try_round_numbers(struct fm_lab *lab, struct fm_count_search *search,
                              struct bounds *bounds, struct fm_error *err)
{
    const size_t inside = (size_t)(FM_WELL_INSIDE * (double)bounds->fits);
    if (bounds->none && bounds->none >= inside && bounds->some > bounds->none + 1 &&
        !look(lab, search, bounds->none + 1, bounds, err))
        return false;
    for (int i = 0; i < ROUND && !is_soft(search->plan, bounds); i++) {
        const size_t above = least_edge(bounds);
        if (bounds->some <= above + 1)
            return true;
        const size_t units = roundest(above, bounds->some);
        if (!look(lab, search, units, bounds, err))
            return false;
        if (bounds->none == units && !look(lab, search, units + 1, bounds, err))
            return false;
    }
    return true;
}

/* Each unit too many makes those of its set miss, and the next one those of another: misses grow
   by as many with each, and two numbers of them tell where there are none; 0: they do not. */
static size_t likely_edge(const struct bounds *bounds)
{
    const double rise = bounds->more_misses - bounds->some_misses;
    if (bounds->some_misses <= 0 || rise <= 0)
        return 0;
    const double run = (double)(bounds->more - bounds->some);
    const double edge = round((double)bounds->some - bounds->some_misses * run / rise);
    if (edge < (double)bounds->none || edge >= (double)bounds->some)
        return 0;
    return edge > (double)bounds->none ? (size_t)edge : bounds->none + 1;
}

/* Whether what fits does so on fresh pages, and what does not does not. */
static bool bounds_hold(struct fm_lab *lab, struct fm_count_search *search,
                        const struct bounds *bounds, bool *yes, struct fm_error *err)
{
    return fm_count_holds_again(lab, search, bounds->none, bounds->some - bounds->none,
                                FM_COUNT_ONCE, yes, err);
}

/* Narrows the bounds of what misses not at all, if well inside there is such: by what the numbers
   of misses tell, and every third time, or where they tell nothing, by halves. Then they must be
   the same on fresh pages, or there is no edge to look for. */
static bool narrow_none(struct fm_lab *lab, struct fm_count_search *search, struct bounds *bounds,
                        struct fm_error *err)
{
    const size_t inside = (size_t)(FM_WELL_INSIDE * (double)bounds->fits);
    bool asked = false, hold = true;
    if (bounds->none < inside && bounds->some > inside && !is_soft(search->plan, bounds) &&
        !look(lab, search, inside, bounds, err))
        return false;
    for (unsigned looks = 0; inside && bounds->none >= inside && bounds->some > bounds->none + 1 &&
                             !is_soft(search->plan, bounds);
         looks++) {
        const size_t edge = looks % 3 == 2 ? 0 : likely_edge(bounds);
        const size_t middle = bounds->none + (bounds->some - bounds->none) / 2;
        const bool near = (double)bounds->some < NEARLY * (double)bounds->none;
        const bool ask = near && !asked && !edge && bounds->some - bounds->none > 1u << FEW_LEFT;
        asked |= ask;
        if (ask && !bounds_hold(lab, search, bounds, &hold, err))
            return false;
        if (!hold)
            return true;
        if (!look(lab, search, edge ? edge : middle, bounds, err))
            return false;
    }
    return true;
}

static bool halve_misses(struct fm_lab *lab, struct fm_count_search *search, struct bounds *bounds,
                         double closest, struct fm_error *err)
{
    while (bounds->misses > bounds->fits + 1 &&
           (double)bounds->misses > closest * (double)bounds->fits)
        if (!look(lab, search, bounds->fits + (bounds->misses - bounds->fits) / 2, bounds, err))
            return false;
    return true;
}

/* One unit too many misses, and so do those that share its set: with others, in other sets, as many
   again. That tells where one in twenty does, if as many more of them miss as that makes. There is
   looked first otherwise; and where it is not just so many, beside it on the other side. */
static bool close_in(struct fm_lab *lab, struct fm_count_search *search, struct bounds *bounds,
                     struct fm_error *err)
{
    const double each = bounds->some_misses;
    const double more = FM_ONE_IN_TWENTY * (double)bounds->none / (each - FM_ONE_IN_TWENTY);
    size_t at = bounds->none + (size_t)more;
    const double further = bounds->more_misses / (double)(bounds->more - bounds->none);
    if (bounds->more > at && fabs(further - each) < JUST * each) {
        bounds->fits = at;
        bounds->misses = at + 1;
        return true;
    }
    for (int i = 0; i < 2 && at > bounds->fits && at < bounds->misses; i++) {
        if (!look(lab, search, at, bounds, err))
            return false;
        if (fabs(bounds->part - FM_ONE_IN_TWENTY) < JUST * FM_ONE_IN_TWENTY) {
            bounds->fits = at;
            bounds->misses = at + 1;
        }
        at = (size_t)((double)at * (bounds->fits == at ? BESIDE : 1 / BESIDE));
    }
    return true;
}

bool fm_count_in_full(struct fm_lab *lab, struct fm_count_search *search, size_t fits,
                      size_t misses, struct fm_counted *found, struct fm_error *err)
{
    const double unit = (double)search->plan->unit;
    struct bounds bounds = {.some = misses, .fits = fits, .misses = misses};
    if (!try_round_numbers(lab, search, &bounds, err) || !narrow_none(lab, search, &bounds, err))
        return false;
    /* Where it is not sharp this is one placement of many. */
    const bool sharp = bounds.none > 0 && bounds.some == bounds.none + 1;
    if ((sharp && !close_in(lab, search, &bounds, err)) ||
        !halve_misses(lab, search, &bounds, sharp ? FM_CLOSE : NEARLY, err))
        return false;
    found->bytes = found->effective = (double)bounds.fits * unit;
    found->low = found->high = found->bytes;
    if (!sharp)
        return true;
    const double pages = (double)bounds.none * unit / (double)lab->machine->info.page_size;
    const int times = pages > MANY_PAGES ? FM_COUNT_ONCE : FM_COUNT_AGAIN;
    if (!fm_count_holds_again(lab, search, bounds.none, 1, times, &found->sharp, err))
        return false;
    if (!found->sharp)
        return true;
    found->bytes = found->low = found->high = (double)bounds.none * unit;
    found->crowded = search->missed / fmax((double)misses, 2 * (double)bounds.none);
    return true;
}
