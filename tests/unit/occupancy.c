/* The occupancy law against pages that are really thrown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/occupancy.h"
#include "core/rng.h"

#define COLOURS 64

/* The part of the pages whose colour holds more than it can. */
static double throw_pages(struct fm_rng *rng, unsigned pages, unsigned colours, unsigned ways)
{
    unsigned held[COLOURS] = {0}, missing = 0;
    for (unsigned p = 0; p < pages; p++)
        held[fm_rng_below(rng, colours)]++;
    for (unsigned c = 0; c < colours; c++)
        missing += held[c] > ways ? held[c] : 0;
    return (double)missing / pages;
}

static void agrees_with_thrown_pages(void **state)
{
    (void)state;
    static const unsigned cases[][3] = {{40, 64, 1}, {30, 8, 2},    {128, 64, 4},
                                        {64, 16, 8}, {100, 16, 8},  {400, 64, 8},
                                        {90, 4, 24}, {700, 64, 16}, {1500, 64, 16}};
    struct fm_rng rng;
    fm_rng_seed(&rng, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sum = 0, square = 0;
        const int trials = 4000;
        for (int t = 0; t < trials; t++) {
            double m = throw_pages(&rng, cases[i][0], cases[i][1], cases[i][2]);
            sum += m;
            square += m * m;
        }
        double mean = sum / trials;
        double error = sqrt((square / trials - mean * mean) / trials);
        double expected = fm_occupancy_misses(cases[i][0], cases[i][1], cases[i][2]);
        assert_true(fabs(mean - expected) < 4 * error + 1e-6);
    }
}

static void few_pages_never_miss(void **state)
{
    (void)state;
    assert_true(fm_occupancy_misses(8, 16, 8) == 0);
    assert_true(fm_occupancy_misses(9, 16, 8) > 0);
    assert_true(fm_occupancy_misses(8, 1, 8) == 0);
    assert_true(fm_occupancy_misses(9, 1, 8) == 1); /* one colour: LRU is sharp */
    assert_true(fm_occupancy_misses_poisson(0, 8) == 0);
}

static void poisson_is_the_limit(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 32; ways *= 2)
        for (double load = 0.25; load < 3; load *= 1.5) {
            uint64_t colours = 1 << 20;
            uint64_t pages = (uint64_t)(load * (double)ways * (double)colours) + 1;
            double many = fm_occupancy_misses(pages, colours, ways);
            assert_true(fabs(many - fm_occupancy_misses_poisson(load, ways)) < 1e-4);
        }
}

static void known_values(void **state)
{
    (void)state;
    assert_true(fabs(fm_occupancy_misses_poisson(1, 1) - (1 - exp(-1))) < 1e-14);
    assert_true(fabs(fm_occupancy_misses_poisson(0.5, 2) - (1 - 2 * exp(-1))) < 1e-14);
    assert_true(fabs(fm_occupancy_misses(3, 4, 2) - 1.0 / 16) < 1e-14);
    /* tiny chances keep their digits: only the first term counts */
    double tiny = fm_occupancy_misses_poisson(1e-4, 8);
    assert_true(fabs(tiny / (pow(8e-4, 8) / 40320) - 1) < 1e-3);
}

static void inverses_invert(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 40; ways += 3)
        for (double misses = 0.01; misses < 0.99; misses += 0.07) {
            double load = fm_occupancy_load(misses, ways);
            assert_true(fabs(fm_occupancy_misses_poisson(load, ways) - misses) < 1e-9);
            uint64_t pages = fm_occupancy_pages(misses, 128, ways);
            assert_true(fm_occupancy_misses(pages, 128, ways) <= misses);
            assert_true(fm_occupancy_misses(pages + 1, 128, ways) > misses);
        }
}

static void misses_grow_with_the_footprint(void **state)
{
    (void)state;
    for (uint32_t ways = 1; ways <= 32; ways++) {
        double before = 0;
        for (uint64_t pages = 1; pages < 3000; pages += 7) {
            double now = fm_occupancy_misses(pages, 64, ways);
            assert_true(now >= before - 1e-12 && now <= 1);
            before = now;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_thrown_pages),
        cmocka_unit_test(few_pages_never_miss),
        cmocka_unit_test(poisson_is_the_limit),
        cmocka_unit_test(known_values),
        cmocka_unit_test(inverses_invert),
        cmocka_unit_test(misses_grow_with_the_footprint),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
