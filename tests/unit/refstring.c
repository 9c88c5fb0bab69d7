/* The reference strings: each is a permutation that keeps the promise it is named for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/refstring.h"

#define PAGE 4096u

static size_t page_of(const struct fm_string *string, size_t i)
{
    return string->orders[0].word[i] * (size_t)FM_WORD / PAGE;
}

static void ready(struct fm_string *string)
{
    struct fm_error err;
    fm_string_prime(string, 1);
    fm_string_time(string, string->orders[0].count);
    assert_true(fm_string_check(string, &err));
}

static struct fm_swept_plan any_plan(struct fm_rng *rng)
{
    struct fm_swept_plan plan = {.page = PAGE << 2 * fm_rng_below(rng, 3),
                                 .seed = fm_rng_next(rng)};
    plan.unit = plan.page >> (3 + fm_rng_below(rng, 7));
    plan.burst = 1 + (unsigned)fm_rng_below(rng, 2);
    plan.bytes = plan.unit * (1 + fm_rng_below(rng, 4096));
    return plan;
}

static void every_string_is_a_permutation_of_all_units(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    bool (*const builders[])(struct fm_string *, const struct fm_swept_plan *,
                             struct fm_error *) = {fm_swept_string, fm_cache_only_string,
                                                   fm_shuffled_string};
    for (int i = 0; i < 300; i++) {
        const struct fm_swept_plan plan = any_plan(&rng);
        for (size_t b = 0; b < 3; b++) {
            struct fm_string string;
            struct fm_error err;
            assert_true(builders[b](&string, &plan, &err));
            assert_int_equal(string.orders[0].count, plan.bytes / plan.unit);
            for (size_t w = 0; w < string.orders[0].count; w++)
                assert_int_equal(string.orders[0].word[w] * FM_WORD % plan.unit, 0);
            ready(&string);
            fm_string_free(&string);
        }
    }
}

static void a_sweep_visits_every_page_in_the_same_order(void **state)
{
    (void)state;
    const size_t pages = 37;
    for (unsigned burst = 1; burst <= 2; burst++) {
        const struct fm_swept_plan plan = {
            .bytes = pages * PAGE, .unit = 64, .page = PAGE, .burst = burst, .seed = 5};
        struct fm_string string;
        struct fm_error err;
        assert_true(fm_swept_string(&string, &plan, &err));
        assert_int_equal(string.orders[0].count, pages * 64);
        for (size_t i = pages * burst; i < string.orders[0].count; i++)
            assert_int_equal(page_of(&string, i), page_of(&string, i - pages * burst));
        ready(&string);
        fm_string_free(&string);
    }
}

/* The number of times a string goes from one page to another in a lap. */
static size_t visits(const struct fm_string *string)
{
    size_t count = 0;
    for (size_t i = 0; i < string->orders[0].count; i++)
        count += i == 0 || page_of(string, i) != page_of(string, i - 1);
    return count;
}

static void bursts_visit_the_same_units_in_half_the_visits(void **state)
{
    (void)state;
    const size_t pages = 50;
    struct fm_string one, two;
    struct fm_error err;
    struct fm_swept_plan plan = {
        .bytes = pages * PAGE, .unit = 64, .page = PAGE, .burst = 1, .seed = 9};
    assert_true(fm_swept_string(&one, &plan, &err));
    plan.burst = 2;
    assert_true(fm_swept_string(&two, &plan, &err));
    assert_int_equal(one.orders[0].count, two.orders[0].count);
    assert_int_equal(visits(&one), 2 * visits(&two));
    for (size_t i = 0; i < pages; i++)
        assert_int_equal(page_of(&one, i), page_of(&two, 2 * i));
    /* No two units of a burst are near enough for one to bring the other along. */
    for (size_t i = 0; i < two.orders[0].count; i += 2)
        assert_true(labs((long)two.orders[0].word[i] - (long)two.orders[0].word[i + 1]) >
                    64 / FM_WORD);
    fm_string_free(&one);
    fm_string_free(&two);
}

static void a_larger_footprint_keeps_the_order_of_a_smaller(void **state)
{
    (void)state;
    struct fm_string small, large;
    struct fm_error err;
    struct fm_swept_plan plan = {.bytes = 10 * PAGE, .unit = 64, .page = PAGE, .seed = 3};
    assert_true(fm_swept_string(&small, &plan, &err));
    plan.bytes = 23 * PAGE;
    assert_true(fm_swept_string(&large, &plan, &err));
    size_t matched = 0;
    for (size_t i = 0; i < large.orders[0].count && matched < small.orders[0].count; i++)
        matched += large.orders[0].word[i] == small.orders[0].word[matched];
    assert_int_equal(matched, small.orders[0].count);
    fm_string_free(&small);
    fm_string_free(&large);
}

static void neighbours_stand_half_a_lap_apart(void **state)
{
    (void)state;
    struct fm_string string;
    struct fm_error err;
    for (unsigned burst = 1; burst <= 2; burst++) {
        const struct fm_swept_plan plan = {
            .bytes = 20 * PAGE, .unit = 64, .page = PAGE, .burst = burst, .seed = 4};
        assert_true(fm_swept_string(&string, &plan, &err));
        const struct fm_order *order = &string.orders[0];
        for (size_t i = 0; i < order->count / 2; i++) {
            const uint32_t here = order->word[i], there = order->word[i + order->count / 2];
            assert_int_equal(here / 8 ^ 1, there / 8);
        }
        fm_string_free(&string);
    }
}

/* A prefetcher that tries out distances, and keeps to the one that serves most often, finds none
   that serves in more than a few visits. */
static void no_distance_serves_bursts(void **state)
{
    (void)state;
    enum { UNITS = 64 };
    const struct fm_swept_plan plan = {
        .bytes = 64 * 4096, .unit = 64, .page = 4096, .burst = 2, .seed = 5};
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_swept_string(&string, &plan, &err));
    const struct fm_order *order = &string.orders[0];
    unsigned often[2 * UNITS] = {0}, most = 0;
    for (size_t i = 0; i + 1 < order->count; i += 2) {
        const int from = (int)(order->word[i] * FM_WORD / 64 % UNITS);
        const int to = (int)(order->word[i + 1] * FM_WORD / 64 % UNITS);
        unsigned *seen = &often[UNITS + to - from];
        most = ++*seen > most ? *seen : most;
    }
    assert_true(most < order->count / 2 / 8);
    fm_string_free(&string);
}

static void the_same_plan_is_the_same_string(void **state)
{
    (void)state;
    struct fm_string a, b;
    struct fm_error err;
    struct fm_swept_plan plan = {.bytes = 100 * PAGE, .unit = 64, .page = PAGE, .seed = 3};
    assert_true(fm_swept_string(&a, &plan, &err) && fm_swept_string(&b, &plan, &err));
    assert_string_equal(a.label, b.label);
    assert_memory_equal(a.orders[0].word, b.orders[0].word, a.orders[0].count * 4);
    fm_string_free(&b);
    plan.seed = 4;
    assert_true(fm_swept_string(&b, &plan, &err));
    assert_true(memcmp(a.orders[0].word, b.orders[0].word, a.orders[0].count * 4) != 0);
    fm_string_free(&a);
    fm_string_free(&b);
}

static void gap_words_are_a_stride_apart_and_the_last_is_moved(void **state)
{
    (void)state;
    for (size_t first = 0; first < 4096; first += 1000) {
        const struct fm_gap_plan plan = {
            .count = 9, .stride = 4096, .offset = 64, .first = first, .seed = 2};
        struct fm_string string;
        struct fm_error err;
        assert_true(fm_gap_string(&string, &plan, &err));
        bool seen[9] = {false};
        for (size_t i = 0; i < 9; i++) {
            const size_t at = string.orders[0].word[i] * (size_t)FM_WORD - first;
            const size_t which = at / 4096;
            assert_true(which < 9 && !seen[which]);
            seen[which] = true;
            assert_int_equal(at % 4096, which == 8 ? 64 : 0);
        }
        ready(&string);
        fm_string_free(&string);
    }
}

/* Every line of every column once, none of one that is left out, and each page as often as no other
   while it has lines left. */
static void columns_are_swept_page_by_page(void **state)
{
    (void)state;
    struct fm_rng rng;
    struct fm_error err;
    fm_rng_seed(&rng, 5);
    for (int round = 0; round < 100; round++) {
        struct fm_column_plan plan = {.count = 2 + (unsigned)fm_rng_below(&rng, 12),
                                      .apart = 128 * (64 + fm_rng_below(&rng, 200)),
                                      .line = 64,
                                      .absent = FM_NO_COLUMN,
                                      .shifted = fm_rng_below(&rng, 2),
                                      .page = PAGE,
                                      .seed = fm_rng_next(&rng)};
        struct fm_string all, thin;
        size_t visits[64] = {0};
        plan.bytes = 64 * (1 + fm_rng_below(&rng, plan.apart / 128));
        if (fm_rng_below(&rng, 2))
            plan.absent = (unsigned)fm_rng_below(&rng, plan.count);
        const size_t columns = plan.count - (plan.absent < plan.count);
        assert_true(fm_column_string(&all, &plan, &err));
        plan.thin = true;
        assert_true(fm_column_string(&thin, &plan, &err));
        assert_int_equal(all.orders[0].count, columns * (plan.bytes / 64));
        for (size_t i = 0; i < all.orders[0].count; i++) {
            const size_t at = all.orders[0].word[i] * (size_t)FM_WORD;
            const size_t column = at / plan.apart;
            const size_t begin = plan.shifted && column % 2 ? plan.apart / 2 : 0;
            assert_true(column < plan.count && column != plan.absent);
            assert_true(at % plan.apart >= begin && at % plan.apart < begin + plan.bytes);
            assert_int_equal(at % 64, 0);
            visits[column]++;
        }
        for (unsigned i = 0; i < plan.count; i++)
            assert_int_equal(visits[i], i == plan.absent ? 0 : plan.bytes / 64);
        for (size_t i = 0; i < thin.orders[0].count; i++) {
            assert_int_equal(page_of(&thin, i), page_of(&all, i));
            for (size_t j = 0; j < i; j++)
                assert_int_not_equal(page_of(&thin, i), page_of(&thin, j));
        }
        ready(&all);
        ready(&thin);
        fm_string_free(&all);
        fm_string_free(&thin);
    }
}

static void the_gap_control_touches_each_page_once(void **state)
{
    (void)state;
    for (size_t first = 0; first < PAGE; first += 1000) {
        const struct fm_gap_plan plan = {.count = 20, .stride = 1024, .first = first, .seed = 2};
        struct fm_string string;
        struct fm_error err;
        assert_true(fm_gap_control_string(&string, &plan, PAGE, &err));
        /* 20 KiB, or less by where the last word begins. */
        const size_t last = (first + 19 * 1024) / PAGE;
        assert_int_equal(string.orders[0].count, last + 1);
        assert_true(string.bytes <= (last + 1) * PAGE);
        ready(&string);
        fm_string_free(&string);
    }
}

/* Lines of a length that stripes of a width leave untouched, as a part of all lines. */
static double untouched(size_t stripe, size_t packed, size_t line)
{
    const struct fm_stripe_plan plan = {
        .bytes = 64 * PAGE, .stripe = stripe, .page = PAGE, .packed = packed, .seed = 7};
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_stripe_string(&string, &plan, &err));
    unsigned char *touched = calloc(plan.bytes / line, 1);
    assert_non_null(touched);
    for (size_t i = 0; i < string.orders[0].count; i++)
        touched[string.orders[0].word[i] * (size_t)FM_WORD / line] = 1;
    size_t none = 0;
    for (size_t i = 0; i < plan.bytes / line; i++)
        none += !touched[i];
    free(touched);
    ready(&string);
    fm_string_free(&string);
    return (double)none / (double)(plan.bytes / line);
}

static void stripes_narrower_than_a_line_touch_them_all(void **state)
{
    (void)state;
    for (size_t line = 16; line <= 256; line *= 2) {
        assert_true(untouched(line / 2, 0, line) == 0);
        assert_true(untouched(line, 0, line) == 0.5);
        assert_true(untouched(2 * line, 0, line) == 0.75);
    }
}

static void packed_stripes_leave_half_of_the_lines_whatever_their_length(void **state)
{
    (void)state;
    for (size_t line = 16; line <= 256; line *= 2)
        for (size_t stripe = 16; stripe <= line; stripe *= 2)
            assert_true(untouched(stripe, 256, line) == 0.5);
}

/* A footprint that ends in the midst of a run. */
static void packed_stripes_stay_inside_their_footprint(void **state)
{
    (void)state;
    for (size_t bytes = 256; bytes <= PAGE; bytes += 32) {
        const struct fm_stripe_plan plan = {
            .bytes = bytes, .stripe = 16, .page = PAGE, .packed = 256, .seed = bytes};
        struct fm_string string;
        struct fm_error err;
        assert_true(fm_stripe_string(&string, &plan, &err));
        assert_int_equal(string.orders[0].count, bytes / 32);
        for (size_t i = 0; i < string.orders[0].count; i++)
            assert_true(string.orders[0].word[i] * (size_t)FM_WORD < bytes);
        ready(&string);
        fm_string_free(&string);
    }
}

/* Sixteen lines of 64 bytes to a set, of which the stripes touch half: the part of those touched
   that a cache of eleven ways has no room for. */
static double homeless(size_t sets, unsigned variant)
{
    const struct fm_stripe_plan plan = {
        .bytes = sets * 64 * 16, .stripe = 64, .page = PAGE, .variant = variant, .seed = 7};
    struct fm_string string;
    struct fm_error err;
    unsigned *load = calloc(sets, sizeof *load), over = 0;
    assert_non_null(load);
    assert_true(fm_stripe_string(&string, &plan, &err));
    for (size_t i = 0; i < string.orders[0].count; i++) {
        const size_t set = string.orders[0].word[i] * (size_t)FM_WORD / 64 % sets;
        over += ++load[set] > 11;
    }
    const double all = (double)string.orders[0].count;
    free(load);
    fm_string_free(&string);
    return over / all;
}

static void some_choice_of_stripes_suits_any_number_of_sets(void **state)
{
    (void)state;
    for (size_t sets = 64; sets <= 2048; sets += 32) {
        double least = 1;
        for (unsigned variant = 0; variant < 8; variant++) {
            const double part = homeless(sets, variant);
            least = part < least ? part : least;
        }
        assert_true(least < 0.03);
    }
}

static void spots_stand_a_stride_apart(void **state)
{
    (void)state;
    const struct fm_spot_plan plan = {.count = 100, .stride = PAGE + 64};
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_spot_string(&string, &plan, &err));
    for (size_t i = 0; i < plan.count; i++)
        assert_int_equal(string.orders[0].word[i] * (size_t)FM_WORD,
                         (plan.count - 1 - i) * plan.stride);
    ready(&string);
    fm_string_free(&string);
    assert_false(fm_spot_string(&string, &(struct fm_spot_plan){.count = 0, .stride = 64}, &err));
    assert_false(fm_spot_string(&string, &(struct fm_spot_plan){.count = 4, .stride = 12}, &err));
}

static void pairs_differ_as_asked(void **state)
{
    (void)state;
    const size_t differ[] = {0, 8, 64 + 8, 512};
    struct fm_error err;
    struct fm_string string;
    for (size_t i = 0; i < 4; i++) {
        const struct fm_pair_plan plan = {.bytes = 1024, .differ = differ[i], .seed = 3};
        assert_true(fm_pair_string(&string, &plan, &err));
        const uint32_t *word = string.orders[0].word;
        assert_int_equal(string.orders[0].count, 2 * 1024 / FM_WORD);
        for (size_t at = 0; at < string.orders[0].count; at += 2)
            assert_int_equal((word[at] ^ word[at + 1]) * FM_WORD, 1024 + differ[i]);
        ready(&string);
        fm_string_free(&string);
    }
    const struct fm_pair_plan beside = {.bytes = 1024, .neighbours = true, .seed = 3};
    assert_true(fm_pair_string(&string, &beside, &err));
    for (size_t at = 0; at < string.orders[0].count; at += 2)
        assert_int_equal(string.orders[0].word[at] ^ string.orders[0].word[at + 1], 1);
    ready(&string);
    fm_string_free(&string);
    const struct fm_pair_plan odd = {.bytes = 1000};
    assert_false(fm_pair_string(&string, &odd, &err));
}

static void growing_never_leaves_the_order(void **state)
{
    (void)state;
    const struct fm_swept_plan plan = {.bytes = 24, .unit = 8, .page = PAGE, .seed = 1};
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_swept_string(&string, &plan, &err));
    fm_string_grow(&string);
    fm_string_time(&string, 10);
    assert_true(fm_string_check(&string, &err));
    assert_int_equal(string.phases[string.phase_count - 2].window, 3);
    fm_string_free(&string);
}

static void the_check_finds_what_is_wrong(void **state)
{
    (void)state;
    const struct fm_swept_plan plan = {.bytes = PAGE, .unit = 64, .page = PAGE, .seed = 1};
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_swept_string(&string, &plan, &err));
    assert_false(fm_string_check(&string, &err)); /* nothing metered */
    fm_string_time(&string, 10);
    assert_true(fm_string_check(&string, &err));
    const uint32_t kept = string.orders[0].word[3];
    string.orders[0].word[3] = string.orders[0].word[4];
    assert_false(fm_string_check(&string, &err)); /* a word twice */
    string.orders[0].word[3] = PAGE / FM_WORD;
    assert_false(fm_string_check(&string, &err)); /* outside */
    string.orders[0].word[3] = kept;
    fm_string_prime(&string, 1);
    assert_false(fm_string_check(&string, &err)); /* metered, but not the last */
    fm_string_free(&string);
}

static void impossible_plans_are_refused(void **state)
{
    (void)state;
    struct fm_string string;
    struct fm_error err;
    const struct fm_swept_plan bad[] = {{.bytes = 32, .unit = 64, .page = PAGE},
                                        {.bytes = PAGE, .unit = 4, .page = PAGE},
                                        {.bytes = PAGE, .unit = 24, .page = PAGE},
                                        {.bytes = PAGE, .unit = 64, .page = 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(fm_swept_string(&string, &bad[i], &err));
    assert_false(fm_gap_string(&string, &(struct fm_gap_plan){.count = 1, .stride = 64}, &err));
    assert_false(fm_gap_string(&string, &(struct fm_gap_plan){.count = 4, .stride = 12}, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_string_is_a_permutation_of_all_units),
        cmocka_unit_test(a_sweep_visits_every_page_in_the_same_order),
        cmocka_unit_test(bursts_visit_the_same_units_in_half_the_visits),
        cmocka_unit_test(a_larger_footprint_keeps_the_order_of_a_smaller),
        cmocka_unit_test(neighbours_stand_half_a_lap_apart),
        cmocka_unit_test(no_distance_serves_bursts),
        cmocka_unit_test(the_same_plan_is_the_same_string),
        cmocka_unit_test(gap_words_are_a_stride_apart_and_the_last_is_moved),
        cmocka_unit_test(columns_are_swept_page_by_page),
        cmocka_unit_test(the_gap_control_touches_each_page_once),
        cmocka_unit_test(stripes_narrower_than_a_line_touch_them_all),
        cmocka_unit_test(packed_stripes_leave_half_of_the_lines_whatever_their_length),
        cmocka_unit_test(packed_stripes_stay_inside_their_footprint),
        cmocka_unit_test(some_choice_of_stripes_suits_any_number_of_sets),
        cmocka_unit_test(spots_stand_a_stride_apart),
        cmocka_unit_test(pairs_differ_as_asked),
        cmocka_unit_test(growing_never_leaves_the_order),
        cmocka_unit_test(the_check_finds_what_is_wrong),
        cmocka_unit_test(impossible_plans_are_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
