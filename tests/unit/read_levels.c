/* Reading levels from synthetic hierarchies: each hard case alone, then thousands at random. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/levels.h"
#include "synthetic.h"

#define MOST 16

static size_t read_curve(const struct synthetic *s, uint64_t seed, struct fm_level *levels)
{
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    synthetic_draw(s, &rng, &curve);
    return fm_read_levels(curve.bytes, curve.latency, curve.error, curve.n, levels, MOST);
}

static const struct synthetic nehalem = {
    .levels = 4,
    .capacity = {32768, 262144, 8388608},
    .latency = {4, 10, 38, 190},
    .knee = {KNEE_SHARP, KNEE_POISSON, KNEE_POISSON},
    .ways = {8, 8, 16},
    .from = 4096,
    .to = 1 << 27,
    .per_octave = 8,
};

static void an_ordinary_machine(void **state)
{
    (void)state;
    struct fm_level levels[MOST];
    assert_int_equal(read_curve(&nehalem, 1, levels), 4);
    for (size_t l = 0; l < 4; l++) {
        assert_true(fabs(levels[l].height / nehalem.latency[l] - 1) < 0.02);
        assert_true(levels[l].height_low <= nehalem.latency[l] * 1.0001);
        assert_true(levels[l].height_high >= nehalem.latency[l] * 0.9999);
        assert_true(levels[l].certainty > 0.95);
    }
    assert_true(levels[0].rise_from == 32768 && levels[0].flat_to == 32768);
    assert_true(levels[0].rise_to < 40000);
    assert_true(levels[0].rise_to == levels[1].flat_from);
    assert_true(isnan(levels[3].rise_from) && isnan(levels[3].rise_to));
    assert_true(levels[3].flat_to > 1.2e8);
}

/* However soft a single knee is, it is one rise: two levels. */
static void one_soft_rise_is_one_rise(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 120; seed++) {
        struct synthetic s = {.levels = 2,
                              .capacity = {1 << 20},
                              .latency = {2, seed % 2 ? 60 : 2.8},
                              .knee = {(enum knee)(seed % 4)},
                              .ways = {1 + seed % 5},
                              .noise = seed % 3 * 0.01,
                              .from = 1 << 10,
                              .to = 1 << 27,
                              .per_octave = 5 + seed % 12};
        struct fm_level levels[MOST];
        assert_int_equal(read_curve(&s, seed, levels), 2);
    }
}

static void low_and_high_contrast(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct synthetic s = nehalem;
        s.latency[1] = s.latency[0] * (seed % 2 ? 1.3 : 30);
        s.latency[2] = s.latency[1] * (seed % 2 ? 30 : 1.3);
        s.latency[3] = s.latency[2] * 1.3;
        s.noise = 0.01;
        struct fm_level levels[MOST];
        assert_int_equal(read_curve(&s, seed, levels), 4);
    }
}

static void narrow_plateaus(void **state)
{
    (void)state;
    struct synthetic s = {.levels = 4,
                          .capacity = {32768, 32768 * 1.8, 32768 * 1.8 * 1.8},
                          .latency = {3, 6, 12, 30},
                          .ways = {8, 16, 16},
                          .from = 4096,
                          .to = 1 << 21,
                          .per_octave = 8};
    struct fm_level levels[MOST];
    assert_int_equal(read_curve(&s, 1, levels), 4); /* 0.85 octaves less a knee: about 0.7 */
}

static void sloping_plateaus(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct synthetic s = nehalem;
        s.tilt = 0.04 * (seed + 1) / 60;
        s.noise = seed % 2 * 0.01;
        struct fm_level levels[MOST];
        assert_int_equal(read_curve(&s, seed, levels), 4);
    }
}

static void outliers(void **state)
{
    (void)state;
    unsigned right = 0;
    for (unsigned seed = 0; seed < 100; seed++) {
        struct synthetic s = nehalem;
        s.noise = 0.01;
        s.outlier = 0.05;
        struct fm_level levels[MOST];
        right += read_curve(&s, seed, levels) == 4;
    }
    assert_true(right >= 97);
}

/* Errors that were not reported, and slow waves nobody drew. */
static void underrated_errors(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, 9);
    unsigned right = 0;
    for (unsigned trial = 0; trial < 200; trial++) {
        struct synthetic s = nehalem;
        s.noise = trial % 2 * 0.02;
        synthetic_draw(&s, &rng, &curve);
        double wave = (1 - trial % 2) * 0.03, length = 0.4 + 2 * fm_rng_unit(&rng);
        for (size_t i = 0; i < curve.n; i++)
            curve.latency[i] *= 1 + wave * sin(6.28 * log2(curve.bytes[i]) / length);
        struct fm_level levels[MOST];
        right += fm_read_levels(curve.bytes, curve.latency, NULL, curve.n, levels, MOST) == 4;
    }
    printf("# underrated errors: %u of 200 right\n", right);
    assert_true(right >= 190);
}

/* Luck of the placement moves points where the curve is steep, more than their errors say. */
static void scatter_in_the_knees(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, 10);
    unsigned right = 0;
    for (unsigned trial = 0; trial < 200; trial++) {
        struct synthetic s = {.levels = 2,
                              .capacity = {1 << 20},
                              .latency = {3, 30},
                              .knee = {KNEE_POISSON},
                              .ways = {4 + trial % 8},
                              .from = 1 << 14,
                              .to = 1 << 25,
                              .per_octave = 14};
        synthetic_draw(&s, &rng, &curve);
        for (size_t i = 0; i < curve.n; i++)
            curve.latency[i] =
                synthetic_latency(&s, curve.bytes[i] * (1 + 0.02 * synthetic_normal(&rng)));
        struct fm_level levels[MOST];
        size_t count = fm_read_levels(curve.bytes, curve.latency, NULL, curve.n, levels, MOST);
        size_t sure = 0;
        for (size_t l = 0; l < count; l++)
            sure += levels[l].certainty >= 0.9;
        right += sure == 2;
    }
    printf("# scatter in the knees: %u of 200 right, unsure plateaus aside\n", right);
    assert_true(right >= 180);
}

static void a_bad_point_beside_a_rise(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, 11);
    struct synthetic s = nehalem;
    s.ways[0] = 2;
    synthetic_draw(&s, &rng, &curve);
    size_t before = 0;
    while (curve.bytes[before + 1] <= 32768)
        before++;
    curve.latency[before] = 0.99 * curve.latency[before + 1];
    struct fm_level levels[MOST];
    assert_int_equal(fm_read_levels(curve.bytes, curve.latency, curve.error, curve.n, levels, MOST),
                     4);
}

static void a_curve_cut_off_in_its_rise(void **state)
{
    (void)state;
    struct synthetic s = nehalem;
    s.to = 8 << 20; /* half way up the last rise */
    struct fm_level levels[MOST];
    assert_int_equal(read_curve(&s, 1, levels), 3);
    assert_true(levels[2].rise_from > 2e6 && levels[2].rise_from < 6e6);
    assert_true(isnan(levels[2].rise_to));
    s.to = 9.5 * (1 << 20); /* past its steepest place, but far from flat */
    assert_int_equal(read_curve(&s, 1, levels), 3);
    assert_true(isnan(levels[2].rise_to));
}

static void a_flat_curve_is_one_level(void **state)
{
    (void)state;
    double bytes[40], latency[40];
    struct fm_level levels[MOST];
    for (int i = 0; i < 40; i++) {
        bytes[i] = 1024 * exp2(i / 4.0);
        latency[i] = 5;
    }
    for (size_t n = 1; n <= 40; n++) {
        assert_int_equal(fm_read_levels(bytes, latency, NULL, n, levels, MOST), 1);
        assert_true(fabs(levels[0].height - 5) < 1e-12);
        assert_true(isnan(levels[0].rise_from));
    }
}

static void nonsense_has_no_levels(void **state)
{
    (void)state;
    double bytes[] = {1, 2, 3}, same[] = {1, 1, 2}, latency[] = {1, 2, 3};
    double zero[] = {1, 0, 3}, nan[] = {1, NAN, 3};
    struct fm_level level;
    assert_int_equal(fm_read_levels(bytes, latency, NULL, 0, &level, 1), 0);
    assert_int_equal(fm_read_levels(bytes, latency, NULL, 3, &level, 0), 0);
    assert_int_equal(fm_read_levels(same, latency, NULL, 3, &level, 1), 0);
    assert_int_equal(fm_read_levels(bytes, zero, NULL, 3, &level, 1), 0);
    assert_int_equal(fm_read_levels(bytes, nan, NULL, 3, &level, 1), 0);
}

/* No constant of the analysis is in nanoseconds or bytes. */
static void units_do_not_matter(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct fm_rng rng;
        struct synthetic s;
        fm_rng_seed(&rng, seed);
        synthetic_any(&rng, 2, 1.2, &s);
        s.noise = 0.01;
        synthetic_draw(&s, &rng, &curve);
        struct fm_level a[MOST], b[MOST];
        size_t count = fm_read_levels(curve.bytes, curve.latency, curve.error, curve.n, a, MOST);
        for (size_t i = 0; i < curve.n; i++) {
            curve.bytes[i] *= 1024;
            curve.latency[i] *= 0.125;
        }
        assert_int_equal(fm_read_levels(curve.bytes, curve.latency, curve.error, curve.n, b, MOST),
                         count);
        for (size_t l = 0; l < count; l++)
            assert_true(fabs(b[l].height / a[l].height / 0.125 - 1) < 1e-9);
    }
}

struct tally {
    unsigned curves, right, few, many;
    unsigned heights, heights_held, rises, rises_held;
};

/* Where the truth passes 5% misses of level l. */
static double five_percent(const struct synthetic *s, size_t l)
{
    double low = s->from, high = s->to;
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        *(synthetic_level_misses(s, l, middle) <= 0.05 ? &low : &high) = middle;
    }
    return low;
}

static void judge(const struct synthetic *s, const struct fm_level *levels, size_t count,
                  struct tally *tally)
{
    tally->curves++;
    tally->right += count == s->levels;
    tally->few += count < s->levels;
    tally->many += count > s->levels;
    for (size_t l = 0; count == s->levels && l < count; l++) {
        double truth = s->latency[l] * (1 + 0.67 * s->noise); /* median of the added noise */
        tally->heights++;
        tally->heights_held += levels[l].height_low <= truth && truth <= levels[l].height_high;
        if (l + 1 == count)
            continue;
        double edge = five_percent(s, l);
        tally->rises++;
        tally->rises_held +=
            levels[l].rise_from <= edge * 1.0001 && levels[l].rise_to >= edge * 0.9999;
    }
}

static void report(const char *name, const struct tally *tally)
{
    printf("# %s: levels right in %.2f%% of %u curves (%u too few, %u too many); height in its "
           "interval %.1f%%; 5%% misses within the rise %.1f%%\n",
           name, 100.0 * tally->right / tally->curves, tally->curves, tally->few, tally->many,
           100.0 * tally->heights_held / tally->heights, 100.0 * tally->rises_held / tally->rises);
}

static void random_hierarchies(void **state)
{
    (void)state;
    struct tally clean = {0}, noisy = {0}, few_ways = {0};
    for (uint64_t seed = 0; seed < 2400; seed++) {
        struct fm_rng rng;
        struct synthetic s;
        fm_rng_seed(&rng, seed + 1000000);
        synthetic_any(&rng, 4, 1.4, &s);
        unsigned fewest = 32;
        for (size_t l = 0; l + 1 < s.levels; l++)
            if (s.knee[l] == KNEE_POISSON && s.ways[l] < fewest)
                fewest = s.ways[l];
        if (seed % 2) {
            s.noise = 0.02 * fm_rng_unit(&rng);
            s.outlier = 0.01;
        }
        struct fm_level levels[MOST];
        size_t count = read_curve(&s, seed, levels);
        judge(&s, levels, count, fewest < 4 ? &few_ways : seed % 2 ? &noisy : &clean);
    }
    report("exact curves", &clean);
    report("noisy curves", &noisy);
    report("scattered pages in 1 to 3 ways, half noisy", &few_ways);
    struct tally all = {.curves = clean.curves + noisy.curves + few_ways.curves,
                        .right = clean.right + noisy.right + few_ways.right};
    printf("# all: %.2f%%\n", 100.0 * all.right / all.curves);
    assert_true(all.right >= 0.97 * all.curves);
    assert_true(clean.right >= 0.99 * clean.curves);
    assert_true(noisy.right >= 0.98 * noisy.curves);
    assert_true(few_ways.right >= 0.88 * few_ways.curves);
    assert_true(noisy.heights_held >= 0.98 * noisy.heights);
    assert_true(noisy.rises_held >= 0.98 * noisy.rises);
    assert_true(clean.rises_held >= 0.99 * clean.rises);
}

/* What is called almost certain must be; what is called a toss-up may be wrong. */
static void certainty_means_something(void **state)
{
    (void)state;
    unsigned sure = 0, sure_right = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct fm_rng rng;
        struct synthetic s;
        fm_rng_seed(&rng, seed + 2000000);
        synthetic_any(&rng, 2, 1.2, &s); /* harder than what is asked for */
        s.noise = 0.02;
        struct fm_level levels[MOST];
        size_t count = read_curve(&s, seed, levels);
        double least = 1;
        for (size_t l = 0; l < count; l++)
            least = fmin(least, levels[l].certainty);
        if (least < 0.95)
            continue;
        sure++;
        sure_right += count <= s.levels; /* none of those it is sure of is invented */
    }
    printf("# sure of all its levels in %u of 1000 hard curves, none invented in %.2f%%\n", sure,
           100.0 * sure_right / sure);
    assert_true(sure > 500);
    assert_true(sure_right >= 0.99 * sure);
}

/* Three caches, each twice as large as the one inside, with few points to a rise: their knees bend
   to and fro like noise, but the plateaus between them are at rest. */
static void takes_no_sharp_knees_for_noise(void **state)
{
    (void)state;
    static const double bytes[] = {512,   1024,  8192,  11584,  16384,  17792,   19456,   21184,
                                   23168, 32768, 35648, 38912,  42432,  46336,   65536,   71424,
                                   77888, 84928, 92672, 131072, 185344, 1482880, 11863232};
    enum { POINTS = sizeof bytes / sizeof bytes[0] };
    static const double ns[POINTS] = {3,     3,   3,     3,     3,   5.77, 8.53, 10,
                                      10,    10,  16.05, 21.84, 25,  25,   25,   55.91,
                                      84.47, 100, 100,   100,   100, 100,  100};
    struct fm_level levels[8];
    assert_int_equal(fm_read_levels(bytes, ns, NULL, POINTS, levels, 8), 4);
    assert_true(levels[2].height > 24.9 && levels[2].height < 25.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_machine),
        cmocka_unit_test(one_soft_rise_is_one_rise),
        cmocka_unit_test(low_and_high_contrast),
        cmocka_unit_test(narrow_plateaus),
        cmocka_unit_test(sloping_plateaus),
        cmocka_unit_test(outliers),
        cmocka_unit_test(underrated_errors),
        cmocka_unit_test(scatter_in_the_knees),
        cmocka_unit_test(a_bad_point_beside_a_rise),
        cmocka_unit_test(a_curve_cut_off_in_its_rise),
        cmocka_unit_test(a_flat_curve_is_one_level),
        cmocka_unit_test(nonsense_has_no_levels),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(random_hierarchies),
        cmocka_unit_test(certainty_means_something),
        cmocka_unit_test(takes_no_sharp_knees_for_noise),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
