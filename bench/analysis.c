/* The step fit beside the complexity it replaces: the same dynamic programme with every cut tried
   and every sum taken afresh, O(M n^3). A ratio, so that the machine does not matter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/levels.h"
#include "analysis/stepfit.h"
#include "core/rng.h"
#include "goal.h"

#define POINTS 500
#define STEPS  5

static double seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static double run_cost(const double *y, size_t from, size_t to)
{
    double sum = 0, cost = 0;
    for (size_t i = from; i <= to; i++)
        sum += y[i];
    double mean = sum / (double)(to - from + 1);
    for (size_t i = from; i <= to; i++)
        cost += (y[i] - mean) * (y[i] - mean);
    return cost;
}

static double cubic_fit(const double *y)
{
    static double cost[STEPS][POINTS];
    for (size_t s = 0; s < STEPS; s++)
        for (size_t j = 0; j < POINTS; j++) {
            cost[s][j] = s == 0 ? run_cost(y, 0, j) : INFINITY;
            for (size_t i = s; s > 0 && i <= j; i++)
                cost[s][j] = fmin(cost[s][j], cost[s - 1][i - 1] + run_cost(y, i, j));
        }
    return cost[STEPS - 1][POINTS - 1];
}

int main(void)
{
    static double x[POINTS], y[POINTS];
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    double value = 4;
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = exp2(12 + (double)i / 32);
        y[i] = value *= 1 + (fm_rng_below(&rng, 12) == 0 ? 0.1 : 0.001) * fm_rng_unit(&rng);
    }

    double error = 0, begin = seconds();
    const int repeats = 200;
    size_t ends[STEPS];
    for (int r = 0; r < repeats; r++)
        if (!fm_step_fit(y, NULL, POINTS, STEPS, ends, NULL, &error))
            return EXIT_FAILURE;
    double fast = (seconds() - begin) / repeats;

    begin = seconds();
    double least = cubic_fit(y);
    double slow = seconds() - begin;
    if (fabs(error - least) > 1e-9 * (1 + least))
        return EXIT_FAILURE;

    struct fm_level levels[16];
    begin = seconds();
    for (int r = 0; r < repeats; r++)
        fm_read_levels(x, y, NULL, POINTS, levels, 16);
    double read = (seconds() - begin) / repeats;

    goal_at_least("step fit, 500 points, beside the cubic one", slow / fast, "times", 1);
    goal_at_least("reading levels, 500 points, beside the same", slow / read, "times", 1);
    return EXIT_SUCCESS;
}
