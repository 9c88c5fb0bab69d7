/* Where one reference in twenty misses on an average placement, by a counter: of structures that no
 * edge is sharp of, since pages lie scattered over their sets. */
#include <math.h>

#include "probe/counted_search.h"
#include "probe/lab.h"

/* Placements whose misses are averaged: more of a small structure, whose few pages make luck count
   for more; in units of all of them, where each placement tells much, and thinly, where it tells as
   much of a few. */
#define FEWEST_PLACEMENTS 4
#define MOST_PLACEMENTS   512
#define UNITS_IN_ALL      2e5
#define UNITS_THINLY      4e4
/* Placements on which the first or the last footprint of a grid must be too large or too small
   before another is drawn up, of the half of all that there are. */
#define MOST_DOUBT 8
/* Placements that tell how far those lie apart; how near each is searched; and the footprints at
   which all are averaged, one standard deviation apart. */
#define SCOUTS 4
/* … two of which may tell as much; of so many pages none need be sent out, and how far apart they
   are is not known. */
#define FEW_SCOUTS 2
#define MANY_UNITS 32768
#define MANY_PAGES 256
#define ROUGHLY    1.03
#define GRID       6
#define MIDDLE     2.5
#define NARROW     0.03
#define UNKNOWN    0.06
#define WIDEST     0.25
#define RECENTRE   8
/* Standard errors that hold 99 of 100, and how much more it takes where they come of few readings,
   by Student's distribution; the least width of the interval to either side, as a part;
   and placements after which what luck makes of less than that is known to. */
#define WIDE        2.6
#define FEW_WIDER   3
#define LEAST_WIDTH 0.01
#define ENOUGH      6
/* Times as many placements as it takes on an average to meet one with a set that is too full, after
   which one has been met 99 times of 100. */
#define RARE 4.6
/* A rise that readings do not show. */
#define LEAST_SLOPE 1e-12

/* Where one in twenty misses on this placement, roughly. */
static bool crossing_here(struct fm_lab *lab, struct fm_count_search *search, double about,
                          double *units, struct fm_error *err)
{
    size_t fits = (size_t)(about / 2), misses = (size_t)(about * 2);
    if (!fm_count_place(lab, search, misses * search->plan->unit, err) ||
        !fm_count_halve(lab, search, &fits, &misses, 1, FM_ONE_IN_TWENTY, ROUGHLY, err))
        return false;
    *units = sqrt((double)fits * (double)misses);
    return true;
}

/* How far apart placements are, so that the footprints to average at are chosen well: their middle
   and the ratio of one to the next. */
static bool choose_grid(struct fm_lab *lab, struct fm_count_search *search, double *centre,
                        double *ratio, struct fm_error *err)
{
    double sum = 0, squares = 0, spread = 0;
    *ratio = exp(UNKNOWN);
    if (*centre * (double)search->plan->unit > MANY_PAGES * (double)lab->machine->info.page_size)
        return true;
    int scouts = 0;
    while (scouts < SCOUTS && (scouts < FEW_SCOUTS || spread > NARROW)) {
        double units;
        if (!fm_lab_go_on(lab, lab->part, err) || !crossing_here(lab, search, *centre, &units, err))
            return false;
        scouts++;
        sum += log(units);
        squares += log(units) * log(units);
        spread = sqrt(fmax(0, squares / scouts - sum / scouts * sum / scouts));
        /* Of so many units luck is less, and two tell. */
        if (scouts == FEW_SCOUTS && *centre > MANY_UNITS)
            break;
    }
    *centre = exp(sum / scouts);
    *ratio = exp(fmin(fmax(spread, NARROW), WIDEST));
    return true;
}

/* The part that misses at each footprint of the grid, on an average placement. */
struct grid {
    double units[GRID], mean[GRID], variance[GRID];
    unsigned placements[GRID];
    double sum[GRID], squares[GRID];
    double least; /* part that ever missed; 0: none did yet */
};

/* The pair of footprints to ask after this one: nearer to where one in twenty is passed; -1 and
   GRID - 1 where that is before or after all. */
static int next_pair(const struct grid *grid, int at)
{
    if (grid->mean[at] > FM_ONE_IN_TWENTY)
        return at - 1;
    return grid->mean[at + 1] <= FM_ONE_IN_TWENTY ? at + 1 : at;
}

static void add_part(struct grid *grid, int i, double part)
{
    const double n = ++grid->placements[i];
    grid->sum[i] += part;
    grid->squares[i] += part * part;
    grid->mean[i] = grid->sum[i] / n;
    if (part > 0 && (grid->least == 0 || part < grid->least))
        grid->least = part;
    grid->variance[i] =
        n > 1 ? fmax(0, grid->squares[i] / n - grid->mean[i] * grid->mean[i]) / (n - 1) : 0;
}

/* A footprint and the one before, each on a placement of its own: pseudo-LRU that another string
   left behind, though all of this one comes anew, misses less often than on fresh pages. */
static bool sample_pair(struct fm_lab *lab, struct fm_count_search *search, struct grid *grid,
                        int at, struct fm_error *err)
{
    for (int i = at + 1; i >= at; i--) {
        const size_t units = (size_t)grid->units[i];
        double each;
        if (!fm_count_place(lab, search, (units + 1) * search->plan->unit, err) ||
            !fm_misses_over(lab, search, units, 0, &each, err))
            return false;
        add_part(grid, i, each / (double)units);
    }
    return true;
}

static unsigned fewer_placements(const struct grid *grid, int at)
{
    return grid->placements[at] < grid->placements[at + 1] ? grid->placements[at]
                                                           : grid->placements[at + 1];
}

/* How far off a mean may be, 99 times of 100: few placements tell little of how far they lie apart;
   and where too full a set is rare, one more placement could have been the one that has it. */
static double error_of(const struct grid *grid, int i)
{
    const double n = grid->placements[i];
    return fmax(WIDE * (1 + FEW_WIDER / fmax(1, n - 1)) * sqrt(grid->variance[i]),
                RARE * grid->least / n);
}

/* How the part that misses rises from a unit to the next, by all footprints that were asked, each
   for as much as its placements tell. */
static double slope_of(const struct grid *grid)
{
    double weight = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < GRID; i++) {
        const double n = grid->placements[i];
        weight += n;
        x += n * grid->units[i];
        y += n * grid->mean[i];
        xx += n * grid->units[i] * grid->units[i];
        xy += n * grid->units[i] * grid->mean[i];
    }
    return fmax((weight * xy - x * y) / (weight * xx - x * x), LEAST_SLOPE);
}

/* Where one in twenty is passed, and the interval that holds it 99 times of 100, in units. */
struct passing {
    double at, low, high;
    bool sure; /* no placements more would make it narrower */
};

/* Known as well as what misses at the two footprints around it. */
static struct passing passing_at(const struct grid *grid, int at)
{
    const double rise = grid->mean[at + 1] - grid->mean[at];
    const double run = grid->units[at + 1] - grid->units[at];
    const double share = (FM_ONE_IN_TWENTY - grid->mean[at]) / rise;
    const double units = grid->units[at] + share * run;
    const double error = fmax(error_of(grid, at), error_of(grid, at + 1)) / slope_of(grid);
    const double wide = fmin(fmax(error, LEAST_WIDTH * units), units / 2);
    return (struct passing){.at = units,
                            .low = units - wide,
                            .high = units + wide,
                            .sure = error < LEAST_WIDTH * units &&
                                    fewer_placements(grid, at) >= ENOUGH};
}

/* Asks pairs of footprints until one in twenty is passed between them for sure: *at. Ends with
 *passed false where that is before or after the grid, or does not settle. */
static bool sample_grid(struct fm_lab *lab, struct fm_count_search *search, double centre,
                        double ratio, struct grid *grid, int *at, bool *passed,
                        struct fm_error *err)
{
    const double each_lap = centre / (double)fm_count_thinness(lab, search, (size_t)centre);
    const double in_all =
        fmin((search->thin ? UNITS_THINLY : UNITS_IN_ALL) / each_lap, MOST_PLACEMENTS);
    const unsigned placements = (unsigned)fmax(in_all, FEWEST_PLACEMENTS);
    *grid = (struct grid){.units = {0}};
    for (int i = 0; i < GRID; i++)
        grid->units[i] = floor(centre * pow(ratio, i - MIDDLE));
    const unsigned doubt = placements / 2 < MOST_DOUBT ? placements / 2 : MOST_DOUBT;
    *at = (int)MIDDLE;
    *passed = false;
    for (unsigned p = 1; p <= 2 * placements && *at >= 0 && *at < GRID - 1 && !*passed; p++) {
        if (!sample_pair(lab, search, grid, *at, err))
            return false;
        const int next = next_pair(grid, *at);
        if ((next < 0 || next == GRID - 1) && fewer_placements(grid, *at) < doubt)
            continue;
        *passed = next == *at && (p >= placements || passing_at(grid, *at).sure);
        *at = next;
    }
    return true;
}

static void read_grid(const struct grid *grid, int at, double unit, struct fm_counted *found)
{
    const struct passing passing = passing_at(grid, at);
    /* A line that is not known may be two units, of which one alone misses. */
    const double sooner = found->line ? 0 : FM_ONE_IN_TWENTY / 2 / slope_of(grid);
    found->bytes = found->effective = round(passing.at) * unit;
    found->low = floor(fmax(passing.low - sooner, passing.at / 2)) * unit;
    found->high = ceil(passing.high) * unit;
}

/* Where one in twenty misses on an average placement. */
static bool average(struct fm_lab *lab, struct fm_count_search *search, double centre,
                    struct fm_counted *found, struct fm_error *err)
{
    double ratio;
    struct grid grid;
    if (!choose_grid(lab, search, &centre, &ratio, err))
        return false;
    for (int round = 0; round < RECENTRE; round++) {
        int at;
        bool passed;
        if (!sample_grid(lab, search, centre, ratio, &grid, &at, &passed, err))
            return false;
        if (passed) {
            read_grid(&grid, at, (double)search->plan->unit, found);
            return true;
        }
        /* Scouts that agree by luck are far from it: the next grid is wider. */
        centre = grid.units[at < 0 ? 0 : at];
        ratio = fmin(ratio * ratio, exp(WIDEST));
    }
    found->missed = false;
    return true;
}

bool fm_counted_average(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    struct fm_count_search search = {
        .plan = plan, .curve = fm_count_begin(lab, plan->curve), .thin = found->thin};
    if (!search.curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    const bool good = average(lab, &search, found->bytes / (double)plan->unit, found, err);
    fm_count_finish(search.curve, found);
    return good;
}
