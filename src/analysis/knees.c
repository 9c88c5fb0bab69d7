#include "analysis/knees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/occupancy.h"

/* Ways that are told apart; between them the shapes hardly differ. */
static const unsigned ways_tried[] = {1, 2, 3, 4, 6, 8, 11, 16, 24, 32};
#define WAYS   (sizeof ways_tried / sizeof ways_tried[0])
#define SHAPES (3 * WAYS)

/* A shape as a table: miss ratio over the logarithm of the load. */
#define TABLE     128
#define LOAD_FROM (-4.0)
#define LOAD_TO   2.0

#define ROUNDS 4

struct problem {
    const double *bytes, *latency;
    size_t n, knees;
    double (*table)[TABLE]; /* one row to a shape */
    double *misses;         /* misses[i * n + j]: knee i at point j, for the knees as they stand */
    double heights[FM_KNEES + 1];
};

/* The part of the references to n lines in a set of so many ways that miss when a victim is picked
   at random: a line stays while none of the misses since its last use hit it. Policies between this
   and LRU have knees in between. */
static double random_victims(double n, double ways)
{
    if (n <= ways)
        return 0;
    const double stay = log1p(-1 / fmax(ways, 1.0001));
    double misses = 1;
    for (int i = 0; i < 12; i++)
        misses = -expm1(stay * misses * n);
    return misses;
}

/* Random placement and random victims: the mean over how many lines share a set with a line. */
static double scattered_random(double load, unsigned ways)
{
    const double mean = load * ways;
    double chance = exp(-mean), within = 0, sum = 0;
    for (unsigned others = 0; within < 0.9999 && others < 1000; others++) {
        if (chance > 1e-6)
            sum += chance * random_victims(others + 1, ways);
        within += chance;
        chance *= mean / (others + 1);
    }
    return fmin(1, sum + (1 - within));
}

static double knee_misses(enum fm_knee_shape shape, unsigned ways, double load)
{
    switch (shape) {
    case FM_KNEE_SCATTERED:
        return fm_occupancy_misses_poisson(load, ways);
    case FM_KNEE_SCATTERED_RANDOM:
        return scattered_random(load, ways);
    case FM_KNEE_CONTIGUOUS:
        break;
    }
    /* Sets overflow one after the other, from full to one line more each. */
    const double over = (load - 1) * ways;
    return over <= 0 ? 0 : fmin(1, over * (1 + 1.0 / ways) / load);
}

static void fill_table(double (*table)[TABLE])
{
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < TABLE; i++)
            table[shape][i] =
                knee_misses((enum fm_knee_shape)(shape / WAYS), ways_tried[shape % WAYS],
                            exp(LOAD_FROM + (LOAD_TO - LOAD_FROM) * (double)i / (TABLE - 1)));
}

static double look_up(const double row[TABLE], double load_log)
{
    const double at = (load_log - LOAD_FROM) / (LOAD_TO - LOAD_FROM) * (TABLE - 1);
    if (at <= 0)
        return row[0];
    if (at >= TABLE - 1)
        return 1;
    const size_t i = (size_t)at;
    const double part = at - (double)i;
    return row[i] * (1 - part) + row[i + 1] * part;
}

double fm_knee_misses(const struct fm_knee *knee, double bytes)
{
    return knee_misses(knee->shape, knee->ways, bytes / knee->capacity);
}

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

/* The heights that fit best with the knees as they stand; returns the mean square of the relative
   residuals, INFINITY when there are none. */
static double fit_heights(const struct problem *problem, double heights[FM_KNEES + 1])
{
    double a[FM_KNEES + 1][FM_KNEES + 2] = {{0}};
    const size_t size = problem->knees + 1;
    double parts[FM_KNEES + 1], sum = 0;
    for (size_t j = 0; j < problem->n; j++) {
        for (size_t i = 0; i < size; i++)
            parts[i] = served(problem, i, j) / problem->latency[j];
        for (size_t i = 0; i < size; i++) {
            for (size_t k = 0; k < size; k++)
                a[i][k] += parts[i] * parts[k];
            a[i][size] += parts[i];
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
        const double residual = fmin(fabs(value / problem->latency[j] - 1), 0.2);
        sum += residual * residual;
    }
    return sum / (double)problem->n;
}

static void place_knee(const struct problem *problem, size_t knee, size_t shape, double capacity)
{
    for (size_t j = 0; j < problem->n; j++)
        problem->misses[knee * problem->n + j] =
            look_up(problem->table[shape], log(problem->bytes[j] / capacity));
}

/* The best shape and capacity of one knee, the others as they stand. */
static double improve(struct problem *problem, size_t knee, struct fm_knee *best, double from,
                      double to, double step)
{
    double least = INFINITY, heights[FM_KNEES + 1], capacity_best = from;
    size_t shape_best = 0;
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (double capacity = from; capacity <= to; capacity *= step) {
            place_knee(problem, knee, shape, capacity);
            const double error = fit_heights(problem, heights);
            if (error < least) {
                least = error;
                shape_best = shape;
                capacity_best = capacity;
            }
        }
    place_knee(problem, knee, shape_best, capacity_best);
    if (isfinite(least))
        fit_heights(problem, problem->heights);
    *best = (struct fm_knee){capacity_best, ways_tried[shape_best % WAYS],
                             (enum fm_knee_shape)(shape_best / WAYS)};
    return least;
}

bool fm_fit_knees(const double *bytes, const double *latency, size_t n, const double *places,
                  size_t count, struct fm_knee_fit *fit)
{
    if (count == 0 || count > FM_KNEES || n < 3 * count)
        return false;
    struct problem problem = {.bytes = bytes, .latency = latency, .n = n, .knees = count};
    problem.table = malloc(SHAPES * sizeof *problem.table);
    problem.misses = malloc(count * n * sizeof *problem.misses);
    bool good = problem.table && problem.misses;
    double error = INFINITY;
    if (good) {
        fill_table(problem.table);
        for (size_t i = 0; i < count; i++)
            place_knee(&problem, i, FM_KNEE_CONTIGUOUS * WAYS + WAYS / 2, places[i]);
        for (int round = 0; round < ROUNDS; round++) {
            const double wide = round == 0 ? 2.5 : round == 1 ? 1.5 : 1.15;
            const double step = round == 0 ? 1.12 : round == 1 ? 1.05 : 1.015;
            for (size_t i = count; i-- > 0;) {
                const double middle = round == 0 ? places[i] : fit->knees[i].capacity;
                error = improve(&problem, i, &fit->knees[i], middle / wide, middle * wide, step);
            }
        }
        fit->count = count;
        fit->error = sqrt(error);
        memcpy(fit->heights, problem.heights, sizeof fit->heights);
    }
    free(problem.table);
    free(problem.misses);
    return good && isfinite(error);
}
