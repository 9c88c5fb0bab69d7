/* Latencies of levels that are alone at no footprint, by what counts show each to serve. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/rng.h"
#include "probe/lab.h"
#include "probe/mixture.h"

#define LEVELS 4
#define WRONG  3.0
#define TRIES  200

/* What a mixture takes whose levels take so long. */
static void blend(struct fm_mixture *mixture, const double heights[LEVELS])
{
    mixture->ns = 0;
    for (int i = 0; i < LEVELS; i++)
        mixture->ns += mixture->served[i] * heights[i];
}

/* A mixture of which one level serves most, its neighbours the rest. */
static void serve(struct fm_mixture *mixture, int level, double inner, double outer)
{
    *mixture = (struct fm_mixture){0};
    mixture->served[level - 1] = inner;
    mixture->served[level] = 1 - inner - outer;
    mixture->served[level + 1] = outer;
}

/* Whatever was made of two levels that blur each other, the first and memory tell them both, as far
   as either serves half of its own mixture. */
static void levels_that_blur_each_other_are_told_apart(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 7);
    for (int i = 0; i < TRIES; i++) {
        const double heights[LEVELS] = {1, 3 + 5 * fm_rng_unit(&rng), 10 + 20 * fm_rng_unit(&rng),
                                        60 + 90 * fm_rng_unit(&rng)};
        struct fm_lab *lab = calloc(1, sizeof *lab);
        struct fm_mixtures mixtures = {.has = {false, true, true, false}};
        struct fm_known_level *levels = lab->known.levels;
        lab->known.count = LEVELS;
        for (int level = 0; level < LEVELS; level++)
            levels[level].height_ns = heights[level] * (mixtures.has[level] ? WRONG : 1);
        levels[2].blurred = levels[2].inferred = true;
        for (int level = 1; level < LEVELS - 1; level++) {
            const double others = 0.5 * fm_rng_unit(&rng), inner = fm_rng_unit(&rng);
            serve(&mixtures.of[level], level, inner * others, (1 - inner) * others);
            blend(&mixtures.of[level], heights);
        }
        fm_mixtures_solve(lab, &mixtures);
        for (int level = 0; level < LEVELS; level++)
            assert_true(fabs(levels[level].height_ns / heights[level] - 1) < 0.01);
        assert_true(levels[2].height_low < heights[2] && levels[2].height_high > heights[2]);
        assert_false(levels[2].blurred || levels[2].inferred);
        free(lab);
    }
}

/* What has no mixture keeps what was known of it. */
static void others_stay_as_they_are(void **state)
{
    (void)state;
    struct fm_lab *lab = calloc(1, sizeof *lab);
    const struct fm_mixtures none = {.has = {false}};
    lab->known.count = 2;
    lab->known.levels[0] = (struct fm_known_level){.height_ns = 1, .blurred = true};
    fm_mixtures_solve(lab, &none);
    assert_true(lab->known.levels[0].blurred);
    assert_true(fabs(lab->known.levels[0].height_ns - 1) < 1e-12);
    free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_that_blur_each_other_are_told_apart),
        cmocka_unit_test(others_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
