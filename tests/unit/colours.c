/* Colours by the part of the lines that misses, and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/colours.h"
#include "analysis/occupancy.h"
#include "core/rng.h"

#define COLOURS 12
#define WAYS    3
#define LINES   16 /* of a page */
#define POINTS  12

/* The part of the lines that misses when pages are really thrown, of which the last has but some of
   its lines. */
static double throw_pages(struct fm_rng *rng, unsigned lines)
{
    unsigned held[COLOURS][LINES] = {{0}}, missing = 0;
    size_t colour = 0;
    for (unsigned i = 0; i < lines; i++) {
        colour = i % LINES ? colour : fm_rng_below(rng, COLOURS);
        held[colour][i % LINES]++;
    }
    for (unsigned c = 0; c < COLOURS; c++)
        for (unsigned i = 0; i < LINES; i++)
            missing += held[c][i] > WAYS ? held[c][i] : 0;
    return (double)missing / lines;
}

static double mean_of(struct fm_rng *rng, unsigned lines, int trials)
{
    double sum = 0;
    for (int i = 0; i < trials; i++)
        sum += throw_pages(rng, lines);
    return sum / trials;
}

static void counts_a_page_that_is_there_in_part(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 5);
    for (unsigned lines = 6 * LINES; lines < 60 * LINES; lines += 5 * LINES + 3) {
        const double expected = fm_colour_misses((double)lines / LINES, COLOURS, WAYS);
        assert_true(fabs(mean_of(&rng, lines, 4000) - expected) < 0.01);
    }
    assert_true(fm_colour_misses(WAYS, COLOURS, WAYS) == 0);
    assert_true(fm_colour_misses(0, COLOURS, WAYS) == 0);
}

static void finds_where_misses_begin(void **state)
{
    (void)state;
    for (double colours = 1.5; colours < 100; colours *= 2) {
        const double pages = fm_colour_pages(0.05, colours, WAYS);
        assert_true(fabs(fm_colour_misses(pages, colours, WAYS) - 0.05) < 0.001);
    }
}

/* Of few placements, where the beginning of a rise is the doing of two or three. */
static void finds_the_colours(void **state)
{
    (void)state;
    double pages[POINTS], misses[POINTS], weight[POINTS];
    struct fm_rng rng;
    struct fm_colours fit;
    fm_rng_seed(&rng, 7);
    for (unsigned i = 0; i < POINTS; i++) {
        pages[i] = 4 + 4 * i;
        misses[i] = mean_of(&rng, (unsigned)pages[i] * LINES, 24);
        weight[i] = 24;
    }
    const struct fm_colour_points points = {pages, misses, weight, POINTS, WAYS};
    assert_true(fm_fit_colours(&points, &fit));
    assert_true(fabs(fit.colours - COLOURS) < 0.1 * COLOURS);
    assert_true(fit.residual < 0.04);
    const struct fm_colour_points few = {pages, misses, weight, 2, WAYS};
    assert_false(fm_fit_colours(&few, &fit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_a_page_that_is_there_in_part),
        cmocka_unit_test(finds_where_misses_begin),
        cmocka_unit_test(finds_the_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
