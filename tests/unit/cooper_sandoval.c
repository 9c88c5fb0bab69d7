/* The published analysis on curves like those it was made for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "analysis/cooper_sandoval.h"
#include "analysis/levels.h"
#include "synthetic.h"

#define MOST 16

static size_t analyse(const struct synthetic *s, double add, bool whole,
                      struct fm_published_level *levels)
{
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    synthetic_draw(s, &rng, &curve);
    for (size_t i = 0; i < curve.n; i++)
        curve.latency[i] *= add;
    return fm_cooper_sandoval(curve.bytes, curve.latency, curve.n, add, whole, levels, MOST);
}

/* Shapes of some of the paper's processors, at its four points per octave. */
static const struct synthetic machines[] = {
    {.levels = 4,
     .capacity = {32768, 262144, 8388608},
     .latency = {4, 10, 38, 190},
     .knee = {KNEE_SHARP, KNEE_POISSON, KNEE_POISSON},
     .ways = {8, 8, 16},
     .from = 4096,
     .to = 1 << 26,
     .per_octave = 4},
    {.levels = 4,
     .capacity = {65536, 524288, 2097152},
     .latency = {3, 12, 46, 200},
     .knee = {KNEE_SHARP, KNEE_POISSON, KNEE_POISSON},
     .ways = {2, 16, 32},
     .from = 4096,
     .to = 1 << 26,
     .per_octave = 4},
    {.levels = 5,
     .capacity = {32768, 262144, 4 << 20, 32 << 20},
     .latency = {1, 6, 15, 51, 150},
     .knee = {KNEE_SHARP, KNEE_POISSON, KNEE_POISSON, KNEE_POISSON},
     .ways = {8, 8, 8, 8},
     .from = 4096,
     .to = 1 << 28,
     .per_octave = 4},
    {.levels = 3,
     .capacity = {32768, 1 << 20},
     .latency = {2, 20, 80},
     .knee = {KNEE_SHARP, KNEE_SHARP},
     .ways = {8, 2},
     .from = 4096,
     .to = 1 << 25,
     .per_octave = 4},
};

static void counts_the_levels(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int whole = 0; whole < 2; whole++) {
            struct fm_published_level levels[MOST];
            size_t count = analyse(&machines[m], 0.4, whole, levels);
            assert_int_equal(count, machines[m].levels);
            assert_true(fabs(levels[0].capacity - machines[m].capacity[0]) < 1);
            for (size_t l = 0; l + 1 < count; l++) {
                /* conservative: never above the true capacity, nor absurdly below */
                assert_true(levels[l].capacity <= machines[m].capacity[l] + 1);
                assert_true(levels[l].capacity >= machines[m].capacity[l] * 0.45);
                assert_true(levels[l].height >= machines[m].latency[l] - 0.01);
                assert_true(levels[l].height < machines[m].latency[l + 1]);
            }
        }
}

static void whole_adds_are_whole(void **state)
{
    (void)state;
    struct synthetic s = machines[3];
    s.latency[0] = 2.3;
    s.latency[1] = 20.4;
    struct fm_published_level levels[MOST];
    assert_int_equal(analyse(&s, 0.4, true, levels), 3);
    assert_true(fabs(levels[0].height - 2) < 1e-12 && fabs(levels[1].height - 20) < 1e-9);
    assert_int_equal(analyse(&s, 0.4, false, levels), 3);
    assert_true(fabs(levels[0].height - 2.3) < 1e-9);
}

/* A step ends where its curve still has the step's height, and soft steps end early. */
static void a_step_ends_before_the_slope(void **state)
{
    (void)state;
    struct fm_published_level levels[MOST];
    assert_int_equal(analyse(&machines[0], 0.4, false, levels), 4);
    for (size_t l = 0; l < 4; l++)
        assert_true(fabs(levels[l].height / synthetic_latency(&machines[0], levels[l].capacity) -
                         1) < 1e-9);
    assert_true(levels[1].capacity < 0.7 * machines[0].capacity[1]);
    assert_true(levels[2].capacity < 0.7 * machines[0].capacity[2]);
}

static void nonsense_has_no_levels(void **state)
{
    (void)state;
    double bytes[] = {1, 2, 3}, latency[] = {1, 2, 3}, zero[] = {1, 0, 3};
    struct fm_published_level level;
    assert_int_equal(fm_cooper_sandoval(bytes, latency, 0, 1, true, &level, 1), 0);
    assert_int_equal(fm_cooper_sandoval(bytes, latency, 3, 0, true, &level, 1), 0);
    assert_int_equal(fm_cooper_sandoval(bytes, zero, 3, 1, false, &level, 1), 0);
    assert_int_equal(fm_cooper_sandoval(bytes, latency, 3, 1, true, &level, 0), 0);
    assert_int_equal(fm_cooper_sandoval(bytes, latency, 1, 1, true, &level, 1), 1);
}

/* Both analyses on the same curves, for the record. */
static void beside_our_own(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    unsigned theirs = 0, ours = 0, curves = 500;
    for (unsigned seed = 0; seed < curves; seed++) {
        struct fm_rng rng;
        struct synthetic s;
        fm_rng_seed(&rng, seed);
        synthetic_any(&rng, 4, 1.4, &s);
        s.noise = seed % 2 * 0.01;
        synthetic_draw(&s, &rng, &curve);
        struct fm_published_level published[MOST];
        struct fm_level levels[MOST];
        theirs += fm_cooper_sandoval(curve.bytes, curve.latency, curve.n, 1, false, published,
                                     MOST) == s.levels;
        ours += fm_read_levels(curve.bytes, curve.latency, curve.error, curve.n, levels, MOST) ==
                s.levels;
    }
    printf("# levels right: published analysis %.1f%%, default analysis %.1f%% of %u curves\n",
           100.0 * theirs / curves, 100.0 * ours / curves, curves);
    assert_true(theirs >= 0.8 * curves);
    assert_true(ours >= theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_levels),
        cmocka_unit_test(whole_adds_are_whole),
        cmocka_unit_test(a_step_ends_before_the_slope),
        cmocka_unit_test(nonsense_has_no_levels),
        cmocka_unit_test(beside_our_own),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
