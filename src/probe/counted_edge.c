/* Where a structure begins to miss, by its counter. */
#include <math.h>
#include <stdlib.h>

#include "probe/counted_search.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* Of a large structure one unit of so many is touched: where a set is chosen by the address as it
   is, they use one set of so many, and fill those as all units fill all. What is left of a
   footprint is still this many units, and no fewer than one to a page. */
#define ENOUGH_UNITS 64
/* Whether that holds of this structure is seen before it begins to miss, and well beyond: the parts
   that miss there, thin and in full, differ by no more than this of either, and a few. */
#define ALIKE 0.25
/* … and where that holds of longer units, of shorter ones that are no part of a line. */
#define ALIKE_TOO 0.1
#define FEW       0.03
#define BEYOND    1.4
/* … of what fits, this part at most, by far. */
#define MOST_WITHIN 0.3
/* … unless so many placements in a row happen to crowd a few pages that would fit on most. */
#define LUCKLESS 3

/* Times the lines at which one in twenty misses that a level of uneven sets may hold some of: about
   twice that are all it has, and as many again leave some of its sets not full. */
#define UNEVEN 4

bool fm_count_place(struct fm_lab *lab, struct fm_count_search *search, size_t bytes,
                    struct fm_error *err)
{
    if (!fm_lab_place(lab, bytes, err))
        return false;
    search->placed = bytes;
    return true;
}

size_t fm_held_anywhere(const struct fm_counted *level)
{
    if (level->full)
        return level->ways;
    return level->thin || !level->grain ? 0
                                        : (size_t)(UNEVEN * level->bytes / (double)level->grain);
}

/* The units that must be left: more than a level inside keeps, which in one set are as many
   wherever they lie, so that a few would never get past it. */
static size_t enough_units(const struct fm_lab *lab, const struct fm_counted_plan *plan)
{
    const struct fm_counted *inner = plan->inner > 0 ? &lab->counted[plan->bit - 1] : NULL;
    const size_t inside = inner && inner->full ? inner->ways : 0;
    return 2 * inside > ENOUGH_UNITS ? 2 * inside : ENOUGH_UNITS;
}

/* One unit of how many is touched. */
size_t fm_count_thinness(const struct fm_lab *lab, const struct fm_count_search *search,
                         size_t units)
{
    const size_t page = lab->machine->info.page_size / search->plan->unit;
    const size_t enough = enough_units(lab, search->plan);
    size_t thin = 1;
    while (search->thin && 2 * thin <= page && units / (2 * thin) >= enough)
        thin *= 2;
    return thin;
}

static bool could_be_thin(const struct fm_lab *lab, const struct fm_count_search *search,
                          size_t units)
{
    struct fm_count_search thin = *search;
    thin.thin = true;
    return fm_count_thinness(lab, &thin, units) > 1;
}

/* Misses in a lap over so many units from the arena's begin; `none` or fewer are none. */
bool fm_misses_over(struct fm_lab *lab, struct fm_count_search *search, size_t units, double none,
                    double *misses, struct fm_error *err)
{
    const struct fm_counted_plan *plan = search->plan;
    const size_t thin = fm_count_thinness(lab, search, units);
    const struct fm_swept_plan swept = {.bytes = units * plan->unit,
                                        .unit = thin * plan->unit,
                                        .page = lab->machine->info.page_size,
                                        .seed = lab->placement_seed};
    const struct fm_count_care care = {
        .bit = plan->bit, .none = none / (double)thin, .manner = plan->manner};
    struct fm_string string;
    if ((swept.bytes > search->placed && !fm_count_place(lab, search, 2 * swept.bytes, err)) ||
        !fm_swept_string(&string, &swept, err) || !fm_count_lap(lab, &string, &care, misses, err))
        return false;
    /* Before thin strings are taken for all: what a meter pushed out may miss in the second lap. */
    *misses = *misses > FM_NO_MISS ? *misses * (double)thin : 0;
    const double ratio = *misses / (double)units;
    return fm_curve_add(search->curve,
                        (struct fm_point){
                            .x = (double)swept.bytes, .y = ratio, .low = ratio, .high = ratio}) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
}

/* Doubles the footprint until it misses; *fits and *misses are units on both sides. */
static bool ascend(struct fm_lab *lab, struct fm_count_search *search, size_t *fits, size_t *misses,
                   struct fm_error *err)
{
    const size_t last = (size_t)(search->plan->to / (double)search->plan->unit);
    size_t units = (size_t)ceil(search->plan->from / (double)search->plan->unit);
    *fits = *misses = 0;
    for (units = units ? units : 1; units <= last; units *= 2) {
        double each;
        if (!fm_misses_over(lab, search, units, FM_ONE_IN_TWENTY * (double)units, &each, err))
            return false;
        if (each > FM_ONE_IN_TWENTY * (double)units) {
            *misses = units;
            search->missed = each;
            return true;
        }
        *fits = units;
    }
    return true;
}

/* Halves the bracket until its ends are `step` units apart, or `closest` to each other as parts.
   `share` of the units may miss on the side that fits; 0: none. */
bool fm_count_halve(struct fm_lab *lab, struct fm_count_search *search, size_t *fits,
                    size_t *misses, size_t step, double share, double closest, struct fm_error *err)
{
    while (*misses - *fits > step && (double)*misses > closest * (double)*fits) {
        const size_t middle = *fits + (*misses - *fits) / 2;
        const double none = fmax(share * (double)middle, FM_NO_MISS);
        double each;
        if (!fm_misses_over(lab, search, middle, none, &each, err))
            return false;
        if (each <= none)
            *fits = middle;
        else
            *misses = middle;
    }
    return true;
}

bool fm_count_holds_again(struct fm_lab *lab, struct fm_count_search *search, size_t units,
                          size_t step, int times, bool *yes, struct fm_error *err)
{
    *yes = true;
    for (int i = 0; i < times && *yes; i++) {
        double within, beyond;
        if (!fm_count_place(lab, search, search->placed, err) ||
            !fm_misses_over(lab, search, units, FM_NO_MISS, &within, err))
            return false;
        /* A few, of one set, may be somebody else's doing. */
        const bool few = within > FM_NO_MISS && within < FEW * (double)units;
        if ((few && !fm_misses_over(lab, search, units, FM_NO_MISS, &within, err)) ||
            !fm_misses_over(lab, search, units + step, FM_NO_MISS, &beyond, err))
            return false;
        *yes = within <= FM_NO_MISS && beyond > FM_NO_MISS;
    }
    return true;
}

/* The curve, to which more is added if it is there. */
struct fm_curve *fm_count_begin(struct fm_lab *lab, const char *id)
{
    const struct fm_curve *there = fm_result_find_curve(lab->result, id);
    if (there)
        return &lab->result->curves[there - lab->result->curves];
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (!curve)
        return NULL;
    curve->x = (struct fm_axis){"footprint", "B"};
    curve->y = (struct fm_axis){"misses", "per reference"};
    return curve;
}

void fm_count_finish(struct fm_curve *curve, const struct fm_counted *found)
{
    fm_curve_sort(curve);
    if (found->missed) {
        curve->steps[0] = (struct fm_step){.x = found->bytes, .label = "fits"};
        curve->step_count = 1;
    }
}

/* The whole number of steps that fits, where a thin string of `none` units does: that or the next,
   since it may end within a step. */
static bool whole_steps(struct fm_lab *lab, struct fm_count_search *search, size_t none,
                        size_t step, size_t *whole, struct fm_error *err)
{
    const size_t next = (none + step - 1) / step * step;
    double each;
    if (!fm_misses_over(lab, search, next, FM_NO_MISS, &each, err))
        return false;
    *whole = each > FM_NO_MISS ? none / step * step : next;
    return true;
}

/* The largest footprint without a miss, if there is one that is the same wherever the pages lie, by
   thin strings. One in twenty misses with a few lines too many: none at all is a little further in.
 */
static bool find_sharp(struct fm_lab *lab, struct fm_count_search *search, size_t fits,
                       size_t misses, struct fm_counted *found, struct fm_error *err)
{
    size_t none = (size_t)(FM_WELL_INSIDE * (double)fits);
    double each;
    if (none == 0)
        return true;
    if (!fm_misses_over(lab, search, none, FM_NO_MISS, &each, err))
        return false;
    if (each > FM_NO_MISS)
        return true;
    /* Thin strings show it to within what they leave out; to the unit it takes all of them. */
    const size_t step = fm_count_thinness(lab, search, misses);
    const bool thin = search->thin;
    size_t whole = none;
    bool everywhere = true;
    if (!fm_count_halve(lab, search, &none, &misses, step, 0, 1, err) ||
        !whole_steps(lab, search, none, step, &whole, err) ||
        !fm_count_holds_again(lab, search, whole, step, FM_COUNT_AGAIN, &everywhere, err))
        return false;
    /* Where pages lie scattered, a few of them tell that already. */
    if (!everywhere)
        return true;
    search->thin = false;
    /* Nearly every structure holds a whole number of those steps. */
    bool good = fm_count_holds_again(lab, search, whole, 1, FM_COUNT_ONCE, &found->sharp, err);
    if (good && found->sharp)
        none = whole;
    else
        good = good && fm_count_halve(lab, search, &none, &misses, 1, 0, 1, err) &&
               fm_count_holds_again(lab, search, none, 1, FM_COUNT_AGAIN, &found->sharp, err);
    search->thin = thin;
    if (!good)
        return false;
    found->effective = (double)(fits * search->plan->unit);
    found->bytes = found->low = found->high = (double)(none * search->plan->unit);
    return true;
}

/* How all units of a footprint miss beside one of some. */
enum likeness { ALIKE_BOTH, FEWER_IN_FULL, MORE_IN_FULL };

/* `most`: the part of a footprint that may miss, thin or in full. */
static bool compare(struct fm_lab *lab, struct fm_count_search *search, size_t units, double alike,
                    double most, enum likeness *likeness, struct fm_error *err)
{
    const double few = FEW * (double)units;
    double thin = INFINITY, full;
    *likeness = ALIKE_BOTH;
    if (fm_count_thinness(lab, search, units) == 1)
        return true;
    for (int i = 0; i < LUCKLESS && thin >= most * (double)units; i++)
        if ((i > 0 && !fm_count_place(lab, search, search->placed, err)) ||
            !fm_misses_over(lab, search, units, few, &thin, err))
            return false;
    /* What misses within what was seen to fit was never a part of it: one set takes as many units
       from anywhere, and a footprint that is thinner by half has twice as many. */
    if (thin > most * (double)units) {
        *likeness = MORE_IN_FULL;
        return true;
    }
    search->thin = false;
    if (!fm_misses_over(lab, search, units, few, &full, err))
        return false;
    search->thin = true;
    if (fabs(thin - full) > alike * fmin(thin, full) + few)
        *likeness = full > thin ? MORE_IN_FULL : FEWER_IN_FULL;
    return true;
}

/* The same before the edge and beyond it; what differs first counts. */
static bool compare_around(struct fm_lab *lab, struct fm_count_search *search, double fits,
                           double misses, double alike, enum likeness *likeness,
                           struct fm_error *err)
{
    const double unit = (double)search->plan->unit;
    return compare(lab, search, (size_t)(FM_WELL_INSIDE * fits / unit), alike, MOST_WITHIN,
                   likeness, err) &&
           (*likeness != ALIKE_BOTH ||
            compare(lab, search, (size_t)(BEYOND * misses / unit), alike, INFINITY, likeness, err));
}

/* The shortest unit of which one of some misses as all do. Shorter ones than a line come to each
   line several times a lap, and miss less often then, so that is what it is; asked from above,
   where it costs least. *alike is false where no unit is, or shorter ones miss more often: the
   index is hashed, or there is one set, and the more there are the fewer fit. */
static bool find_grain(struct fm_lab *lab, struct fm_count_search *search,
                       struct fm_counted_plan *plan, double fits, double misses, bool *alike,
                       struct fm_error *err)
{
    const size_t shortest = search->plan->unit, page = lab->machine->info.page_size;
    const size_t longest = plan->longest_line < page / 2 ? plan->longest_line : page / 2;
    struct fm_counted_plan wide = *plan;
    struct fm_count_search coarse = *search;
    enum likeness likeness = ALIKE_BOTH;
    bool tried = false;
    coarse.plan = &wide;
    for (size_t unit = longest; unit >= shortest && likeness == ALIKE_BOTH; unit /= 2) {
        wide.unit = unit;
        if (fm_count_thinness(lab, &coarse, (size_t)(fits / (double)unit)) == 1 && unit > shortest)
            continue;
        if (!compare_around(lab, &coarse, fits, misses, tried ? ALIKE_TOO : ALIKE, &likeness, err))
            return false;
        if (likeness == ALIKE_BOTH)
            plan->unit = unit;
        tried |= likeness == ALIKE_BOTH;
    }
    search->placed = coarse.placed;
    *alike = tried && likeness != MORE_IN_FULL;
    if (!*alike)
        plan->unit = shortest;
    return true;
}

/* Goes up and halves the bracket, thin; and just goes up in full where that is not alike. Ends are
   in units of the plan, which may be longer than they were. */
static bool bracket(struct fm_lab *lab, struct fm_count_search *search,
                    struct fm_counted_plan *plan, size_t *fits, size_t *misses,
                    struct fm_error *err)
{
    for (search->thin = true;; search->thin = false) {
        bool alike = false;
        if (!ascend(lab, search, fits, misses, err))
            return false;
        if (!search->thin)
            return true;
        if (*misses &&
            !fm_count_halve(lab, search, fits, misses, 1, FM_ONE_IN_TWENTY, FM_CLOSE, err))
            return false;
        const size_t unit = plan->unit;
        if (*misses && !find_grain(lab, search, plan, (double)(*fits * unit),
                                   (double)(*misses * unit), &alike, err))
            return false;
        if (alike) {
            *fits = *fits * unit / plan->unit;
            *misses = (*misses * unit + plan->unit - 1) / plan->unit;
            return true;
        }
    }
}

static bool find_edge(struct fm_lab *lab, struct fm_count_search *search,
                      struct fm_counted_plan *plan, struct fm_counted *found, struct fm_error *err)
{
    size_t fits, misses;
    if (!bracket(lab, search, plan, &fits, &misses, err))
        return false;
    found->missed = misses > 0;
    found->thin = fm_count_thinness(lab, search, fits) > 1;
    found->mixed = !found->thin && could_be_thin(lab, search, fits);
    found->grain = plan->unit;
    found->bytes = found->effective = (double)(fits * plan->unit);
    found->low = found->high = found->bytes;
    if (!misses)
        return true;
    return (fm_count_thinness(lab, search, misses) > 1 ? find_sharp : fm_count_in_full)(
        lab, search, fits, misses, found, err);
}

bool fm_counted_edge(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err)
{
    struct fm_counted_plan ours = *plan;
    struct fm_count_search search = {.plan = &ours, .curve = fm_count_begin(lab, plan->curve)};
    if (!search.curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    const bool good = find_edge(lab, &search, &ours, found, err);
    fm_count_finish(search.curve, found);
    return good;
}

bool fm_counted_edge_holds(struct fm_lab *lab, const struct fm_counted_plan *plan,
                           const struct fm_counted *found, bool *yes, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    struct fm_counted_plan ours = *plan;
    struct fm_count_search search = {.plan = &ours, .curve = fm_count_begin(lab, plan->curve)};
    if (!search.curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    /* Units of a line, as it was found by; of entries that map several pages, a page. */
    ours.unit = found->line < page ? found->line : page;
    const size_t units = (size_t)(found->bytes / (double)ours.unit);
    search.placed = (units + 1) * ours.unit;
    const bool good = fm_count_holds_again(lab, &search, units, 1, FM_COUNT_ONCE, yes, err);
    fm_count_finish(search.curve, found);
    return good;
}
