#include "analysis/knees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/occupancy.h"

/* The shapes that are told apart; between them knees hardly differ. The first few are tried alone
   while places are still rough. */
static const struct {
    enum fm_knee_shape shape;
    unsigned ways;
} shapes[] = {
    {FM_KNEE_SCATTERED, 2},         {FM_KNEE_SCATTERED, 4},         {FM_KNEE_SCATTERED, 8},
    {FM_KNEE_SCATTERED, 16},        {FM_KNEE_CONTIGUOUS, 8},        {FM_KNEE_SCATTERED, 1},
    {FM_KNEE_SCATTERED, 3},         {FM_KNEE_SCATTERED, 5},         {FM_KNEE_SCATTERED, 6},
    {FM_KNEE_SCATTERED, 10},        {FM_KNEE_SCATTERED, 12},        {FM_KNEE_SCATTERED, 20},
    {FM_KNEE_SCATTERED, 24},        {FM_KNEE_SCATTERED, 32},        {FM_KNEE_CONTIGUOUS, 1},
    {FM_KNEE_CONTIGUOUS, 2},        {FM_KNEE_CONTIGUOUS, 4},        {FM_KNEE_CONTIGUOUS, 32},
    {FM_KNEE_SCATTERED_RANDOM, 2},  {FM_KNEE_SCATTERED_RANDOM, 4},  {FM_KNEE_SCATTERED_RANDOM, 8},
    {FM_KNEE_SCATTERED_RANDOM, 12}, {FM_KNEE_SCATTERED_RANDOM, 16}, {FM_KNEE_SCATTERED_RANDOM, 24},
};
#define SHAPES     (sizeof shapes / sizeof shapes[0])
#define FIRST_FEW  5
#define ANY_SHAPE  2

/* A shape as a table: miss ratio over the logarithm of the load. */
#define TABLE     128
#define LOAD_FROM (-4.0)
#define LOAD_TO   2.0

#define ROUNDS 4
/* Errors beyond which a point is wild, and how far does not matter. */
#define WILD 5.0
/* How much worse than the best, in squared errors, a knee may fit that is still in the interval: the
   99th percentile of what chance does to one parameter. */
#define SURE 6.6

struct problem {
    const struct fm_knee_curve *curve;
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
                knee_misses(shapes[shape].shape, shapes[shape].ways,
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

/* The heights that fit best with the knees as they stand; returns the mean square of the
   residuals, INFINITY when there are none. */
static double fit_heights(const struct problem *problem, double heights[FM_KNEES + 1])
{
    double a[FM_KNEES + 1][FM_KNEES + 2] = {{0}};
    const size_t size = problem->knees + 1;
    double parts[FM_KNEES + 1], sum = 0;
    for (size_t j = 0; j < problem->n; j++) {
        for (size_t i = 0; i < size; i++)
            parts[i] = served(problem, i, j) / (problem->curve->latency[j] * problem->curve->error[j]);
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
        const double residual = fmin(fabs(value / problem->curve->latency[j] - 1) / problem->curve->error[j], WILD);
        sum += residual * residual;
    }
    return sum / (double)problem->n;
}

static void place_knee(const struct problem *problem, size_t knee, size_t shape, double capacity)
{
    for (size_t j = 0; j < problem->n; j++)
        problem->misses[knee * problem->n + j] =
            look_up(problem->table[shape], log(problem->curve->bytes[j] / capacity));
}

/* Where a knee is looked for. */
struct search {
    double from, to, step; /* capacities */
    size_t shapes;         /* how many of the shapes are tried */
};

/* Called for every knee tried, with its mean square of residuals. */
typedef void tried(void *data, const struct fm_knee *knee, double error);

/* Tries the knees of a search in the place of one, the others as they stand. */
static void try_knees(struct problem *problem, size_t index, const struct search *search,
                      tried *note, void *data)
{
    double heights[FM_KNEES + 1];
    for (size_t shape = 0; shape < search->shapes; shape++)
        for (double capacity = search->from; capacity <= search->to; capacity *= search->step) {
            const struct fm_knee knee = {capacity, shapes[shape].ways, shapes[shape].shape, shape};
            place_knee(problem, index, shape, capacity);
            note(data, &knee, fit_heights(problem, heights));
        }
}

struct best {
    struct fm_knee knee;
    double error;
};

static void note_best(void *data, const struct fm_knee *knee, double error)
{
    struct best *best = data;
    if (error < best->error)
        *best = (struct best){*knee, error};
}

/* Puts the best knee of a search in its place. */
static double improve(struct problem *problem, size_t index, const struct search *search,
                      struct fm_knee *knee)
{
    struct best best = {{search->from, shapes[0].ways, shapes[0].shape, 0}, INFINITY};
    try_knees(problem, index, search, note_best, &best);
    *knee = best.knee;
    place_knee(problem, index, knee->row, knee->capacity);
    if (isfinite(best.error))
        fit_heights(problem, problem->heights);
    return best.error;
}

static bool begin(struct problem *problem, const struct fm_knee_curve *curve, size_t knees)
{
    *problem = (struct problem){.curve = curve, .n = curve->n, .knees = knees};
    problem->table = malloc(SHAPES * sizeof *problem->table);
    problem->misses = malloc(knees * curve->n * sizeof *problem->misses);
    if (!problem->table || !problem->misses)
        return false;
    fill_table(problem->table);
    return true;
}

static void end(struct problem *problem)
{
    free(problem->table);
    free(problem->misses);
}

bool fm_fit_knees(const struct fm_knee_curve *curve, const double *places, size_t count,
                  struct fm_knee_fit *fit)
{
    struct problem problem;
    if (count == 0 || count > FM_KNEES || curve->n < 3 * count)
        return false;
    const bool good = begin(&problem, curve, count);
    double error = INFINITY;
    for (size_t i = 0; i < count && good; i++)
        place_knee(&problem, i, ANY_SHAPE, places[i]);
    for (int round = 0; round < ROUNDS && good; round++) {
        const double wide = round == 0 ? 2.5 : round == 1 ? 1.5 : 1.15;
        const double step = round == 0 ? 1.12 : round == 1 ? 1.05 : 1.015;
        for (size_t i = count; i-- > 0;) {
            const double middle = round == 0 ? places[i] : fit->knees[i].capacity;
            const struct search search = {middle / wide, middle * wide, step,
                                          round == 0 ? FIRST_FEW : SHAPES};
            error = improve(&problem, i, &search, &fit->knees[i]);
        }
    }
    if (good) {
        fit->count = count;
        fit->error = sqrt(error);
        memcpy(fit->heights, problem.heights, sizeof fit->heights);
    }
    end(&problem);
    return good && isfinite(error);
}

double fm_knee_crossing(const struct fm_knee *knee, double misses)
{
    double low = knee->capacity / 64, high = knee->capacity * 8;
    while (high / low > 1.0001) {
        const double middle = sqrt(low * high);
        *(fm_knee_misses(knee, middle) > misses ? &high : &low) = middle;
    }
    return low;
}

/* The crossings of all knees that fit nearly as well as the best. */
struct range {
    double misses, worst; /* the greatest error that still is nearly as good */
    double low, high;
};

static void note_range(void *data, const struct fm_knee *knee, double error)
{
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
        struct range range = {misses, fit->error * fit->error * (1 + SURE / freedom), at, at};
        for (size_t i = 0; i < fit->count; i++)
            place_knee(&problem, i, fit->knees[i].row, fit->knees[i].capacity);
        const struct search search = {knee->capacity / 1.5, knee->capacity * 1.5, 1.02, SHAPES};
        try_knees(&problem, index, &search, note_range, &range);
        *low = range.low;
        *high = range.high;
    }
    end(&problem);
    return good;
}
