#include "analysis/stepfit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Sums over the points before index i, with y taken from its middle so that little cancels. */
struct prefix {
    double weight, sum, square;
};

struct fit {
    const struct prefix *prefix;
    const double *y;
    double middle;
    bool top;             /* height is the last point, not the mean */
    const double *before; /* before[i]: least cost of points 0..i in one step fewer */
    double *now;
    uint32_t *first; /* first[j]: where the last step of the best fit of 0..j begins */
};

/* Cost of one step over points i..j. */
static double run_cost(const struct fit *fit, size_t i, size_t j)
{
    const struct prefix *a = &fit->prefix[i], *b = &fit->prefix[j + 1];
    double weight = b->weight - a->weight, sum = b->sum - a->sum, square = b->square - a->square;
    double height = fit->top ? fit->y[j] - fit->middle : sum / weight;
    double cost = square - 2 * height * sum + height * height * weight;
    return cost > 0 ? cost : 0;
}

/* Fills now[] and first[] for ends from..to-1, whose last step is known to begin in low..high. */
static void fill(struct fit *fit, size_t from, size_t to, size_t low, size_t high)
{
    if (from >= to)
        return;
    size_t j = from + (to - from) / 2, best = low;
    double least = INFINITY;
    for (size_t i = low; i <= high && i <= j; i++) {
        double cost = fit->before[i - 1] + run_cost(fit, i, j);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    fit->now[j] = least;
    fit->first[j] = (uint32_t)best;
    fill(fit, from, j, low, best);
    fill(fit, j + 1, to, best, high);
}

static bool is_sorted(const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(y[i]) || (i > 0 && y[i] < y[i - 1]))
            return false;
    return true;
}

static void accumulate(const double *y, const double *weight, size_t n, double middle,
                       struct prefix *prefix)
{
    prefix[0] = (struct prefix){0};
    for (size_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1, d = y[i] - middle;
        prefix[i + 1] = (struct prefix){prefix[i].weight + w, prefix[i].sum + w * d,
                                        prefix[i].square + w * d * d};
    }
}

/* Walks the cuts back from the last point, and sums each run's cost afresh: prefix sums choose
   well, but their differences lose digits. */
static void read_back(const struct fit *fit, const double *weight, const uint32_t *firsts, size_t n,
                      size_t steps, size_t *ends, double *heights, double *error)
{
    double total = 0;
    size_t end = n - 1;
    for (size_t s = steps; s-- > 0;) {
        size_t begin = s > 0 ? firsts[s * n + end] : 0;
        double sum = 0, mass = 0;
        for (size_t i = begin; i <= end; i++) {
            double w = weight ? weight[i] : 1;
            sum += w * (fit->y[i] - fit->middle);
            mass += w;
        }
        double height = fit->top ? fit->y[end] : fit->middle + sum / mass;
        for (size_t i = begin; i <= end; i++)
            total += (weight ? weight[i] : 1) * (fit->y[i] - height) * (fit->y[i] - height);
        ends[s] = end;
        if (heights)
            heights[s] = height;
        end = begin - 1;
    }
    if (error)
        *error = total;
}

static bool step_fit(const double *y, const double *weight, size_t n, size_t steps, bool top,
                     size_t *ends, double *heights, double *error)
{
    if (steps == 0 || steps > n || n > UINT32_MAX || !is_sorted(y, n))
        return false;
    struct prefix *prefix = malloc((n + 1) * sizeof *prefix);
    double *costs = malloc(2 * n * sizeof *costs);
    uint32_t *firsts = calloc(steps * n, sizeof *firsts);
    bool done = prefix && costs && firsts;
    if (done) {
        struct fit fit = {.prefix = prefix, .y = y, .middle = y[n / 2], .top = top};
        accumulate(y, weight, n, fit.middle, prefix);
        for (size_t j = 0; j < n; j++)
            costs[j] = run_cost(&fit, 0, j);
        for (size_t s = 1; s < steps; s++) {
            fit.before = costs + (s - 1) % 2 * n;
            fit.now = costs + s % 2 * n;
            fit.first = firsts + s * n;
            fill(&fit, s, n, s, n - 1);
        }
        read_back(&fit, weight, firsts, n, steps, ends, heights, error);
    }
    free(firsts);
    free(costs);
    free(prefix);
    return done;
}

bool fm_step_fit(const double *y, const double *weight, size_t n, size_t steps, size_t *ends,
                 double *heights, double *error)
{
    return step_fit(y, weight, n, steps, false, ends, heights, error);
}

bool fm_step_fit_top(const double *y, const double *weight, size_t n, size_t steps, size_t *ends,
                     double *heights, double *error)
{
    return step_fit(y, weight, n, steps, true, ends, heights, error);
}
