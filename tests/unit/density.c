/* Smoothing and density peaks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/density.h"
#include "analysis/smooth.h"
#include "core/rng.h"

#define N 400

static void smoothing_keeps_a_constant_and_a_line(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 4);
    double x[N], flat[N], line[N], out[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i * 0.05 + 0.04 * fm_rng_unit(&rng);
        flat[i] = 3;
        line[i] = 2 * x[i];
    }
    fm_smooth(x, flat, N, 0.7, out);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(out[i] - 3) < 1e-12);
    fm_smooth(x, line, N, 0.5, out);
    for (size_t i = 100; i < N - 100; i++)
        assert_true(fabs(out[i] - line[i]) < 0.02);
}

/* A Gaussian of deviation a, smoothed with deviation b, is one of deviation hypot(a, b). */
static void smoothing_has_the_right_width(void **state)
{
    (void)state;
    double x[N], y[N], out[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i * 0.05 - 10;
        y[i] = exp(-x[i] * x[i] / 2);
    }
    fm_smooth(x, y, N, 0.75, out);
    for (size_t i = 0; i < N; i++) {
        double wide = 1.25;
        assert_true(fabs(out[i] - exp(-x[i] * x[i] / (2 * wide * wide)) / wide) < 1e-4);
    }
}

/* A step seen by a grid ten times as dense on one side comes out the same. */
static void dense_samples_do_not_pull(void **state)
{
    (void)state;
    double x[220], y[220], out[220];
    size_t n = 0;
    for (int i = 0; i < 20; i++)
        x[n++] = i * 0.1 - 2;
    for (int i = 0; i < 200; i++)
        x[n++] = i * 0.01;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < -0.05 ? 0 : 1;
    fm_smooth(x, y, n, 0.5, out);
    assert_true(fabs(out[20] - 0.5) < 0.06); /* at x = 0, where the step is */
}

static void no_sigma_copies(void **state)
{
    (void)state;
    double x[] = {1, 2, 4}, y[] = {5, 3, 8}, out[3];
    fm_smooth(x, y, 3, 0, out);
    assert_memory_equal(y, out, sizeof y);
}

static void two_plateaus_two_peaks(void **state)
{
    (void)state;
    double x[N], y[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i * 0.05;
        y[i] = i < 300 ? 2 : 5; /* 15 octaves at 2, 5 octaves at 5 */
    }
    struct fm_peak peaks[4];
    assert_int_equal(fm_density_peaks(x, y, N, 0.2, peaks, 4), 2);
    assert_true(fabs(peaks[0].position - 2) < 0.02 && fabs(peaks[1].position - 5) < 0.02);
    double unit = 1 / (0.2 * sqrt(2 * acos(-1)));
    assert_true(fabs(peaks[0].height - 0.75 * unit) < 0.01);
    assert_true(fabs(peaks[1].height - 0.25 * unit) < 0.01);
    assert_true(fabs(peaks[0].prominence - peaks[0].height) < 1e-12);
    assert_true(fabs(peaks[1].prominence - peaks[1].height) < 1e-3);
}

/* The same curve, sampled ten times as often on its shorter plateau, has the same peaks. */
static void peaks_count_width_not_points(void **state)
{
    (void)state;
    double x[N], y[N];
    size_t n = 0;
    for (int i = 0; i < 50; i++)
        x[n++] = 0.1 * i;
    for (int i = 0; i < 100; i++)
        x[n++] = 5 + 0.01 * i;
    for (size_t i = 0; i < n; i++)
        y[i] = i < 50 ? 1 : 3;
    struct fm_peak peaks[2];
    assert_int_equal(fm_density_peaks(x, y, n, 0.2, peaks, 2), 2);
    assert_true(fabs(peaks[0].height / peaks[1].height - 5) < 0.3);
}

static void a_saddle_makes_prominence(void **state)
{
    (void)state;
    double x[200], y[200];
    for (size_t i = 0; i < 200; i++) {
        x[i] = (double)i;
        y[i] = i < 120 ? 0 : 3.5;
    }
    struct fm_peak peaks[3];
    assert_int_equal(fm_density_peaks(x, y, 200, 1, peaks, 3), 2);
    assert_true(peaks[1].prominence < 0.8 * peaks[1].height);
    assert_true(peaks[1].prominence > 0.1 * peaks[1].height);
    assert_int_equal(fm_density_peaks(x, y, 200, 3, peaks, 3), 1);
}

static void more_peaks_than_room(void **state)
{
    (void)state;
    double x[] = {0, 1, 2}, y[] = {0, 10, 20};
    struct fm_peak peak;
    assert_int_equal(fm_density_peaks(x, y, 3, 0.5, &peak, 1), 3);
    assert_true(fabs(peak.position) < 0.1);
    assert_int_equal(fm_density_peaks(x, y, 3, 0.5, NULL, 0), 3);
    y[1] = NAN;
    assert_int_equal(fm_density_peaks(x, y, 3, 0.5, &peak, 1), 0);
    assert_int_equal(fm_density_peaks(x, y, 0, 0.5, &peak, 1), 0);
    assert_int_equal(fm_density_peaks(x, y, 1, 0, &peak, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smoothing_keeps_a_constant_and_a_line),
        cmocka_unit_test(smoothing_has_the_right_width),
        cmocka_unit_test(dense_samples_do_not_pull),
        cmocka_unit_test(no_sigma_copies),
        cmocka_unit_test(two_plateaus_two_peaks),
        cmocka_unit_test(peaks_count_width_not_points),
        cmocka_unit_test(a_saddle_makes_prominence),
        cmocka_unit_test(more_peaks_than_room),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
