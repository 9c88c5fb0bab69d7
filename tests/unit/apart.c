/* Rises too close together are one level; those a cache apart stay two. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/apart.h"

#define POINTS     97
#define PER_OCTAVE 8

struct staircase {
    double bytes[POINTS], latency[POINTS];
    struct fm_level levels[4];
    size_t count;
};

/* Stairs that rise at the given octaves above 4 KiB, each to twice the height before. */
static void build(struct staircase *stairs, const double *rises, size_t count)
{
    for (size_t i = 0; i < POINTS; i++) {
        const double octave = (double)i / PER_OCTAVE;
        stairs->bytes[i] = 4096 * exp2(octave);
        stairs->latency[i] = 4;
        for (size_t r = 0; r < count; r++)
            stairs->latency[i] *= octave > rises[r] ? 2 : 1;
    }
    stairs->count = count + 1;
    for (size_t l = 0; l <= count; l++) {
        const double from = l == 0 ? 0 : rises[l - 1] + 1.0 / PER_OCTAVE;
        const double to = l == count ? (double)(POINTS - 1) / PER_OCTAVE : rises[l];
        stairs->levels[l] = (struct fm_level){
            .height = 4 * exp2((double)l),
            .flat_from = 4096 * exp2(from),
            .flat_to = 4096 * exp2(to),
            .rise_from = l == count ? NAN : 4096 * exp2(to),
            .rise_to = l == count ? NAN : 4096 * exp2(to + 1.0 / PER_OCTAVE),
        };
    }
}

static void join(struct staircase *stairs)
{
    stairs->count =
        fm_join_close_levels(stairs->bytes, stairs->latency, POINTS, stairs->levels, stairs->count);
}

static void keeps_levels_an_octave_apart(void **state)
{
    (void)state;
    struct staircase stairs;
    build(&stairs, (const double[]){4, 5, 8}, 3);
    join(&stairs);
    assert_int_equal(stairs.count, 4);
    for (size_t l = 0; l < 4; l++)
        assert_true(stairs.levels[l].height == 4 * exp2((double)l));
}

static void joins_a_ledge(void **state)
{
    (void)state;
    struct staircase stairs;
    build(&stairs, (const double[]){4, 4.5, 8}, 3);
    join(&stairs);
    assert_int_equal(stairs.count, 3);
    /* The ledge at 8 is gone; the rise before it goes on to the plateau behind. */
    assert_true(stairs.levels[0].height == 4);
    assert_true(stairs.levels[1].height == 16);
    assert_true(stairs.levels[2].height == 32);
    assert_true(stairs.levels[0].rise_to == stairs.levels[1].flat_from);
}

static void joins_a_flight_of_ledges(void **state)
{
    (void)state;
    struct staircase stairs;
    build(&stairs, (const double[]){4, 4.25, 4.5}, 3);
    join(&stairs);
    assert_int_equal(stairs.count, 2);
    assert_true(stairs.levels[0].height == 4);
    assert_true(stairs.levels[1].height == 32);
}

/* Of two ledges the narrower goes first; what is left is then far enough apart. */
static void takes_the_closest_first(void **state)
{
    (void)state;
    struct staircase stairs;
    build(&stairs, (const double[]){4, 4.6, 4.9}, 3);
    join(&stairs);
    assert_int_equal(stairs.count, 3);
    assert_true(stairs.levels[1].height == 8);
    assert_true(stairs.levels[2].height == 32);
}

static void leaves_few_levels_alone(void **state)
{
    (void)state;
    struct staircase stairs;
    build(&stairs, (const double[]){4}, 1);
    join(&stairs);
    assert_int_equal(stairs.count, 2);
    stairs.count = 1;
    join(&stairs);
    assert_int_equal(stairs.count, 1);
    stairs.count = 0;
    join(&stairs);
    assert_int_equal(stairs.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_levels_an_octave_apart), cmocka_unit_test(joins_a_ledge),
        cmocka_unit_test(joins_a_flight_of_ledges),     cmocka_unit_test(takes_the_closest_first),
        cmocka_unit_test(leaves_few_levels_alone),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
