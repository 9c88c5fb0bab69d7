/* The number of sets by laps over lines that are really thrown into them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/occupancy_fit.h"
#include "core/rng.h"

#define MOST_SETS 4096
#define LAPS      9

/* What each of three terms takes. */
#define BESIDES 20000.0
#define HIT     7.0
#define MISS    33.0

/* The part of the lines whose set holds more than it can. Some at a time fall into different sets,
   as the lines of a page do under many a hash. */
static double throw_lines(struct fm_rng *rng, unsigned lines, unsigned apart, unsigned sets,
                          unsigned ways)
{
    static unsigned held[MOST_SETS];
    unsigned missing = 0;
    memset(held, 0, sizeof held);
    for (unsigned i = 0; i < lines; i += apart) {
        const unsigned first = (unsigned)fm_rng_below(rng, sets);
        for (unsigned j = 0; j < apart && i + j < lines; j++)
            held[(first ^ j) % sets]++;
    }
    for (unsigned i = 0; i < sets; i++)
        missing += held[i] > ways ? held[i] : 0;
    return (double)missing / lines;
}

static void time_laps(struct fm_lap_time laps[LAPS], unsigned apart, unsigned sets, unsigned ways,
                      unsigned rounds)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, sets * 100 + ways);
    for (size_t i = 0; i < LAPS; i++) {
        const unsigned lines = (unsigned)((0.45 + 0.2 * (double)i) * sets * ways);
        laps[i] = (struct fm_lap_time){.lines = lines, .apart = apart};
        for (unsigned j = 0; j < rounds; j++) {
            const double misses = throw_lines(&rng, lines, apart, sets, ways);
            laps[i].ns += (BESIDES + lines * (HIT + MISS * misses)) / rounds;
        }
    }
}

static void finds_the_sets(void **state)
{
    (void)state;
    static const unsigned cases[][2] = {{64, 8},    {96, 16},  {256, 4},  {320, 24},
                                        {1024, 12}, {2048, 8}, {4096, 2}, {2560, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned sets = cases[i][0], ways = cases[i][1];
        struct fm_lap_time laps[LAPS];
        struct fm_sets_fit fit;
        time_laps(laps, 1, sets, ways, 1 + 65536 / sets);
        assert_true(fm_occupancy_sets(laps, LAPS, ways, sets / 2.5, sets * 2.0, &fit));
        assert_true(fabs(fit.sets / sets - 1) < 0.02);
        assert_true(fit.left < 0.005);
        assert_true(fm_round_sets(fit.sets * 0.98, fit.sets * 1.02) == sets);
    }
}

/* … which is further off where lines are taken to meet by chance that never do. */
static void lines_that_never_meet_make_a_difference(void **state)
{
    (void)state;
    const unsigned sets = 64, ways = 8;
    struct fm_lap_time laps[LAPS];
    struct fm_sets_fit fit, misled;
    time_laps(laps, 16, sets, ways, 1000);
    assert_true(fm_occupancy_sets(laps, LAPS, ways, sets / 2.5, sets * 2.0, &fit));
    for (size_t i = 0; i < LAPS; i++)
        laps[i].apart = 1;
    assert_true(fm_occupancy_sets(laps, LAPS, ways, sets / 2.5, sets * 2.0, &misled));
    assert_true(fabs(fit.sets / sets - 1) < 0.02);
    assert_true(fabs(misled.sets / sets - 1) > 2 * fabs(fit.sets / sets - 1));
}

static void says_so_where_there_is_nothing_to_find(void **state)
{
    (void)state;
    struct fm_lap_time laps[LAPS];
    struct fm_sets_fit fit;
    time_laps(laps, 1, 256, 8, 16);
    assert_false(fm_occupancy_sets(laps, 4, 8, 100, 600, &fit));    /* too few laps */
    assert_false(fm_occupancy_sets(laps, LAPS, 8, 400, 800, &fit)); /* it lies elsewhere */
    for (size_t i = 0; i < LAPS; i++)
        laps[i].ns = laps[i].lines * HIT; /* nothing misses */
    assert_false(fm_occupancy_sets(laps, LAPS, 8, 100, 600, &fit) && fit.left < 0.005);
}

static void rounds_to_what_address_bits_can_choose(void **state)
{
    (void)state;
    assert_true(fm_round_sets(1, 1) == 1);
    assert_true(fm_round_sets(64, 64) == 64);
    assert_true(fm_round_sets(2560, 2560) == 2560);
    assert_true(fm_round_sets(250, 262) == 256);
    assert_true(fm_round_sets(125, 132) == 128);
    assert_true(fm_round_sets(118, 132) == 0); /* 120 or 128 */
    assert_true(fm_round_sets(129, 129) == 0);
    assert_true(fm_round_sets(257, 259) == 0);
    assert_true(fm_simplest_sets(118, 132) == 128);
    assert_true(fm_simplest_sets(150, 175) == 160);
    assert_true(fm_simplest_sets(90, 100) == 96);
    assert_true(fm_simplest_sets(105, 118) == 112); /* seven times sixteen */
    assert_true(fm_simplest_sets(129, 129) == 0);
    assert_true(fm_simplest_sets(1, 1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_sets),
        cmocka_unit_test(lines_that_never_meet_make_a_difference),
        cmocka_unit_test(says_so_where_there_is_nothing_to_find),
        cmocka_unit_test(rounds_to_what_address_bits_can_choose),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
