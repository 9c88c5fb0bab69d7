/* The fast step fit against one that tries everything. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/stepfit.h"
#include "core/rng.h"

#define MOST       60
#define MOST_STEPS 8

static double height_of(const double *y, const double *weight, size_t from, size_t to, bool top)
{
    double sum = 0, mass = 0;
    for (size_t i = from; i <= to; i++) {
        sum += (weight ? weight[i] : 1) * y[i];
        mass += weight ? weight[i] : 1;
    }
    return top ? y[to] : sum / mass;
}

static double cost_of(const double *y, const double *weight, size_t from, size_t to, bool top)
{
    double height = height_of(y, weight, from, to, top), cost = 0;
    for (size_t i = from; i <= to; i++)
        cost += (weight ? weight[i] : 1) * (y[i] - height) * (y[i] - height);
    return cost;
}

/* Every cut, every sum afresh. */
static double reference(const double *y, const double *weight, size_t n, size_t steps, bool top)
{
    double cost[MOST_STEPS][MOST];
    for (size_t s = 0; s < steps; s++)
        for (size_t j = 0; j < n; j++) {
            cost[s][j] = s == 0 ? cost_of(y, weight, 0, j, top) : INFINITY;
            for (size_t i = s; s > 0 && i <= j; i++)
                cost[s][j] = fmin(cost[s][j], cost[s - 1][i - 1] + cost_of(y, weight, i, j, top));
        }
    return cost[steps - 1][n - 1];
}

static void draw(struct fm_rng *rng, size_t n, double *y, double *weight)
{
    double value = 100 * fm_rng_unit(rng);
    for (size_t i = 0; i < n; i++) {
        uint64_t kind = fm_rng_below(rng, 10);
        value += kind == 0 ? 50 * fm_rng_unit(rng) : kind < 5 ? fm_rng_unit(rng) : 0;
        y[i] = value;
        weight[i] = 0.1 + fm_rng_unit(rng);
    }
}

static void check_one(const double *y, const double *weight, size_t n, size_t steps, bool top)
{
    size_t ends[MOST_STEPS];
    double heights[MOST_STEPS], error, sum = 0;
    assert_true((top ? fm_step_fit_top : fm_step_fit)(y, weight, n, steps, ends, heights, &error));
    double least = reference(y, weight, n, steps, top);
    assert_true(fabs(error - least) <= 1e-9 * (1 + least));
    assert_int_equal(ends[steps - 1], n - 1);
    for (size_t s = 0, from = 0; s < steps; from = ends[s++] + 1) {
        assert_true(ends[s] >= from && ends[s] < n);
        assert_true(fabs(heights[s] - height_of(y, weight, from, ends[s], top)) < 1e-9);
        sum += cost_of(y, weight, from, ends[s], top);
    }
    assert_true(fabs(error - sum) <= 1e-9 * (1 + least));
}

static void same_cost_as_brute_force(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 3);
    for (int trial = 0; trial < 600; trial++) {
        double y[MOST], weight[MOST];
        size_t n = 1 + fm_rng_below(&rng, MOST), steps = 1 + fm_rng_below(&rng, MOST_STEPS);
        draw(&rng, n, y, weight);
        if (steps > n)
            steps = n;
        check_one(y, trial % 3 ? NULL : weight, n, steps, trial % 2);
    }
}

static void clean_steps_come_back(void **state)
{
    (void)state;
    double y[] = {4, 4, 4, 10, 10, 38, 38, 38, 190}, heights[4], error;
    size_t ends[4];
    assert_true(fm_step_fit(y, NULL, 9, 4, ends, heights, &error));
    const size_t expected[] = {2, 4, 7, 8};
    assert_memory_equal(ends, expected, sizeof expected);
    assert_true(heights[0] == 4 && heights[1] == 10 && heights[2] == 38 && heights[3] == 190);
    assert_true(error == 0);
}

/* The published fit leaves a plateau at the first sign of a slope; least squares alone does not. */
static void top_leaves_early(void **state)
{
    (void)state;
    double y[] = {10, 10, 10, 10, 10, 10, 10, 10, 12, 15, 20, 28, 36, 40, 40, 40, 40, 40};
    size_t mean[2], top[2];
    assert_true(fm_step_fit(y, NULL, 18, 2, mean, NULL, NULL));
    assert_true(fm_step_fit_top(y, NULL, 18, 2, top, NULL, NULL));
    assert_true(top[0] < mean[0]);
}

static void large_offsets_lose_no_digits(void **state)
{
    (void)state;
    double y[] = {1e9, 1e9, 1e9 + 1, 1e9 + 1, 1e9 + 2}, error;
    size_t ends[3];
    assert_true(fm_step_fit(y, NULL, 5, 3, ends, NULL, &error));
    assert_int_equal(ends[0], 1);
    assert_int_equal(ends[1], 3);
    assert_true(error == 0);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    double up[] = {1, 2, 3}, down[] = {1, 3, 2}, nan[] = {1, NAN, 3};
    size_t ends[4];
    assert_false(fm_step_fit(up, NULL, 3, 0, ends, NULL, NULL));
    assert_false(fm_step_fit(up, NULL, 3, 4, ends, NULL, NULL));
    assert_false(fm_step_fit(up, NULL, 0, 1, ends, NULL, NULL));
    assert_false(fm_step_fit(down, NULL, 3, 2, ends, NULL, NULL));
    assert_false(fm_step_fit(nan, NULL, 3, 2, ends, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_cost_as_brute_force), cmocka_unit_test(clean_steps_come_back),
        cmocka_unit_test(top_leaves_early),         cmocka_unit_test(large_offsets_lose_no_digits),
        cmocka_unit_test(refuses_nonsense),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
