/* The number of sets by how often lines conflict that are really thrown into them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/set_count.h"
#include "core/rng.h"

#define MOST_SETS 2048

/* Whether lines conflict beside set 0, which is full. */
static bool throw_lines(struct fm_rng *rng, unsigned lines, unsigned sets, unsigned ways)
{
    unsigned held[MOST_SETS] = {ways};
    for (unsigned i = 0; i < lines; i++)
        if (++held[fm_rng_below(rng, sets)] > ways)
            return true;
    return false;
}

static struct fm_set_trials throw_often(unsigned lines, unsigned sets, unsigned ways,
                                        unsigned trials)
{
    struct fm_set_trials seen = {.trials = {0}};
    struct fm_rng rng;
    fm_rng_seed(&rng, sets * 1000 + ways * 100 + lines);
    for (unsigned i = 0; i < trials; i++) {
        seen.trials[lines]++;
        seen.hits[lines] += throw_lines(&rng, lines, sets, ways);
    }
    return seen;
}

static void expects_as_many_conflicts_as_there_are(void **state)
{
    (void)state;
    static const struct {
        unsigned lines, sets, ways;
    } cases[] = {{1, 2, 8}, {3, 8, 4}, {8, 320, 1}, {40, 1024, 2}, {100, 256, 4}, {12, 3, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned lines = cases[i].lines, trials = 40000;
        const struct fm_set_trials seen = throw_often(lines, cases[i].sets, cases[i].ways, trials);
        const double part = (double)seen.hits[lines] / trials;
        double expected[FM_MOST_OTHERS + 1];
        fm_expect_conflicts(cases[i].sets, cases[i].ways, FM_MOST_OTHERS, expected);
        assert_true(fabs(part - (1 - exp(-expected[lines]))) < 0.01);
    }
}

static void finds_the_sets(void **state)
{
    (void)state;
    for (unsigned ways = 1; ways <= 16; ways *= 2)
        for (unsigned sets = 2; sets <= MOST_SETS; sets *= 4) {
            double expected[FM_MOST_OTHERS + 1];
            unsigned lines = 1;
            fm_expect_conflicts(sets, ways, FM_MOST_OTHERS, expected);
            while (lines < FM_MOST_OTHERS && expected[lines + 1] < 1)
                lines++;
            const struct fm_set_trials few = throw_often(lines, sets, ways, 200);
            const struct fm_set_trials many = throw_often(lines, sets, ways, 3200);
            const struct fm_set_count rough = fm_count_sets(&few, ways);
            const struct fm_set_count fine = fm_count_sets(&many, ways);
            assert_true(fabs(log(fine.sets / sets)) < 4 * fine.error + 0.02);
            assert_true(fine.error < rough.error);
        }
}

static void puts_trials_of_any_number_together(void **state)
{
    (void)state;
    struct fm_set_trials all = throw_often(4, 100, 4, 400);
    const struct fm_set_trials more = throw_often(90, 100, 4, 400);
    all.trials[90] = more.trials[90];
    all.hits[90] = more.hits[90];
    const struct fm_set_count count = fm_count_sets(&all, 4);
    assert_true(fabs(log(count.sets / 100)) < 4 * count.error);
}

static void knows_what_it_does_not_know(void **state)
{
    (void)state;
    struct fm_set_trials none = {.trials = {0}};
    assert_true(fm_count_sets(&none, 4).error > 10);
    none.trials[8] = none.hits[8] = 100;
    assert_true(fm_count_sets(&none, 4).sets < 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expects_as_many_conflicts_as_there_are),
        cmocka_unit_test(finds_the_sets),
        cmocka_unit_test(puts_trials_of_any_number_together),
        cmocka_unit_test(knows_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
