/* Knees fitted to sums of knees: what a blurred curve would show if nothing blurred it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/knees.h"
#include "machine/simulated/simulated.h"
#include "refstring/refstring.h"
#include "synthetic.h"

#define CURVES 24
#define NOISE  0.01
#define KNEE(bytes, number, kind, classes)                                                         \
    {                                                                                              \
        .capacity = (bytes), .ways = (number), .shape = (kind), .colours = (classes)               \
    }
#define PAGE 4096

/* Plateaus at least 8 times apart, knees sharp or scattered; fewer ways than four on scattered
   pages blur over such a distance, and more than one shape describes them. */
static void any_sum(struct fm_rng *rng, struct synthetic *s)
{
    static const unsigned ways[] = {4, 6, 8, 11, 12, 16, 24};
    synthetic_any(rng, 8, 1.5, s);
    if (s->levels > 4)
        s->levels = 4;
    for (size_t l = 0; l < s->levels; l++) {
        s->knee[l] = fm_rng_below(rng, 2) ? KNEE_POISSON : KNEE_SHARP;
        s->ways[l] = ways[fm_rng_below(rng, sizeof ways / sizeof *ways)];
    }
    s->from = s->capacity[0] / 16;
    s->to = s->capacity[s->levels - 2] * 16;
}

static void draw_sum(const struct synthetic *s, struct fm_rng *rng, struct synthetic_curve *curve)
{
    curve->n = 0;
    for (double bytes = s->from; bytes <= s->to; bytes *= exp2(1.0 / 8)) {
        double y = s->latency[0];
        for (size_t l = 0; l + 1 < s->levels; l++)
            y += (s->latency[l + 1] - s->latency[l]) *
                 synthetic_misses(s->knee[l], bytes / s->capacity[l], s->ways[l]);
        curve->bytes[curve->n] = bytes;
        curve->error[curve->n] = NOISE;
        curve->latency[curve->n++] = y * (1 + NOISE * synthetic_normal(rng));
    }
}

/* Where the curve passes half way between two plateaus. */
static double half_way(const struct synthetic *s, const struct synthetic_curve *curve, size_t l)
{
    const double half = (s->latency[l] + s->latency[l + 1]) / 2;
    size_t i = 0;
    while (i + 1 < curve->n && curve->latency[i] < half)
        i++;
    return curve->bytes[i];
}

static struct fm_knee_curve curve_of(const struct synthetic_curve *curve)
{
    return (struct fm_knee_curve){.bytes = curve->bytes,
                                  .latency = curve->latency,
                                  .error = curve->error,
                                  .n = curve->n,
                                  .page = PAGE};
}

static bool fit_sum(const struct synthetic *s, const struct synthetic_curve *curve,
                    struct fm_knee_fit *fit)
{
    struct fm_knee_place places[SYNTHETIC_LEVELS];
    for (size_t l = 0; l + 1 < s->levels; l++)
        places[l] = (struct fm_knee_place){half_way(s, curve, l), false};
    const struct fm_knee_curve given = curve_of(curve);
    return fm_fit_knees(&given, places, s->levels - 1, fit);
}

/* A curve of any sum of knees, and the fit to it. */
static void fit_any(struct fm_rng *rng, struct synthetic *s, struct synthetic_curve *curve,
                    struct fm_knee_fit *fit)
{
    any_sum(rng, s);
    draw_sum(s, rng, curve);
    assert_true(fit_sum(s, curve, fit));
}

/* The footprint at which half of the references miss: that is what the eye calls the knee. Capacity
   and ways of a fit are parameters of its shape, and can make up for one another. */
static double true_half(const struct synthetic *s, size_t l)
{
    double low = s->capacity[l] / 64, high = s->capacity[l] * 8;
    for (int i = 0; i < 50; i++) {
        const double middle = sqrt(low * high);
        const double misses = synthetic_misses(s->knee[l], middle / s->capacity[l], s->ways[l]);
        *(misses < 0.5 ? &low : &high) = middle;
    }
    return low;
}

static double fitted_half(const struct fm_knee *knee)
{
    double low = knee->capacity / 64, high = knee->capacity * 8;
    for (int i = 0; i < 50; i++) {
        const double middle = sqrt(low * high);
        *(fm_knee_misses(knee, middle) < 0.5 ? &low : &high) = middle;
    }
    return low;
}

static void finds_heights_and_places(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    struct fm_rng rng;
    fm_rng_seed(&rng, 11);
    for (int c = 0; c < CURVES; c++) {
        struct synthetic s;
        struct fm_knee_fit fit;
        fit_any(&rng, &s, &curve, &fit);
        assert_int_equal(fit.count, s.levels - 1);
        assert_true(fit.error < 3);
        for (size_t l = 0; l < s.levels; l++)
            if (fabs(fit.heights[l] / s.latency[l] - 1) > 0.02)
                fail_msg("curve %d: height %zu is %g, not %g", c, l, fit.heights[l], s.latency[l]);
        for (size_t l = 0; l + 1 < s.levels; l++)
            /* A sharp knee can lie anywhere between two points. */
            if (fabs(fitted_half(&fit.knees[l]) / true_half(&s, l) - 1) >
                (s.knee[l] == KNEE_SHARP ? 0.09 : 0.05))
                fail_msg("curve %d: knee %zu is at %g, not %g", c, l, fitted_half(&fit.knees[l]),
                         true_half(&s, l));
    }
}

/* Two scattered knees so close that the curve is level nowhere between them. */
static void sees_a_plateau_that_is_not_there(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    const struct synthetic s = {.levels = 3,
                                .capacity = {1 << 18, 5 << 18},
                                .latency = {10, 40, 200},
                                .knee = {KNEE_POISSON, KNEE_POISSON},
                                .ways = {8, 8},
                                .from = 1 << 14,
                                .to = 1 << 24};
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fm_knee_fit fit;
        struct fm_rng rng;
        fm_rng_seed(&rng, seed);
        draw_sum(&s, &rng, &curve);
        for (size_t i = 2; i + 2 < curve.n; i++)
            if (curve.latency[i] > 20 && curve.latency[i] < 100)
                assert_true(curve.latency[i + 2] > 1.1 * curve.latency[i - 2]);
        assert_true(fit_sum(&s, &curve, &fit));
        /* Knees like these describe it as well as its noise lets them. */
        assert_true(fit.error < 1.4);
        assert_true(fabs(fit.heights[1] / 40 - 1) < 0.1);
    }
}

/* A soft knee of two ways that begins to miss with the first level and ends far out, between two
   sharp ones: a search that begins with the outermost can lose its way there. */
static void is_not_lost_between_sharp_and_soft(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    const struct fm_knee_fit truth = {.knees = {KNEE(15360, 8, FM_KNEE_CONTIGUOUS, 0),
                                                KNEE(81920, 2, FM_KNEE_PAGES, 8),
                                                KNEE(1 << 20, 8, FM_KNEE_CONTIGUOUS, 0)},
                                      .heights = {1.46, 6.44, 22.4, 157.6},
                                      .count = 3};
    const struct fm_knee_place places[] = {{17792, false}, {92672, true}, {1143296, false}};
    struct fm_knee_fit fit;
    for (double bytes = 512; bytes < 1 << 27; bytes *= bytes < 1 << 21 ? exp2(1.0 / 8) : 2) {
        double y = truth.heights[0];
        for (size_t l = 0; l < truth.count; l++)
            y += (truth.heights[l + 1] - truth.heights[l]) * fm_fit_misses(&truth, l, bytes);
        curve.bytes[curve.n] = bytes;
        curve.error[curve.n] = NOISE;
        curve.latency[curve.n++] = y;
    }
    const struct fm_knee_curve given = curve_of(&curve);
    assert_true(fm_fit_knees(&given, places, truth.count, &fit));
    for (size_t l = 0; l <= truth.count; l++)
        assert_true(fabs(fit.heights[l] / truth.heights[l] - 1) < 0.1);
}

/* The footprint of a miss ratio, by the definition of the synthetic knee. */
static double true_crossing(const struct synthetic *s, size_t l, double misses)
{
    double low = s->capacity[l] / 64, high = s->capacity[l] * 8;
    while (high / low > 1.0001) {
        const double middle = sqrt(low * high);
        *(synthetic_misses(s->knee[l], middle / s->capacity[l], s->ways[l]) > misses ? &high
                                                                                     : &low) =
            middle;
    }
    return low;
}

static void crossings_lie_in_their_range(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    struct fm_rng rng;
    unsigned inside = 0, all = 0;
    fm_rng_seed(&rng, 5);
    for (int c = 0; c < CURVES; c++) {
        struct synthetic s;
        struct fm_knee_fit fit;
        fit_any(&rng, &s, &curve, &fit);
        const struct fm_knee_curve given = curve_of(&curve);
        for (size_t l = 0; l < fit.count; l++) {
            double low, high;
            const double truth = true_crossing(&s, l, 0.05);
            assert_true(fm_knee_crossing_range(&given, &fit, l, 0.05, &low, &high));
            assert_true(low <= fm_knee_crossing(&fit.knees[l], 0.05) * 1.001);
            assert_true(high >= fm_knee_crossing(&fit.knees[l], 0.05) * 0.999);
            if (low < 0.6 * truth || high > 1.7 * truth)
                fail_msg("curve %d: knee %zu (%d, %u ways) crosses at %g..%g, not %g", c, l,
                         (int)s.knee[l], s.ways[l], low, high, truth);
            inside += low <= truth * 1.02 && truth <= high * 1.02;
            all++;
        }
    }
    assert_true(inside >= 0.9 * all);
}

/* Few colours make a knee sharper than many; a page is then no longer as good as a line. */
static void tells_pages_from_lines(void **state)
{
    (void)state;
    const struct fm_knee pages = KNEE(1 << 20, 16, FM_KNEE_PAGES, 16);
    const struct fm_knee lines = KNEE(1 << 20, 16, FM_KNEE_LINES, 0);
    double bytes[64], latency[64], error[64];
    struct fm_knee_fit fit;
    const struct fm_knee_place place = {1 << 20, false};
    assert_true(fm_knee_crossing(&pages, 0.05) > 1.02 * fm_knee_crossing(&lines, 0.05));
    for (size_t i = 0; i < 64; i++) {
        bytes[i] = exp2(17 + (double)i / 12);
        latency[i] = 10 + 90 * fm_knee_misses(&pages, bytes[i]);
        error[i] = 0.005;
    }
    assert_true(fm_fit_knees(
        &(struct fm_knee_curve){
            .bytes = bytes, .latency = latency, .error = error, .n = 64, .page = PAGE},
        &place, 1, &fit));
    assert_int_equal(fit.knees[0].shape, FM_KNEE_PAGES);
    assert_true(fabs(fm_knee_crossing(&fit.knees[0], 0.05) / fm_knee_crossing(&pages, 0.05) - 1) <
                0.03);
}

static void a_crossing_is_where_the_misses_are(void **state)
{
    (void)state;
    for (int shape = FM_KNEE_LINES; shape <= FM_KNEE_CONTIGUOUS_RANDOM; shape++)
        for (unsigned ways = 1; ways <= 32; ways *= 2) {
            const struct fm_knee knee = KNEE(1 << 20, ways, (enum fm_knee_shape)shape, 8);
            const double at = fm_knee_crossing(&knee, 0.05);
            assert_true(fm_knee_misses(&knee, at * 0.999) <= 0.0501);
            assert_true(fm_knee_misses(&knee, at * 1.001) >= 0.0499 || shape == FM_KNEE_RANDOM ||
                        shape == FM_KNEE_CONTIGUOUS_RANDOM);
        }
}

static void owns_up_to_a_curve_without_knees(void **state)
{
    (void)state;
    double bytes[64], latency[64], error[64];
    const struct fm_knee_place place = {1 << 20, false};
    struct fm_knee_fit fit;
    for (size_t i = 0; i < 64; i++) {
        bytes[i] = exp2(14 + (double)i / 5);
        latency[i] = 3 + 2 * (double)(i % 7); /* a saw */
        error[i] = 0.03;
    }
    if (fm_fit_knees(
            &(struct fm_knee_curve){
                .bytes = bytes, .latency = latency, .error = error, .n = 64, .page = PAGE},
            &place, 1, &fit))
        assert_true(fit.error > 3);
}

static void refuses_too_little(void **state)
{
    (void)state;
    const struct fm_knee_place place = {1024, false};
    const double bytes[2] = {1024, 2048}, latency[2] = {1, 2}, error[2] = {1, 1};
    const struct fm_knee_curve curve = {
        .bytes = bytes, .latency = latency, .error = error, .n = 2, .page = PAGE};
    struct fm_knee_fit fit;
    assert_false(fm_fit_knees(&curve, &place, 1, &fit));
    assert_false(fm_fit_knees(&curve, &place, 0, &fit));
}

/* Three levels of which the third has two ways, and begins to miss by itself long before the second
   is full. */
static const struct fm_description three = {
    .clock_mhz = 1000,
    .add_latency = 1,
    .page_size = PAGE,
    .page_mapping = FM_MAPPING_RANDOM,
    .memory_latency = 100,
    .caches = {{.name = "l1d", .level = 1, .capacity = 8192, .line = 64, .ways = 2, .latency = 1},
               {.name = "l2",
                .level = 2,
                .holds = FM_HOLDS_BOTH,
                .capacity = 131072,
                .line = 64,
                .ways = 8,
                .latency = 5,
                .index = FM_INDEX_PHYSICAL},
               {.name = "l3",
                .level = 3,
                .holds = FM_HOLDS_BOTH,
                .capacity = 524288,
                .line = 64,
                .ways = 2,
                .latency = 20,
                .index = FM_INDEX_PHYSICAL}},
    .cache_count = 3,
};

/* What the simulator counts, over placements: misses of each level over all references. */
static void count_misses(struct fm_machine *machine, size_t bytes, unsigned placements,
                         unsigned laps, double misses[3])
{
    misses[0] = misses[1] = misses[2] = 0;
    for (unsigned i = 0; i < placements; i++) {
        const struct fm_swept_plan plan = {.bytes = bytes, .unit = 256, .page = PAGE, .seed = i};
        struct fm_string string;
        struct fm_sample sample;
        struct fm_error err;
        assert_true(machine->ops->place(machine, bytes, 0, &err));
        assert_true(fm_swept_string(&string, &plan, &err));
        fm_string_prime(&string, laps);
        fm_string_time(&string, string.orders[0].count);
        assert_true(machine->ops->run(machine, &string, 1, &sample, &err));
        fm_string_free(&string);
        for (size_t l = 0; l < 3; l++)
            misses[l] +=
                (double)sample.counts.cache_miss[l] / (double)sample.references / placements;
    }
}

static void hold_against_the_simulator(bool inclusive)
{
    struct fm_description machine = three;
    struct fm_error err;
    const struct fm_knee_fit fit = {.knees = {KNEE(8192, 2, FM_KNEE_CONTIGUOUS, 0),
                                              KNEE(131072, 8, FM_KNEE_PAGES, 4),
                                              KNEE(524288, 2, FM_KNEE_PAGES, 64)},
                                    .count = 3,
                                    .inclusive = {false, false, inclusive}};
    machine.caches[2].inclusion = inclusive ? FM_INCLUSION_INCLUSIVE : FM_INCLUSION_NONE;
    struct fm_machine *simulated = fm_simulated_open(&machine, 1, &err);
    assert_non_null(simulated);
    fm_simulated_count(simulated, true);
    for (size_t bytes = 16 * PAGE; bytes <= 64 * PAGE; bytes += 8 * PAGE) {
        double misses[3];
        count_misses(simulated, bytes, 150, 3, misses);
        for (size_t l = 1; l < 3; l++)
            assert_float_equal(fm_fit_misses(&fit, l, (double)bytes), misses[l], 0.05);
        if (!inclusive && bytes <= 24 * PAGE)
            assert_true(fm_fit_misses(&fit, 2, (double)bytes) < 0.01);
    }
    simulated->ops->close(simulated);
}

static void a_level_sees_what_those_inside_miss(void **state)
{
    (void)state;
    hold_against_the_simulator(false);
}

static void what_an_inclusive_level_loses_is_lost_inside(void **state)
{
    (void)state;
    hold_against_the_simulator(true);
}

/* What is known of a level of eight ways, whatever its policy. */
static struct fm_known_ways eight_ways(double capacity, unsigned shapes)
{
    return (struct fm_known_ways){
        .ways = 8, .capacity = capacity, .page = PAGE, .shapes = shapes, .lru = false};
}

static void a_known_policy_misses_what_the_simulator_does(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU,       FM_REPLACE_RANDOM,
                                                   FM_REPLACE_TREE_PLRU, FM_REPLACE_BIT_PLRU,
                                                   FM_REPLACE_NRU,       FM_REPLACE_SRRIP};
    static const struct {
        enum fm_knee_shape shape;
        enum fm_index index;
        unsigned placements;
    } kinds[] = {{FM_KNEE_CONTIGUOUS, FM_INDEX_VIRTUAL, 1}, {FM_KNEE_PAGES, FM_INDEX_PHYSICAL, 60}};
    for (size_t k = 0; k < 2; k++) {
        struct fm_known_knee known;
        const struct fm_known_ways ways = eight_ways(131072, 1u << kinds[k].shape);
        fm_know_knee(&known, &ways);
        assert_int_equal(known.count, 6);
        for (size_t i = 0; i < known.count; i++) {
            struct fm_description machine = three;
            struct fm_error err;
            struct fm_knee knee = known.choices[i];
            machine.cache_count = 1;
            machine.caches[0] = three.caches[1];
            machine.caches[0].level = 1;
            machine.caches[0].index = kinds[k].index;
            machine.caches[0].replacement = policies[i];
            knee.capacity = known.capacity;
            struct fm_machine *simulated = fm_simulated_open(&machine, 1, &err);
            assert_non_null(simulated);
            fm_simulated_count(simulated, true);
            for (size_t bytes = 24 * PAGE; bytes <= 64 * PAGE; bytes += 8 * PAGE) {
                double misses[3];
                count_misses(simulated, bytes, kinds[k].placements, 40, misses);
                assert_float_equal(fm_knee_misses(&knee, (double)bytes), misses[0], 0.06);
            }
            simulated->ops->close(simulated);
        }
    }
}

static void knows_which_policies_there_can_be(void **state)
{
    (void)state;
    struct fm_known_knee known;
    struct fm_known_ways ways = eight_ways(0, 1u << FM_KNEE_LINES | 1u << FM_KNEE_PAGES);
    ways.ways = 6; /* no tree */
    fm_know_knee(&known, &ways);
    assert_int_equal(known.count, 2 * 5);
    ways.lru = true;
    fm_know_knee(&known, &ways);
    assert_int_equal(known.count, 2);
    ways.lru = false;
    ways.ways = 1; /* nothing to choose */
    fm_know_knee(&known, &ways);
    assert_int_equal(known.count, 2);
}

/* A second level of two ways and a third that begins to miss before that is full: the sum alone
   leaves open which of them is how wide. */
static void a_known_knee_leaves_the_others(void **state)
{
    (void)state;
    static struct synthetic_curve curve;
    const struct fm_knee_fit truth = {.knees = {KNEE(16384, 4, FM_KNEE_CONTIGUOUS, 0),
                                                KNEE(262144, 2, FM_KNEE_PAGES, 32),
                                                KNEE(2097152, 4, FM_KNEE_LINES, 0)},
                                      .heights = {1, 4, 12, 80},
                                      .count = 3};
    const struct fm_knee_place places[] = {{18000, false}, {200000, true}, {1500000, true}};
    const struct fm_known_ways right = {2, 262144, PAGE, 1u << FM_KNEE_PAGES, true};
    const struct fm_known_ways wrong = {16, 131072, PAGE, 1u << FM_KNEE_PAGES, true};
    struct fm_rng rng;
    fm_rng_seed(&rng, 3);
    for (double bytes = 2048; bytes < 1 << 26; bytes *= exp2(1.0 / 6)) {
        double y = truth.heights[0];
        for (size_t l = 0; l < truth.count; l++)
            y += (truth.heights[l + 1] - truth.heights[l]) * fm_fit_misses(&truth, l, bytes);
        curve.bytes[curve.n] = bytes;
        curve.error[curve.n] = NOISE;
        curve.latency[curve.n++] = y * (1 + NOISE * synthetic_normal(&rng));
    }
    struct fm_knee_curve given = curve_of(&curve);
    struct fm_knee_fit fit, other;
    fm_know_knee(&given.known[1], &right);
    assert_true(fm_fit_knees(&given, places, 3, &fit));
    assert_int_equal(fit.knees[1].ways, 2);
    assert_true(fit.knees[1].capacity == 262144);
    for (size_t l = 1; l < 3; l++)
        assert_true(fabs(fm_fit_crossing(&fit, l, 0.05) / fm_fit_crossing(&truth, l, 0.05) - 1) <
                    0.06);
    /* What is not so does not fit. */
    fm_know_knee(&given.known[1], &wrong);
    assert_true(fm_fit_knees(&given, places, 3, &other));
    assert_true(other.error > 2 * fit.error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_heights_and_places),
        cmocka_unit_test(sees_a_plateau_that_is_not_there),
        cmocka_unit_test(is_not_lost_between_sharp_and_soft),
        cmocka_unit_test(crossings_lie_in_their_range),
        cmocka_unit_test(tells_pages_from_lines),
        cmocka_unit_test(a_crossing_is_where_the_misses_are),
        cmocka_unit_test(owns_up_to_a_curve_without_knees),
        cmocka_unit_test(refuses_too_little),
        cmocka_unit_test(a_level_sees_what_those_inside_miss),
        cmocka_unit_test(what_an_inclusive_level_loses_is_lost_inside),
        cmocka_unit_test(a_known_policy_misses_what_the_simulator_does),
        cmocka_unit_test(knows_which_policies_there_can_be),
        cmocka_unit_test(a_known_knee_leaves_the_others),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
