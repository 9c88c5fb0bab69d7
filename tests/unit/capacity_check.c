/* What knees tell of a capacity, held against what readings tell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "probe/capacity.h"
#include "probe/lab.h"

#define HIT    10.0
#define MISS   110.0
#define BEGINS 100000.0
#define POINTS 24
#define CLOSE  1.1

/* A level of which nothing misses up to a footprint, one in twenty at BEGINS, and as many more with
   each octave. */
static double misses_at(double bytes)
{
    return fmin(1, fmax(0, 0.05 + 0.2 * log2(bytes / BEGINS)));
}

/* Readings of it, each the mean of so many placements that differ by a tenth of the step. */
static struct fm_lab *lab_of(unsigned placements, struct fm_fitted *fitted)
{
    struct fm_lab *lab = calloc(1, sizeof *lab);
    struct fm_known_level *levels = lab->known.levels;
    lab->known.count = 2;
    levels[0] = (struct fm_known_level){
        .height_ns = HIT, .flat_from = BEGINS / 8, .flat_to = BEGINS / 2, .rise_from = BEGINS / 2};
    levels[1] = (struct fm_known_level){.height_ns = MISS, .flat_from = 64 * BEGINS};
    for (int i = 0; i < POINTS; i++) {
        const double bytes = BEGINS * pow(CLOSE, i - POINTS / 2 + 0.5);
        const double ns = HIT + misses_at(bytes) * (MISS - HIT), spread = (MISS - HIT) / 10;
        struct fm_walk_point *point = &lab->walk.points[lab->walk.count++];
        *point = (struct fm_walk_point){.bytes = (size_t)bytes, .unit = 64};
        point->placements = placements;
        point->sum = placements * ns;
        point->sum_of_squares = placements * (ns * ns + spread * spread);
    }
    fm_fitted_load(fitted, &lab->walk, &lab->known.fit, 4096);
    return lab;
}

static void hold(unsigned placements, double interval[3])
{
    struct fm_fitted fitted;
    struct fm_lab *lab = lab_of(placements, &fitted);
    fm_hold_to_readings(lab, &fitted, 0, interval);
    free(lab);
    assert_true(interval[1] <= interval[0] && interval[0] <= interval[2]);
}

static void many_placements_move_what_knees_tell(void **state)
{
    (void)state;
    double interval[] = {1.15 * BEGINS, 1.05 * BEGINS, 1.26 * BEGINS};
    hold(400, interval);
    assert_true(interval[0] < 1.08 * BEGINS && interval[0] > BEGINS / 1.08);
    assert_true(interval[1] <= BEGINS && interval[2] >= BEGINS);
}

static void the_more_the_further(void **state)
{
    (void)state;
    double few[] = {1.1 * BEGINS, BEGINS, 1.21 * BEGINS};
    double many[] = {1.1 * BEGINS, BEGINS, 1.21 * BEGINS};
    hold(32, few);
    hold(3200, many);
    assert_true(fabs(log(many[0] / BEGINS)) < fabs(log(few[0] / BEGINS)));
}

static void what_agrees_stays(void **state)
{
    (void)state;
    double interval[] = {BEGINS, BEGINS / 1.1, BEGINS * 1.1};
    hold(400, interval);
    assert_true(fabs(log(interval[0] / BEGINS)) < 0.02);
    assert_true(interval[2] / interval[1] <= 1.21);
}

static void who_differ_are_less_sure(void **state)
{
    (void)state;
    double near[] = {1.02 * BEGINS, BEGINS, 1.04 * BEGINS};
    double far[] = {1.2 * BEGINS, 1.18 * BEGINS, 1.22 * BEGINS};
    hold(100, near);
    hold(100, far);
    assert_true(far[2] / far[1] > near[2] / near[1]);
}

static void few_placements_do_not(void **state)
{
    (void)state;
    double interval[] = {1.15 * BEGINS, 1.05 * BEGINS, 1.26 * BEGINS};
    hold(4, interval);
    assert_true(fabs(interval[0] / BEGINS - 1.15) < 1e-9);
}

static bool tell(unsigned placements, double interval[3])
{
    struct fm_fitted fitted;
    struct fm_lab *lab = lab_of(placements, &fitted);
    const bool told = fm_crossing_by_readings(lab, &fitted, 0, interval);
    free(lab);
    return told;
}

/* On both sides of where one in twenty misses, the nearer the more placements there are. */
static void readings_tell_by_themselves(void **state)
{
    (void)state;
    double some[3], many[3], all[3];
    assert_true(tell(60, some) && tell(600, many) && tell(10000, all));
    const double *const told[] = {some, many, all};
    for (size_t i = 0; i < 3; i++) {
        assert_true(told[i][1] < BEGINS && BEGINS < told[i][2]);
        assert_true(told[i][1] <= told[i][0] && told[i][0] <= told[i][2]);
    }
    assert_true(some[2] / some[1] > many[2] / many[1]);
    assert_true(many[2] / many[1] >= all[2] / all[1]);
    assert_true(fabs(log(all[0] / BEGINS)) < 0.02);
}

/* One reading of each footprint says nothing of how far the next one would be off. */
static void single_readings_tell_nothing(void **state)
{
    (void)state;
    double interval[3];
    assert_false(tell(1, interval));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_placements_move_what_knees_tell),
        cmocka_unit_test(the_more_the_further),
        cmocka_unit_test(what_agrees_stays),
        cmocka_unit_test(who_differ_are_less_sure),
        cmocka_unit_test(few_placements_do_not),
        cmocka_unit_test(readings_tell_by_themselves),
        cmocka_unit_test(single_readings_tell_nothing),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
