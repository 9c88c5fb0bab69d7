/* Isotonic regression against what its definition says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/isotonic.h"
#include "core/rng.h"

#define MOST 40

static void draw(struct fm_rng *rng, size_t n, double *y, double *weight)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = 0.1 * (double)i + 4 * fm_rng_unit(rng);
        if (fm_rng_below(rng, 4) == 0)
            y[i] = floor(y[i]); /* ties */
        weight[i] = 0.1 + fm_rng_unit(rng);
    }
}

static double mean(const double *y, const double *weight, size_t from, size_t to)
{
    double sum = 0, mass = 0;
    for (size_t i = from; i <= to; i++) {
        sum += y[i] * (weight ? weight[i] : 1);
        mass += weight ? weight[i] : 1;
    }
    return sum / mass;
}

/* The fit at i is the largest over all beginnings of the smallest over all ends of the mean. */
static double by_definition(const double *y, const double *weight, size_t n, size_t i)
{
    double most = -INFINITY;
    for (size_t a = 0; a <= i; a++) {
        double least = INFINITY;
        for (size_t b = i; b < n; b++)
            least = fmin(least, mean(y, weight, a, b));
        most = fmax(most, least);
    }
    return most;
}

static void least_squares(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    for (int trial = 0; trial < 200; trial++) {
        double y[MOST], weight[MOST], fit[MOST];
        size_t n = 1 + fm_rng_below(&rng, MOST);
        draw(&rng, n, y, weight);
        const double *used = trial % 2 ? weight : NULL;
        assert_true(fm_isotonic(y, used, n, fit));
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(fit[i] - by_definition(y, used, n, i)) < 1e-9);
    }
}

static double deviation(const double *y, const double *weight, const double *fit, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += weight[i] * fabs(y[i] - fit[i]);
    return sum;
}

/* The least sum of absolute deviations: the best fit takes only values that occur in y. */
static double least_deviation(const double *y, const double *weight, size_t n)
{
    double cost[MOST] = {0}; /* cost[v]: so far, when the fit has not passed y[v] */
    for (size_t i = 0; i < n; i++) {
        double next[MOST];
        for (size_t v = 0; v < n; v++) {
            next[v] = INFINITY;
            for (size_t w = 0; w < n; w++)
                if (y[w] <= y[v])
                    next[v] = fmin(next[v], cost[w] + weight[i] * fabs(y[i] - y[w]));
        }
        for (size_t v = 0; v < n; v++)
            cost[v] = next[v];
    }
    double least = INFINITY;
    for (size_t v = 0; v < n; v++)
        least = fmin(least, cost[v]);
    return least;
}

static void least_absolute(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 2);
    for (int trial = 0; trial < 200; trial++) {
        double y[MOST], weight[MOST], fit[MOST];
        size_t n = 1 + fm_rng_below(&rng, MOST);
        draw(&rng, n, y, weight);
        for (size_t i = 0; trial % 2 && i < n; i++)
            weight[i] = 1;
        assert_true(fm_isotonic_median(y, trial % 2 ? NULL : weight, n, fit));
        for (size_t i = 1; i < n; i++)
            assert_true(fit[i] >= fit[i - 1]);
        double least = least_deviation(y, weight, n);
        assert_true(fabs(deviation(y, weight, fit, n) - least) <= 1e-9 * (1 + least));
    }
}

static void sorted_stays(void **state)
{
    (void)state;
    double y[] = {1, 1, 2, 5, 5, 9}, fit[6];
    assert_true(fm_isotonic(y, NULL, 6, fit));
    assert_memory_equal(y, fit, sizeof y);
    assert_true(fm_isotonic_median(y, NULL, 6, fit));
    assert_memory_equal(y, fit, sizeof y);
}

static void falling_becomes_its_mean(void **state)
{
    (void)state;
    double y[] = {9, 4, 2}, weight[] = {1, 1, 2};
    assert_true(fm_isotonic(y, weight, 3, y)); /* in place */
    for (int i = 0; i < 3; i++)
        assert_true(fabs(y[i] - 4.25) < 1e-12);
    assert_true(fm_isotonic(y, NULL, 0, y));
}

static void an_outlier_moves_nothing(void **state)
{
    (void)state;
    double y[] = {1, 1, 50, 1, 1, 7, 7}, fit[7];
    assert_true(fm_isotonic_median(y, NULL, 7, fit));
    for (int i = 0; i < 7; i++)
        assert_true(fit[i] == (i < 5 ? 1 : 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_squares),
        cmocka_unit_test(least_absolute),
        cmocka_unit_test(sorted_stays),
        cmocka_unit_test(falling_becomes_its_mean),
        cmocka_unit_test(an_outlier_moves_nothing),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
