/* Where a miss ratio passes 5%, and how often the interval holds the truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/crossing.h"
#include "analysis/occupancy.h"
#include "core/rng.h"

#define LEVEL 0.05

static void follows_a_known_line(void **state)
{
    (void)state;
    /* misses 0.01 per octave: 5% after five octaves */
    double k[9], misses[27];
    for (int i = 0; i < 9; i++) {
        k[i] = exp2(10 + i * 1.25);
        misses[i] = 0.0125 * i;
        misses[9 + i] = misses[i] + 0.01;  /* luck one way ... */
        misses[18 + i] = misses[i] - 0.01; /* ... and the other */
    }
    struct fm_placements data = {k, 9, misses, 3};
    struct fm_crossing crossing;
    assert_true(fm_find_crossing(&data, LEVEL, 0.9, 200, 1, &crossing));
    assert_true(crossing.inside);
    assert_true(fabs(log2(crossing.at) - 15) < 1e-9);
    assert_true(crossing.low < crossing.at && crossing.at < crossing.high);
}

static void a_dip_is_no_crossing_back(void **state)
{
    (void)state;
    double k[] = {1, 2, 4, 8, 16, 32}, misses[] = {0, 0, 0.06, 0.02, 0.4, 1};
    struct fm_placements data = {k, 6, misses, 1};
    struct fm_crossing crossing;
    assert_true(fm_find_crossing(&data, LEVEL, 0.99, 100, 1, &crossing));
    /* 0.06 and 0.02 are pooled to 0.04; then on the way to 0.4 */
    assert_true(fabs(log2(crossing.at) - (3 + 0.01 / 0.36)) < 1e-9);
    assert_true(crossing.low == 1 && crossing.high == 32); /* one placement: nothing known */
}

static void says_when_it_lies_outside(void **state)
{
    (void)state;
    double k[] = {1, 2, 4}, below[] = {0, 0, 0.01, 0, 0, 0.02},
           above[] = {0.2, 0.3, 1, 0.1, 0.3, 1};
    struct fm_placements data = {k, 3, below, 2};
    struct fm_crossing crossing;
    assert_true(fm_find_crossing(&data, LEVEL, 0.99, 50, 1, &crossing));
    assert_false(crossing.inside);
    assert_true(crossing.at == 4 && isinf(crossing.high));
    data.misses = above;
    assert_true(fm_find_crossing(&data, LEVEL, 0.99, 50, 1, &crossing));
    assert_false(crossing.inside);
    assert_true(crossing.at == 1 && crossing.low == 0);
    data.count = 0;
    assert_false(fm_find_crossing(&data, LEVEL, 0.99, 50, 1, &crossing));
}

static void missing_values_are_left_out(void **state)
{
    (void)state;
    double k[] = {1, 2, 4, 8};
    double misses[] = {0, 0, NAN, 0.1, /**/ 0, NAN, NAN, 0.1, /**/ NAN, 0, NAN, 0.1};
    struct fm_placements data = {k, 4, misses, 3};
    struct fm_crossing crossing;
    assert_true(fm_find_crossing(&data, LEVEL, 0.99, 50, 1, &crossing));
    assert_true(crossing.inside);
    assert_true(fabs(log2(crossing.at) - 2) < 1e-9); /* half way from 2 to 8 */
}

#define COLOURS    32u
#define WAYS       8u
#define POINTS     24
#define PLACEMENTS 8

/* One placement of every footprint on its own random pages. */
static void place(struct fm_rng *rng, const double *pages, double *misses)
{
    for (size_t i = 0; i < POINTS; i++) {
        unsigned held[COLOURS] = {0}, count = (unsigned)pages[i], missing = 0;
        for (unsigned p = 0; p < count; p++)
            held[fm_rng_below(rng, COLOURS)]++;
        for (unsigned c = 0; c < COLOURS; c++)
            missing += held[c] > WAYS ? held[c] : 0;
        misses[i] = (double)missing / count;
    }
}

static void the_interval_holds_the_truth(void **state)
{
    (void)state;
    double pages[POINTS], misses[PLACEMENTS * POINTS];
    for (size_t i = 0; i < POINTS; i++)
        pages[i] = floor(40 * exp2((double)i / 8));
    double truth = (double)fm_occupancy_pages(LEVEL, COLOURS, WAYS);
    struct fm_rng rng;
    fm_rng_seed(&rng, 8);
    int trials = 300, inside = 0;
    double width = 0;
    for (int t = 0; t < trials; t++) {
        for (size_t j = 0; j < PLACEMENTS; j++)
            place(&rng, pages, misses + j * POINTS);
        struct fm_placements data = {pages, POINTS, misses, PLACEMENTS};
        struct fm_crossing crossing;
        assert_true(fm_find_crossing(&data, LEVEL, 0.95, 200, (uint64_t)t, &crossing));
        inside += crossing.low <= truth + 1 && truth <= crossing.high;
        width += log2(crossing.high / crossing.low) / trials;
    }
    printf("# 95%% intervals hold the truth in %.1f%%, mean width %.2f octaves\n",
           100.0 * inside / trials, width);
    assert_true(inside >= 0.91 * trials);
    assert_true(width < 0.5);
}

static void same_seed_same_interval(void **state)
{
    (void)state;
    double k[] = {1, 2, 4}, misses[] = {0, 0.04, 1, 0, 0.09, 1, 0.02, 0.06, 1};
    struct fm_placements data = {k, 3, misses, 3};
    struct fm_crossing a, b;
    assert_true(fm_find_crossing(&data, LEVEL, 0.9, 100, 5, &a));
    assert_true(fm_find_crossing(&data, LEVEL, 0.9, 100, 5, &b));
    assert_true(a.at == b.at && a.low == b.low && a.high == b.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_known_line),
        cmocka_unit_test(a_dip_is_no_crossing_back),
        cmocka_unit_test(says_when_it_lies_outside),
        cmocka_unit_test(missing_values_are_left_out),
        cmocka_unit_test(the_interval_holds_the_truth),
        cmocka_unit_test(same_seed_same_interval),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
