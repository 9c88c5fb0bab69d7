/* Where a structure begins to miss, by its counter. */
#include <math.h>
#include <stdlib.h>

#include "probe/counted.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* The effective capacity is where so many references miss. */
#define ONE_IN_TWENTY 0.05
/* So few misses in a lap are none: a line too many misses once a lap at least. */
#define NO_MISS 0.5
/* Bounds of the search for where one in twenty misses, one to the other. */
#define CLOSE 1.004
/* Part of that footprint which misses nothing where the edge is sharp: even of one way, one in
   twenty misses when the footprint is a fortieth too large. */
#define WELL_INSIDE 0.9
/* More placements on which a sharp edge must be the same; one where thin strings have shown so. */
#define AGAIN 2
#define ONCE  1
/* Where it is not, placements whose misses are averaged: more of a small structure, whose few
   pages make luck count for more; in units of all of them, where each placement tells much, and
   thinly, where it tells as much of a few. */
#define FEWEST_PLACEMENTS 6
#define MOST_PLACEMENTS   128
#define UNITS_IN_ALL      2e5
#define UNITS_THINLY      4e4
/* Placements that tell how far those lie apart; how near each is searched; and the footprints at
   which all are averaged, one standard deviation apart. */
#define SCOUTS   4
#define ROUGHLY  1.03
#define GRID     5
#define MIDDLE   2
#define NARROW   0.03
#define WIDEST   0.25
#define RECENTRE 8
/* Standard errors that hold 99 of 100. */
#define WIDE 2.6

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

struct search {
    const struct fm_counted_plan *plan;
    struct fm_curve *curve;
    size_t placed; /* bytes of the arena */
    bool thin;     /* large footprints are touched in part */
};

static bool place(struct fm_lab *lab, struct search *search, size_t bytes, struct fm_error *err)
{
    if (!fm_lab_place(lab, bytes, err))
        return false;
    search->placed = bytes;
    return true;
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
static size_t thinness(const struct fm_lab *lab, const struct search *search, size_t units)
{
    const size_t page = lab->machine->info.page_size / search->plan->unit;
    const size_t enough = enough_units(lab, search->plan);
    size_t thin = 1;
    while (search->thin && 2 * thin <= page && units / (2 * thin) >= enough)
        thin *= 2;
    return thin;
}

/* Misses in a lap over so many units from the arena's begin; `none` or fewer are none. */
static bool misses_over(struct fm_lab *lab, struct search *search, size_t units, double none,
                        double *misses, struct fm_error *err)
{
    const struct fm_counted_plan *plan = search->plan;
    const size_t thin = thinness(lab, search, units);
    const struct fm_swept_plan swept = {.bytes = units * plan->unit,
                                        .unit = thin * plan->unit,
                                        .page = lab->machine->info.page_size,
                                        .seed = lab->placement_seed};
    const struct fm_count_care care = {
        .bit = plan->bit, .none = none / (double)thin, .jumps = plan->jumps};
    struct fm_string string;
    if ((swept.bytes > search->placed && !place(lab, search, 2 * swept.bytes, err)) ||
        !fm_swept_string(&string, &swept, err) || !fm_count_lap(lab, &string, &care, misses, err))
        return false;
    /* Before thin strings are taken for all: what a meter pushed out may miss in the second lap. */
    *misses = *misses > NO_MISS ? *misses * (double)thin : 0;
    const double ratio = *misses / (double)units;
    return fm_curve_add(search->curve,
                        (struct fm_point){
                            .x = (double)swept.bytes, .y = ratio, .low = ratio, .high = ratio}) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
}

/* Doubles the footprint until it misses; *fits and *misses are units on both sides. */
static bool ascend(struct fm_lab *lab, struct search *search, size_t *fits, size_t *misses,
                   struct fm_error *err)
{
    const size_t last = (size_t)(search->plan->to / (double)search->plan->unit);
    size_t units = (size_t)ceil(search->plan->from / (double)search->plan->unit);
    *fits = *misses = 0;
    for (units = units ? units : 1; units <= last; units *= 2) {
        double each;
        if (!misses_over(lab, search, units, ONE_IN_TWENTY * (double)units, &each, err))
            return false;
        if (each > ONE_IN_TWENTY * (double)units) {
            *misses = units;
            return true;
        }
        *fits = units;
    }
    return true;
}

/* Halves the bracket until its ends are `step` units apart, or `closest` to each other as parts.
   `share` of the units may miss on the side that fits; 0: none. */
static bool halve(struct fm_lab *lab, struct search *search, size_t *fits, size_t *misses,
                  size_t step, double share, double closest, struct fm_error *err)
{
    while (*misses - *fits > step && (double)*misses > closest * (double)*fits) {
        const size_t middle = *fits + (*misses - *fits) / 2;
        const double none = fmax(share * (double)middle, NO_MISS);
        double each;
        if (!misses_over(lab, search, middle, none, &each, err))
            return false;
        if (each <= none)
            *fits = middle;
        else
            *misses = middle;
    }
    return true;
}

/* Whether on fresh pages, too, `units` fit and a step more do not. */
static bool holds_again(struct fm_lab *lab, struct search *search, size_t units, size_t step,
                        int times, bool *yes, struct fm_error *err)
{
    *yes = true;
    for (int i = 0; i < times && *yes; i++) {
        double within, beyond;
        if (!place(lab, search, search->placed, err) ||
            !misses_over(lab, search, units, NO_MISS, &within, err) ||
            !misses_over(lab, search, units + step, NO_MISS, &beyond, err))
            return false;
        *yes = within <= NO_MISS && beyond > NO_MISS;
    }
    return true;
}

/* Where one in twenty misses on this placement, roughly. */
static bool crossing_here(struct fm_lab *lab, struct search *search, double about, double *units,
                          struct fm_error *err)
{
    size_t fits = (size_t)(about / 2), misses = (size_t)(about * 2);
    if (!place(lab, search, misses * search->plan->unit, err) ||
        !halve(lab, search, &fits, &misses, 1, ONE_IN_TWENTY, ROUGHLY, err))
        return false;
    *units = sqrt((double)fits * (double)misses);
    return true;
}

/* How far apart placements are, so that the footprints to average at are chosen well: their middle
   and the ratio of one to the next. */
static bool choose_grid(struct fm_lab *lab, struct search *search, double *centre, double *ratio,
                        struct fm_error *err)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < SCOUTS; i++) {
        double units;
        if (!fm_lab_go_on(lab, lab->part, err) || !crossing_here(lab, search, *centre, &units, err))
            return false;
        sum += log(units) / SCOUTS;
        squares += log(units) * log(units) / SCOUTS;
    }
    const double spread = sqrt(fmax(0, squares - sum * sum));
    *centre = exp(sum);
    *ratio = exp(fmin(fmax(spread, NARROW), WIDEST));
    return true;
}

/* The part that misses at each footprint of the grid, on an average placement. */
struct grid {
    double units[GRID], mean[GRID], variance[GRID];
};

static bool sample_grid(struct fm_lab *lab, struct search *search, double centre, double ratio,
                        struct grid *grid, struct fm_error *err)
{
    const double each_lap = centre / (double)thinness(lab, search, (size_t)centre);
    const double in_all =
        fmin((search->thin ? UNITS_THINLY : UNITS_IN_ALL) / each_lap, MOST_PLACEMENTS);
    const unsigned placements = (unsigned)fmax(in_all, FEWEST_PLACEMENTS);
    double squares[GRID] = {0};
    *grid = (struct grid){.units = {0}};
    for (unsigned p = 0; p < placements; p++)
        for (int i = GRID; i-- > 0;) {
            const size_t units = (size_t)(centre * pow(ratio, i - MIDDLE));
            double each;
            if (i == GRID - 1 && !place(lab, search, (units + 1) * search->plan->unit, err))
                return false;
            if (!misses_over(lab, search, units, 0, &each, err))
                return false;
            const double part = each / (double)units;
            grid->units[i] = (double)units;
            grid->mean[i] += part / placements;
            squares[i] += part * part / placements;
        }
    for (int i = 0; i < GRID; i++)
        grid->variance[i] = fmax(0, squares[i] - grid->mean[i] * grid->mean[i]) / (placements - 1);
    return true;
}

/* Between which two footprints one in twenty is passed: the index of the first; -1 and GRID - 1
   where it is passed before or after all. */
static int passed_at(const struct grid *grid)
{
    int i = GRID - 1;
    while (i >= 0 && grid->mean[i] > ONE_IN_TWENTY)
        i--;
    return i;
}

static void read_grid(const struct grid *grid, int at, double unit, struct fm_counted *found)
{
    const double rise = grid->mean[at + 1] - grid->mean[at];
    const double run = grid->units[at + 1] - grid->units[at];
    const double share = (ONE_IN_TWENTY - grid->mean[at]) / rise;
    const double crossing = grid->units[at] + share * run;
    const double error =
        sqrt(fmax(grid->variance[at], grid->variance[at + 1])) * run / fmax(rise, 1e-9);
    const double wide = fmax(WIDE * error, 0.01 * crossing);
    found->bytes = found->effective = round(crossing) * unit;
    found->low = floor(fmax(0, crossing - wide)) * unit;
    found->high = ceil(crossing + wide) * unit;
}

/* Where one in twenty misses on an average placement. */
static bool average(struct fm_lab *lab, struct search *search, double centre,
                    struct fm_counted *found, struct fm_error *err)
{
    double ratio;
    struct grid grid;
    if (!choose_grid(lab, search, &centre, &ratio, err))
        return false;
    for (int round = 0; round < RECENTRE; round++) {
        if (!sample_grid(lab, search, centre, ratio, &grid, err))
            return false;
        const int at = passed_at(&grid);
        if (at >= 0 && at < GRID - 1) {
            read_grid(&grid, at, (double)search->plan->unit, found);
            return true;
        }
        centre = at < 0 ? grid.units[0] : grid.units[GRID - 1];
    }
    found->missed = false;
    return true;
}

/* The curve, to which more is added if it is there. */
static struct fm_curve *begin_curve(struct fm_lab *lab, const char *id)
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

static void finish_curve(struct fm_curve *curve, const struct fm_counted *found)
{
    fm_curve_sort(curve);
    if (found->missed) {
        curve->steps[0] = (struct fm_step){.x = found->bytes, .label = "fits"};
        curve->step_count = 1;
    }
}

/* The whole number of steps that fits, where a thin string of `none` units does: that or the next,
   since it may end within a step. */
static bool whole_steps(struct fm_lab *lab, struct search *search, size_t none, size_t step,
                        size_t *whole, struct fm_error *err)
{
    const size_t next = (none + step - 1) / step * step;
    double each;
    if (!misses_over(lab, search, next, NO_MISS, &each, err))
        return false;
    *whole = each > NO_MISS ? none / step * step : next;
    return true;
}

/* The largest footprint without a miss, if there is one that is the same wherever the pages lie.
   One in twenty misses with a few lines too many: none at all is a little further in. */
static bool find_sharp(struct fm_lab *lab, struct search *search, size_t fits, size_t misses,
                       struct fm_counted *found, struct fm_error *err)
{
    size_t none = (size_t)(WELL_INSIDE * (double)fits);
    double each;
    if (!misses_over(lab, search, none, NO_MISS, &each, err))
        return false;
    if (each > NO_MISS)
        return true;
    /* Thin strings show it to within what they leave out; to the unit it takes all of them. */
    const size_t step = thinness(lab, search, misses);
    const bool thin = search->thin;
    size_t whole = none;
    bool everywhere = true;
    if (step > 1 && (!halve(lab, search, &none, &misses, step, 0, 1, err) ||
                     !whole_steps(lab, search, none, step, &whole, err) ||
                     !holds_again(lab, search, whole, step, AGAIN, &everywhere, err)))
        return false;
    /* Where pages lie scattered, a few of them tell that already. */
    if (!everywhere)
        return true;
    search->thin = false;
    /* Nearly every structure holds a whole number of those steps. */
    bool good = step == 1 || holds_again(lab, search, whole, 1, ONCE, &found->sharp, err);
    if (good && found->sharp)
        none = whole;
    else
        good = good && halve(lab, search, &none, &misses, 1, 0, 1, err) &&
               holds_again(lab, search, none, 1, AGAIN, &found->sharp, err);
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
static bool compare(struct fm_lab *lab, struct search *search, size_t units, double alike,
                    double most, enum likeness *likeness, struct fm_error *err)
{
    const double few = FEW * (double)units;
    double thin, full;
    *likeness = ALIKE_BOTH;
    if (thinness(lab, search, units) == 1)
        return true;
    if (!misses_over(lab, search, units, few, &thin, err))
        return false;
    /* What misses within what was seen to fit was never a part of it: one set takes as many units
       from anywhere, and a footprint that is thinner by half has twice as many. */
    if (thin > most * (double)units) {
        *likeness = MORE_IN_FULL;
        return true;
    }
    search->thin = false;
    if (!misses_over(lab, search, units, few, &full, err))
        return false;
    search->thin = true;
    if (fabs(thin - full) > alike * fmin(thin, full) + few)
        *likeness = full > thin ? MORE_IN_FULL : FEWER_IN_FULL;
    return true;
}

/* The same before the edge and beyond it; what differs first counts. */
static bool compare_around(struct fm_lab *lab, struct search *search, double fits, double misses,
                           double alike, enum likeness *likeness, struct fm_error *err)
{
    const double unit = (double)search->plan->unit;
    return compare(lab, search, (size_t)(WELL_INSIDE * fits / unit), alike, MOST_WITHIN, likeness,
                   err) &&
           (*likeness != ALIKE_BOTH ||
            compare(lab, search, (size_t)(BEYOND * misses / unit), alike, INFINITY, likeness, err));
}

/* The shortest unit of which one of some misses as all do. Shorter ones than a line come to each
   line several times a lap, and miss less often then, so that is what it is; asked from above,
   where it costs least. *alike is false where no unit is, or shorter ones miss more often: the
   index is hashed, or there is one set, and the more there are the fewer fit. */
static bool find_grain(struct fm_lab *lab, struct search *search, struct fm_counted_plan *plan,
                       double fits, double misses, bool *alike, struct fm_error *err)
{
    const size_t shortest = search->plan->unit, page = lab->machine->info.page_size;
    const size_t longest = plan->longest_line < page / 2 ? plan->longest_line : page / 2;
    struct fm_counted_plan wide = *plan;
    struct search coarse = *search;
    enum likeness likeness = ALIKE_BOTH;
    bool tried = false;
    coarse.plan = &wide;
    for (size_t unit = longest; unit >= shortest && likeness == ALIKE_BOTH; unit /= 2) {
        wide.unit = unit;
        if (thinness(lab, &coarse, (size_t)(fits / (double)unit)) == 1 && unit > shortest)
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

/* Goes up and halves the bracket, thin; and in full where that is not alike. Ends are in units of
   the plan, which may be longer than they were. */
static bool bracket(struct fm_lab *lab, struct search *search, struct fm_counted_plan *plan,
                    size_t *fits, size_t *misses, struct fm_error *err)
{
    for (search->thin = true;; search->thin = false) {
        bool alike = false;
        if (!ascend(lab, search, fits, misses, err) ||
            (*misses && !halve(lab, search, fits, misses, 1, ONE_IN_TWENTY, CLOSE, err)))
            return false;
        if (!search->thin)
            return true;
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

static bool find_edge(struct fm_lab *lab, struct search *search, struct fm_counted_plan *plan,
                      struct fm_counted *found, struct fm_error *err)
{
    size_t fits, misses;
    if (!bracket(lab, search, plan, &fits, &misses, err))
        return false;
    found->missed = misses > 0;
    found->thin = thinness(lab, search, fits) > 1;
    found->grain = plan->unit;
    found->bytes = found->effective = (double)(fits * plan->unit);
    found->low = found->high = found->bytes;
    if (!misses)
        return true;
    return find_sharp(lab, search, fits, misses, found, err);
}

bool fm_counted_edge(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err)
{
    struct fm_counted_plan ours = *plan;
    struct search search = {.plan = &ours, .curve = begin_curve(lab, plan->curve)};
    if (!search.curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    const bool good = find_edge(lab, &search, &ours, found, err);
    finish_curve(search.curve, found);
    return good;
}

bool fm_counted_average(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    struct search search = {
        .plan = plan, .curve = begin_curve(lab, plan->curve), .thin = found->thin};
    if (!search.curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    const bool good = average(lab, &search, found->bytes / (double)plan->unit, found, err);
    finish_curve(search.curve, found);
    return good;
}
