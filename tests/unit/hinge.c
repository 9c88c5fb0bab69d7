/* Hinges that are known, and what is none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/hinge.h"
#include "core/rng.h"

#define READINGS 40

/* Readings from 940 on, two and a half apart: a level, and a rise of a power of the way beyond a
   place; each off by a part of a width. */
static void draw(double at, double slope, double power, double width, uint64_t seed,
                 double x[READINGS], double y[READINGS])
{
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    for (size_t i = 0; i < READINGS; i++) {
        x[i] = 940 + 2.5 * (double)i;
        const double off = (double)(fm_rng_next(&rng) % 2001) / 1000 - 1;
        y[i] = -3 + slope * pow(fmax(0, x[i] - at), power) + width * off;
    }
}

static void finds_the_place(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        double x[READINGS], y[READINGS];
        struct fm_hinge hinge;
        const double at = 970 + (double)(seed % 20);
        draw(at, 10, 1, seed % 2 ? 0 : 20, seed, x, y);
        assert_true(fm_fit_hinge(x, y, READINGS, 0.05, &hinge));
        assert_true(fabs(hinge.at - at) < (seed % 2 ? 0.4 : 4.0));
        assert_true(fabs(hinge.at - at) < 6 * hinge.error + 0.4);
        assert_true(fabs(hinge.slope - 10) < 2);
        assert_true(fabs(hinge.bend - 1) < 0.3);
    }
}

static void tells_a_bend_from_a_straight_rise(void **state)
{
    (void)state;
    double x[READINGS], y[READINGS];
    struct fm_hinge hinge;
    draw(970, 0.3, 2, 1, 1, x, y);
    assert_true(fm_fit_hinge(x, y, READINGS, 0.05, &hinge));
    assert_true(hinge.bend > 1.25);
}

static void wants_readings_on_both_sides(void **state)
{
    (void)state;
    double x[READINGS], y[READINGS];
    struct fm_hinge hinge;
    draw(2000, 10, 1, 0, 1, x, y);
    assert_false(fm_fit_hinge(x, y, 4, 0.05, &hinge));
    assert_false(fm_fit_hinge(x, y, READINGS, 0.05, &hinge));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_place),
        cmocka_unit_test(tells_a_bend_from_a_straight_rise),
        cmocka_unit_test(wants_readings_on_both_sides),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
