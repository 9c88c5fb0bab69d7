/* Steps behind noise: never falling, no more of them than the readings show, and where they are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/monotone_steps.h"
#include "core/rng.h"
#include "synthetic.h"

#define N 120

static size_t count_steps(const double *fit, size_t n)
{
    size_t steps = 1;
    for (size_t i = 1; i < n; i++) {
        assert_true(fit[i] >= fit[i - 1]);
        steps += fit[i] > fit[i - 1];
    }
    return steps;
}

static void keeps_what_is_exact(void **state)
{
    (void)state;
    const double y[] = {0, 0, 1, 1, 1.01, 5, 5}, error[] = {1, 1, 1, 1, 1, 1, 1};
    double fit[7];
    assert_true(fm_monotone_steps(y, error, 7, fit));
    for (size_t i = 0; i < 7; i++)
        assert_true(fit[i] == y[i]);
}

static void finds_two_steps_in_noise(void **state)
{
    (void)state;
    struct fm_rng rng;
    unsigned good = 0;
    fm_rng_seed(&rng, 3);
    for (int trial = 0; trial < 200; trial++) {
        double y[N], error[N], fit[N];
        const size_t edge = 30 + fm_rng_below(&rng, 60);
        for (size_t i = 0; i < N; i++) {
            const double truth = i < edge ? 2 : 5;
            error[i] = 1 + 0.01 * (double)i;
            y[i] = truth + 0.3 * error[i] * synthetic_normal(&rng);
        }
        assert_true(fm_monotone_steps(y, error, N, fit));
        assert_true(count_steps(fit, N) <= 4);
        /* The ends of each step are as good as its middle. */
        good += fabs(fit[0] - 2) < 0.4 && fabs(fit[edge - 8] - 2) < 0.6 &&
                fabs(fit[edge + 8] - 5) < 0.6 && fabs(fit[N - 1] - 5) < 0.6;
    }
    assert_true(good >= 190);
}

static void wild_readings_move_nothing(void **state)
{
    (void)state;
    double y[N], error[N], fit[N];
    struct fm_rng rng;
    fm_rng_seed(&rng, 9);
    for (size_t i = 0; i < N; i++) {
        y[i] = 1 + 0.01 * synthetic_normal(&rng);
        error[i] = 1;
    }
    y[20] = 60;
    y[90] = -60;
    assert_true(fm_monotone_steps(y, error, N, fit));
    assert_true(fabs(fit[40] - 1) < 0.02 && fabs(fit[70] - 1) < 0.02);
}

static void takes_few_readings_as_they_are(void **state)
{
    (void)state;
    double y = 3;
    const double error = 1;
    assert_true(fm_monotone_steps(&y, &error, 0, &y));
    assert_true(fm_monotone_steps(&y, &error, 1, &y));
    assert_true(y == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_exact),
        cmocka_unit_test(finds_two_steps_in_noise),
        cmocka_unit_test(wild_readings_move_nothing),
        cmocka_unit_test(takes_few_readings_as_they_are),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
