/* One latency and two in a blend are told apart by how much short runs differ. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/blend.h"
#include "core/rng.h"

#define RUNS       512
#define REFERENCES 24
#define TRIES      100

/* The mean of a run whose references take `high` with that chance, otherwise `low`. */
static double run(struct fm_rng *rng, double low, double high, double chance)
{
    double sum = 0;
    for (int i = 0; i < REFERENCES; i++)
        sum += fm_rng_unit(rng) < chance ? high : low;
    return sum / REFERENCES;
}

/* How much runs vary of which such a part takes `between` and the rest now `low` and now `high`; as
   a part of what a blend of these two alone would that takes as long. */
static double part_of_blend(struct fm_rng *rng, double low, double high, double between,
                            double part)
{
    const double chance = 0.1 + 0.8 * fm_rng_unit(rng);
    double ns[RUNS];
    for (int k = 0; k < RUNS; k++)
        ns[k] = (1 - part) * run(rng, low, high, chance) + part * between;
    const struct fm_spread spread = fm_spread_of(ns, RUNS);
    return spread.variance / fm_blend_variance(spread.mean, low, high, REFERENCES / (1 - part));
}

static void a_blend_varies_as_one(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 3);
    for (int i = 0; i < TRIES; i++) {
        const double low = 1 + 20 * fm_rng_unit(&rng), high = low * (1.3 + 4 * fm_rng_unit(&rng));
        const double part = part_of_blend(&rng, low, high, 0, 0);
        assert_true(part > 0.75 && part < 1.3);
    }
}

/* Of three latencies, as where a level between is there and serves half, runs vary less than of the
   outer two alone. */
static void a_level_between_varies_less(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 4);
    for (int i = 0; i < TRIES; i++) {
        const double low = 1 + 20 * fm_rng_unit(&rng), high = low * (2 + 4 * fm_rng_unit(&rng));
        const double between = low + (high - low) * (0.2 + 0.6 * fm_rng_unit(&rng));
        assert_true(part_of_blend(&rng, low, high, between, 0.5) < 0.75);
    }
}

static void what_stands_far_out_does_not_count(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 5);
    double ns[RUNS];
    for (int k = 0; k < RUNS; k++)
        ns[k] = 10 + 0.1 * fm_rng_unit(&rng);
    ns[7] = 5000;
    ns[70] = 900;
    const struct fm_spread spread = fm_spread_of(ns, RUNS);
    assert_true(fabs(spread.mean - 10.05) < 0.02);
    assert_true(spread.variance < 0.002);
}

static void few_readings_all_count(void **state)
{
    (void)state;
    double ns[] = {4, 2, 6};
    const struct fm_spread spread = fm_spread_of(ns, 3);
    assert_true(fabs(spread.mean - 4) < 1e-12);
    assert_true(fabs(spread.variance - 8.0 / 3) < 1e-12);
}

static void no_blend_lies_outside(void **state)
{
    (void)state;
    assert_true(fm_blend_variance(3, 4, 8, 16) == 0);
    assert_true(fm_blend_variance(9, 4, 8, 16) == 0);
    assert_true(fabs(fm_blend_variance(6, 4, 8, 16) - 0.25) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blend_varies_as_one),
        cmocka_unit_test(a_level_between_varies_less),
        cmocka_unit_test(what_stands_far_out_does_not_count),
        cmocka_unit_test(few_readings_all_count),
        cmocka_unit_test(no_blend_lies_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
