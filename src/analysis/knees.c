#include "analysis/knees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/knee_table.h"

/* How the knees are looked for: from roughly, with few sorts, to closely. */
static const struct {
    bool rough;
    double wide, step; /* capacities around where the knee stands */
    double wild;       /* errors beyond which a point is wild, and how far does not matter; at first
                          the knees are, not the points */
} rounds[] = {
    {true, 2.5, 1.12, 25},   {false, 2, 1.1, 25},   {false, 1.4, 1.05, 10},
    {false, 1.15, 1.015, 5}, {false, 1.1, 1.01, 5},
};
#define ROUNDS (sizeof rounds / sizeof rounds[0])
/* How far a knee can be from its rough place, which lies half way up its rise. */
#define FAR_OFF 3
/* How much worse than the best, in squared errors, a knee may fit that is still in the interval:
   the 99th percentile of what chance does to one parameter. */
#define SURE 6.6
/* Neighbouring points share their placements: so many of them are one witness. */
#define TOGETHER 3

struct problem {
    const struct fm_knee_curve *curve;
    size_t n, knees;
    double wild;
    struct fm_knee_table *table;
    size_t sorts[FM_KNEES]; /* of the knees as they stand */
    double *misses;         /* misses[i * n + j]: knee i at point j, for the knees as they stand */
    double heights[FM_KNEES + 1];
};

/* The part of the references at point j that level i serves. */
static double served(const struct problem *problem, size_t i, size_t j)
{
    const double above = i == 0 ? 1 : problem->misses[(i - 1) * problem->n + j];
    const double here = i == problem->knees ? 0 : problem->misses[i * problem->n + j];
    return fmax(0, above - here);
}

/* Solves a small symmetric system in place by elimination; false when it is singular. */
static bool solve(double a[FM_KNEES + 1][FM_KNEES + 2], size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (fabs(a[i][i]) < 1e-12)
            return false;
        for (size_t k = i + 1; k < size; k++) {
            const double factor = a[k][i] / a[i][i];
            for (size_t j = i; j <= size; j++)
                a[k][j] -= factor * a[i][j];
        }
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; k++)
            a[i][size] -= a[i][k] * a[k][size];
        a[i][size] /= a[i][i];
    }
    return true;
}

/* The heights that fit best with the knees as they stand; returns the mean square of the
   residuals, INFINITY when there are none. */
static double fit_heights(const struct problem *problem, double heights[FM_KNEES + 1])
{
    double a[FM_KNEES + 1][FM_KNEES + 2] = {{0}};
    const size_t size = problem->knees + 1;
    double parts[FM_KNEES + 1], sum = 0;
    for (size_t j = 0; j < problem->n; j++) {
        for (size_t i = 0; i < size; i++)
            parts[i] =
                served(problem, i, j) / (problem->curve->latency[j] * problem->curve->error[j]);
        for (size_t i = 0; i < size; i++) {
            for (size_t k = 0; k < size; k++)
                a[i][k] += parts[i] * parts[k];
            a[i][size] += parts[i] / problem->curve->error[j];
        }
    }
    if (!solve(a, size))
        return INFINITY;
    for (size_t i = 0; i < size; i++) {
        heights[i] = a[i][size];
        if (heights[i] <= 0 || (i > 0 && heights[i] < heights[i - 1]))
            return INFINITY;
    }
    for (size_t j = 0; j < problem->n; j++) {
        double value = 0;
        for (size_t i = 0; i < size; i++)
            value += heights[i] * served(problem, i, j);
        /* Bounded, so that a few wild points do not rule the fit. */
        const double residual = fmin(
            fabs(value / problem->curve->latency[j] - 1) / problem->curve->error[j], problem->wild);
        sum += residual * residual;
    }
    return sum / (double)problem->n;
}

static void place_knee(const struct problem *problem, size_t index, size_t sort, double capacity)
{
    fm_knee_table_misses(problem->table, sort, capacity, problem->curve->bytes, problem->n,
                         &problem->misses[index * problem->n]);
}

/* Where a knee is looked for. */
struct search {
    double from, to, step; /* capacities */
    size_t sorts;          /* how many are tried */
    bool soft;             /* none of contiguous pages */
};

/* Called for every knee tried, with its mean square of residuals. */
typedef void tried(void *data, const struct fm_knee *knee, size_t sort, double error);

/* Tries the knees of a search in the place of one, the others as they stand. */
static void try_knees(struct problem *problem, size_t index, const struct search *search,
                      tried *note, void *data)
{
    double heights[FM_KNEES + 1];
    for (size_t sort = 0; sort < search->sorts; sort++) {
        if (search->soft &&
            fm_knee_of_sort(problem->table, sort, search->from).shape == FM_KNEE_CONTIGUOUS)
            continue;
        for (double capacity = search->from; capacity <= search->to; capacity *= search->step) {
            const struct fm_knee knee = fm_knee_of_sort(problem->table, sort, capacity);
            place_knee(problem, index, sort, capacity);
            note(data, &knee, sort, fit_heights(problem, heights));
        }
    }
}

struct best {
    struct fm_knee knee;
    size_t sort;
    double error;
};

static void note_best(void *data, const struct fm_knee *knee, size_t sort, double error)
{
    struct best *best = data;
    if (error < best->error)
        *best = (struct best){*knee, sort, error};
}

/* Puts the best knee of a search in its place. */
static double improve(struct problem *problem, size_t index, const struct search *search,
                      struct fm_knee *knee)
{
    struct best best = {fm_knee_of_sort(problem->table, 0, search->from), 0, INFINITY};
    try_knees(problem, index, search, note_best, &best);
    *knee = best.knee;
    problem->sorts[index] = best.sort;
    place_knee(problem, index, best.sort, knee->capacity);
    if (isfinite(best.error))
        fit_heights(problem, problem->heights);
    return best.error;
}

static bool begin(struct problem *problem, const struct fm_knee_curve *curve, size_t knees)
{
    *problem = (struct problem){.curve = curve, .n = curve->n, .knees = knees};
    problem->table = fm_knee_table_new(curve->page);
    problem->misses = malloc(knees * curve->n * sizeof *problem->misses);
    return problem->table && problem->misses;
}

static void end(struct problem *problem)
{
    fm_knee_table_free(problem->table);
    free(problem->misses);
}

bool fm_fit_knees(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                  size_t count, struct fm_knee_fit *fit)
{
    struct problem problem;
    if (count == 0 || count > FM_KNEES || curve->n < 3 * count)
        return false;
    const bool good = begin(&problem, curve, count);
    double error = INFINITY;
    for (size_t i = 0; i < count && good; i++)
        place_knee(&problem, i, 0, places[i].bytes);
    for (size_t round = 0; round < ROUNDS && good; round++) {
        const double wide = rounds[round].wide;
        problem.wild = rounds[round].wild;
        for (size_t i = count; i-- > 0;) {
            const double middle = round == 0 ? places[i].bytes : fit->knees[i].capacity;
            const double least = fmax(places[i].bytes / FAR_OFF, i > 0 ? places[i - 1].bytes : 0);
            const double most =
                fmin(places[i].bytes * FAR_OFF, i + 1 < count ? places[i + 1].bytes : INFINITY);
            const struct search search = {
                fmax(middle / wide, least), fmin(middle * wide, most), rounds[round].step,
                rounds[round].rough ? fm_knee_rough_sorts() : fm_knee_sorts(), places[i].soft};
            error = improve(&problem, i, &search, &fit->knees[i]);
        }
    }
    if (good) {
        fit->count = count;
        fit->error = sqrt(error);
        memcpy(fit->heights, problem.heights, sizeof fit->heights);
        memcpy(fit->sorts, problem.sorts, sizeof fit->sorts);
        for (size_t i = 0; i < count; i++)
            fit->soft[i] = places[i].soft;
    }
    end(&problem);
    return good && isfinite(error);
}

/* The crossings of all knees that fit nearly as well as the best. */
struct range {
    double misses, worst; /* the greatest error that still is nearly as good */
    double low, high;
};

static void note_range(void *data, const struct fm_knee *knee, size_t sort, double error)
{
    (void)sort;
    struct range *range = data;
    if (error > range->worst)
        return;
    const double at = fm_knee_crossing(knee, range->misses);
    range->low = fmin(range->low, at);
    range->high = fmax(range->high, at);
}

bool fm_knee_crossing_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                            size_t index, double misses, double *low, double *high)
{
    struct problem problem;
    const bool good = begin(&problem, curve, fit->count);
    if (good) {
        const struct fm_knee *knee = &fit->knees[index];
        const double at = fm_knee_crossing(knee, misses);
        const double freedom = fmax(1, (double)curve->n - 3 * (double)fit->count);
        struct range range = {misses, fit->error * fit->error * (1 + SURE * TOGETHER / freedom), at,
                              at};
        problem.wild = rounds[ROUNDS - 1].wild;
        for (size_t i = 0; i < fit->count; i++)
            place_knee(&problem, i, fit->sorts[i], fit->knees[i].capacity);
        const struct search search = {knee->capacity / 1.5, knee->capacity * 1.5, 1.02,
                                      fm_knee_sorts(), fit->soft[index]};
        try_knees(&problem, index, &search, note_range, &range);
        *low = range.low;
        *high = range.high;
    }
    end(&problem);
    return good;
}
