/* The cost of translation by the number of pages, read into levels of TLBs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/tlb_steps.h"
#include "core/rng.h"
#include "synthetic.h"

#define MOST_LEVELS 3
#define MOST_POINTS 64
#define ERROR       0.05

struct curve {
    struct fm_tlb_point points[MOST_POINTS];
    size_t n;
};

/* One level: pages it holds, those that it holds hardly any of, and what a miss costs then. */
struct level {
    double held, missed, cost;
};

/* Four points to an octave, as the probe draws them. */
static struct curve draw(const struct level *levels, size_t count, double to)
{
    struct curve curve = {.n = 0};
    for (double x = 2; x <= to && curve.n < MOST_POINTS; x = fmax(floor(x) + 1, x * exp2(0.25))) {
        const double pages = floor(x);
        double cost = 0, before = 0;
        for (size_t i = 0; i < count; i++) {
            const double part = (pages - levels[i].held) / (levels[i].missed - levels[i].held);
            cost += fmin(1, fmax(0, part)) * (levels[i].cost - before);
            before = levels[i].cost;
        }
        curve.points[curve.n++] = (struct fm_tlb_point){pages, cost, ERROR};
    }
    return curve;
}

static size_t read_steps(const struct curve *curve, struct fm_tlb_step *steps)
{
    return fm_read_tlb_steps(curve->points, curve->n, steps, MOST_LEVELS);
}

/* The step brackets the level, and no other point would do so closer. */
static void expect_step(const struct curve *curve, const struct fm_tlb_step *step,
                        const struct level *level, double cost_before)
{
    double held = 0, missed = 0;
    for (size_t i = 0; i < curve->n; i++)
        if (curve->points[i].pages <= level->held)
            held = curve->points[i].pages;
    for (size_t i = curve->n; i-- > 0;)
        if (curve->points[i].pages >= level->missed)
            missed = curve->points[i].pages;
    assert_true(step->held == held);
    assert_true(step->missed == missed);
    assert_true(fabs(step->cost - level->cost) <= ERROR);
    assert_true(fabs(step->cost_before - cost_before) <= ERROR);
}

static void one_level_is_one_step(void **state)
{
    (void)state;
    const struct level levels[] = {{16, 17, 30}, {64, 80, 7}, {48, 49, 12}, {512, 640, 25}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const struct curve curve = draw(&levels[i], 1, 8192);
        struct fm_tlb_step steps[MOST_LEVELS];
        assert_int_equal(read_steps(&curve, steps), 1);
        expect_step(&curve, &steps[0], &levels[i], 0);
    }
}

static void two_levels_are_two_steps(void **state)
{
    (void)state;
    const struct level levels[] = {{64, 65, 7}, {1536, 1664, 30}};
    const struct curve curve = draw(levels, 2, 8192);
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 2);
    expect_step(&curve, &steps[0], &levels[0], 0);
    expect_step(&curve, &steps[1], &levels[1], 7);
}

static void three_levels_are_cut_to_what_is_asked_for(void **state)
{
    (void)state;
    const struct level levels[] = {{16, 17, 2}, {128, 160, 9}, {1024, 1280, 40}};
    const struct curve curve = draw(levels, 3, 8192);
    struct fm_tlb_step steps[MOST_LEVELS] = {0};
    for (size_t most = 0; most <= MOST_LEVELS; most++)
        assert_int_equal(fm_read_tlb_steps(curve.points, curve.n, steps, most), most);
    expect_step(&curve, &steps[1], &levels[1], 2);
    expect_step(&curve, &steps[2], &levels[2], 9);
}

static void nothing_is_no_step(void **state)
{
    (void)state;
    const struct curve curve = draw(NULL, 0, 8192);
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 0);
    for (size_t n = 0; n <= 2; n++)
        assert_int_equal(fm_read_tlb_steps(curve.points, n, steps, MOST_LEVELS), 0);
}

/* Page tables that fall out of caches: a tenth more at every point, two and a half times in all. */
static void walks_that_slowly_take_longer_are_no_level(void **state)
{
    (void)state;
    const struct level levels[] = {{64, 65, 7}, {512, 640, 30}};
    struct curve curve = draw(levels, 2, 8192);
    double factor = 1;
    for (size_t i = 0; i < curve.n; i++)
        if (curve.points[i].pages > 1000)
            curve.points[i].cost *= factor *= 1.1;
    assert_true(curve.points[curve.n - 1].cost > 2.5 * 30);
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 2);
    expect_step(&curve, &steps[1], &levels[1], 7);
}

/* Where caches miss they hide a part of the walk. */
static void a_dip_is_no_level_and_hides_none(void **state)
{
    (void)state;
    const struct level levels[] = {{64, 65, 10}, {1024, 1280, 30}};
    struct curve curve = draw(levels, 2, 8192);
    size_t dipped = 0;
    for (size_t i = 0; i < curve.n; i++)
        if (curve.points[i].pages > 150 && curve.points[i].pages < 400) {
            curve.points[i].cost = 9;
            dipped++;
        }
    assert_true(dipped >= 3);
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 2);
    expect_step(&curve, &steps[0], &levels[0], 0);
    expect_step(&curve, &steps[1], &levels[1], 10);
}

/* A deep one, too: what comes after it is as dear as what was before, and no level. */
static void the_way_out_of_a_deep_dip_is_no_level(void **state)
{
    (void)state;
    const struct level level = {64, 65, 20};
    struct curve curve = draw(&level, 1, 8192);
    for (size_t i = 0; i < curve.n; i++)
        if (curve.points[i].pages > 400 && curve.points[i].pages < 1000)
            curve.points[i].cost = 12;
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 1);
    expect_step(&curve, &steps[0], &level, 0);
}

static void a_rise_at_the_last_point_alone_is_no_level(void **state)
{
    (void)state;
    const struct level level = {64, 65, 10};
    struct curve curve = draw(&level, 1, 8192);
    struct fm_tlb_step steps[MOST_LEVELS];
    curve.points[curve.n - 1].cost = 40;
    assert_int_equal(read_steps(&curve, steps), 1);
    expect_step(&curve, &steps[0], &level, 0);
    /* Nor is it where it is the only one. */
    curve = draw(NULL, 0, 8192);
    curve.points[curve.n - 1].cost = 40;
    assert_int_equal(read_steps(&curve, steps), 0);
    /* Two points are enough. */
    curve.points[curve.n - 2].cost = 40;
    assert_int_equal(read_steps(&curve, steps), 1);
    assert_true(steps[0].held == curve.points[curve.n - 3].pages);
}

static void one_point_that_stands_out_is_no_level(void **state)
{
    (void)state;
    const struct level level = {64, 65, 10};
    struct fm_tlb_step steps[MOST_LEVELS];
    for (size_t i = 1; i < draw(&level, 1, 8192).n; i++) {
        struct curve curve = draw(&level, 1, 8192);
        const double pages = curve.points[i].pages;
        /* Beside the rise it makes the rise seem wider, and no more. */
        if (pages > 50 && pages < 100)
            continue;
        curve.points[i].cost += 15;
        assert_int_equal(read_steps(&curve, steps), 1);
        assert_true(pages < 64 || steps[0].held == 57);
    }
}

static void noise_within_the_errors_makes_no_steps(void **state)
{
    (void)state;
    const struct level levels[] = {{48, 49, 7}, {1024, 1280, 30}};
    struct fm_rng rng;
    fm_rng_seed(&rng, 3);
    for (int trial = 0; trial < 500; trial++) {
        const size_t count = (size_t)trial % 3;
        struct curve curve = draw(levels, count, 8192);
        for (size_t i = 0; i < curve.n; i++) {
            curve.points[i].error = 0.5;
            curve.points[i].cost += 0.5 * (2 * fm_rng_unit(&rng) - 1);
        }
        struct fm_tlb_step steps[MOST_LEVELS];
        assert_int_equal(read_steps(&curve, steps), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(steps[i].held <= levels[i].held);
            assert_true(steps[i].missed > levels[i].held);
            assert_true(fabs(steps[i].cost - levels[i].cost) < 1.5);
        }
    }
}

static void a_step_below_the_least_is_no_level(void **state)
{
    (void)state;
    struct level levels[] = {{64, 65, 20}, {1024, 1080, 20 * (FM_TLB_LEAST_STEP - 0.05)}};
    struct curve curve = draw(levels, 2, 8192);
    struct fm_tlb_step steps[MOST_LEVELS];
    assert_int_equal(read_steps(&curve, steps), 1);
    expect_step(&curve, &steps[0], &levels[0], 0);
    levels[1].cost = 20 * (FM_TLB_LEAST_STEP + 0.05);
    curve = draw(levels, 2, 8192);
    assert_int_equal(read_steps(&curve, steps), 2);
    expect_step(&curve, &steps[1], &levels[1], 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_level_is_one_step),
        cmocka_unit_test(two_levels_are_two_steps),
        cmocka_unit_test(three_levels_are_cut_to_what_is_asked_for),
        cmocka_unit_test(nothing_is_no_step),
        cmocka_unit_test(walks_that_slowly_take_longer_are_no_level),
        cmocka_unit_test(a_dip_is_no_level_and_hides_none),
        cmocka_unit_test(the_way_out_of_a_deep_dip_is_no_level),
        cmocka_unit_test(a_rise_at_the_last_point_alone_is_no_level),
        cmocka_unit_test(one_point_that_stands_out_is_no_level),
        cmocka_unit_test(noise_within_the_errors_makes_no_steps),
        cmocka_unit_test(a_step_below_the_least_is_no_level),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
