/* The TLB string: each line of each page once a lap, page after page, bursts on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/refstring.h"

#define PAGE 4096u
#define UNIT 64u
#define MOST 512u

static size_t page_of(const struct fm_string *string, size_t i)
{
    return string->orders[0].word[i] * (size_t)FM_WORD / PAGE;
}

/* Pages 0, stride, 2 * stride … */
static const uint32_t *pages_apart(uint32_t stride)
{
    static uint32_t pages[MOST];
    for (uint32_t i = 0; i < MOST; i++)
        pages[i] = i * stride;
    return pages;
}

static struct fm_page_plan plan_of(size_t count, unsigned lines, unsigned burst)
{
    return (struct fm_page_plan){.pages = pages_apart(1),
                                 .count = count,
                                 .page = PAGE,
                                 .unit = UNIT,
                                 .lines = lines,
                                 .burst = burst,
                                 .seed = 5};
}

static void build(struct fm_string *string, const struct fm_page_plan *plan)
{
    struct fm_error err;
    assert_true(fm_page_string(string, plan, &err));
}

static void ready(struct fm_string *string)
{
    struct fm_error err;
    fm_string_prime(string, 1);
    fm_string_time(string, string->orders[0].count);
    assert_true(fm_string_check(string, &err));
}

/* Each unit of the arena that is touched, marked by how often. */
static unsigned char *touches(const struct fm_string *string, const struct fm_page_plan *plan)
{
    unsigned char *touched = calloc(string->bytes / plan->unit, 1);
    assert_non_null(touched);
    for (size_t i = 0; i < string->orders[0].count; i++) {
        const size_t at = string->orders[0].word[i] * (size_t)FM_WORD;
        assert_true(at < string->bytes);
        assert_int_equal(at % plan->unit, 0);
        touched[at / plan->unit]++;
    }
    return touched;
}

static void expect_each_line_once(const struct fm_string *string, const struct fm_page_plan *plan)
{
    const size_t units = plan->page / plan->unit;
    unsigned char *touched = touches(string, plan);
    assert_int_equal(string->orders[0].count, plan->count * plan->lines);
    for (size_t i = 0; i < plan->count; i++) {
        unsigned lines = 0;
        for (size_t j = 0; j < units; j++) {
            const unsigned char times = touched[plan->pages[i] * units + j];
            assert_true(times <= 1);
            lines += times;
        }
        assert_int_equal(lines, plan->lines);
    }
    free(touched);
}

/* Pages in no order, some left out, as the groups of the probe are. */
static void any_pages(struct fm_rng *rng, uint32_t *pages, size_t count)
{
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        next += 1 + (uint32_t)fm_rng_below(rng, 8);
        pages[i] = next;
    }
    fm_rng_shuffle(rng, pages, count);
}

static void every_line_of_every_page_comes_once_a_lap(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    for (int i = 0; i < 500; i++) {
        uint32_t pages[200];
        struct fm_page_plan plan = {.pages = pages, .seed = fm_rng_next(&rng)};
        plan.count = 1 + fm_rng_below(&rng, 200);
        plan.page = (size_t)1024 << fm_rng_below(&rng, 5);
        /* Up to units as large as the page. */
        plan.unit = (size_t)8 << fm_rng_below(&rng, 8);
        const size_t units = plan.page / plan.unit;
        plan.burst = 1 + (unsigned)fm_rng_below(&rng, units < 4 ? units : 4);
        /* Any number, odd ones and all there are among them. */
        plan.lines = plan.burst * (1 + (unsigned)fm_rng_below(&rng, units / plan.burst));
        any_pages(&rng, pages, plan.count);
        struct fm_string string;
        build(&string, &plan);
        expect_each_line_once(&string, &plan);
        ready(&string);
        fm_string_free(&string);
    }
}

static void no_page_comes_twice_in_a_row(void **state)
{
    (void)state;
    const size_t counts[] = {2, 3, 37, 256};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned lines = 1; lines <= 4; lines++) {
            const struct fm_page_plan plan = plan_of(counts[i], lines, 1);
            struct fm_string string;
            build(&string, &plan);
            const size_t count = string.orders[0].count;
            /* A lap ends where the next begins. */
            for (size_t j = 0; j < count; j++)
                assert_int_not_equal(page_of(&string, j), page_of(&string, (j + 1) % count));
            fm_string_free(&string);
        }
}

static void every_sweep_visits_the_pages_in_the_same_order(void **state)
{
    (void)state;
    const size_t pages = 37;
    for (unsigned burst = 1; burst <= 4; burst *= 2) {
        const struct fm_page_plan plan = plan_of(pages, 8, burst);
        struct fm_string string;
        build(&string, &plan);
        size_t in_order = 0;
        for (size_t i = 0; i < string.orders[0].count; i++) {
            if (i >= pages * burst)
                assert_int_equal(page_of(&string, i), page_of(&string, i - pages * burst));
            else if (i >= burst)
                in_order += page_of(&string, i) == page_of(&string, i - burst) + 1;
        }
        /* An order that a prefetcher does not learn. */
        assert_true(in_order < pages / 4 * burst);
        fm_string_free(&string);
    }
}

static void a_burst_stays_in_its_page(void **state)
{
    (void)state;
    const size_t pages = 50;
    for (unsigned burst = 2; burst <= 8; burst *= 2) {
        const struct fm_page_plan plan = plan_of(pages, 8, burst);
        struct fm_string string;
        build(&string, &plan);
        const size_t count = string.orders[0].count;
        for (size_t i = 0; i < count; i += burst) {
            for (size_t j = 1; j < burst; j++)
                assert_int_equal(page_of(&string, i + j), page_of(&string, i));
            if (burst < plan.lines)
                assert_int_not_equal(page_of(&string, (i + burst) % count), page_of(&string, i));
        }
        ready(&string);
        fm_string_free(&string);
    }
}

/* The same: neither is it always as far from the one line of a visit to the other, nor are they
   ever neighbours. */
static void no_distance_serves_visits(void **state)
{
    (void)state;
    enum { PAGES = 512, UNITS = 64 };
    uint32_t pages[PAGES];
    struct fm_string string;
    unsigned often[2 * UNITS] = {0}, most = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        pages[i] = i;
    build(&string, &(struct fm_page_plan){.pages = pages,
                                          .count = PAGES,
                                          .page = 4096,
                                          .unit = 64,
                                          .lines = 2,
                                          .burst = 2,
                                          .seed = 7});
    const uint32_t *word = string.orders[0].word;
    for (size_t i = 0; i < 2 * PAGES; i += 2) {
        const int from = (int)(word[i] * FM_WORD / 64 % UNITS);
        const int to = (int)(word[i + 1] * FM_WORD / 64 % UNITS);
        unsigned *seen = &often[UNITS + to - from];
        most = ++*seen > most ? *seen : most;
    }
    assert_int_equal(often[UNITS - 1] + often[UNITS + 1], 0);
    assert_true(most < PAGES / 5);
    fm_string_free(&string);
}

static void bursts_touch_the_same_words(void **state)
{
    (void)state;
    for (unsigned burst = 2; burst <= 6; burst++) {
        const struct fm_page_plan alone = plan_of(100, 2 * burst, 1);
        const struct fm_page_plan bursts = plan_of(100, 2 * burst, burst);
        struct fm_string one, many;
        build(&one, &alone);
        build(&many, &bursts);
        assert_int_equal(one.bytes, many.bytes);
        assert_int_equal(one.orders[0].count, many.orders[0].count);
        unsigned char *a = touches(&one, &alone), *b = touches(&many, &bursts);
        assert_memory_equal(a, b, one.bytes / UNIT);
        /* The pages, too, come in the same order: only the visits are fewer. */
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(page_of(&one, i), page_of(&many, i * burst));
        free(a);
        free(b);
        fm_string_free(&one);
        fm_string_free(&many);
    }
}

/* The most lines of a string that share a set. */
static unsigned fullest(const struct fm_page_plan *plan, size_t sets)
{
    struct fm_string string;
    unsigned *load = calloc(sets, sizeof *load), most = 0;
    assert_non_null(load);
    build(&string, plan);
    for (size_t i = 0; i < string.orders[0].count; i++) {
        const unsigned now = ++load[string.orders[0].word[i] * (size_t)FM_WORD / UNIT % sets];
        most = now > most ? now : most;
    }
    free(load);
    fm_string_free(&string);
    return most;
}

static void lines_spread_over_all_sets_of_a_cache(void **state)
{
    (void)state;
    for (size_t count = 256; count <= MOST; count *= 2)
        for (unsigned lines = 1; lines <= 4; lines++)
            for (size_t sets = 16; sets <= 256; sets *= 2)
                for (uint64_t seed = 0; seed < 20; seed++) {
                    struct fm_page_plan plan = plan_of(count, lines, 1);
                    plan.seed = fm_mix64(seed);
                    const size_t share = count * lines / sets;
                    assert_true(fullest(&plan, sets) <= 2 * share + 2);
                }
}

/* Pages a power of two apart share a set of many a TLB; were a line chosen by the low bits of its
   page's number they would share one of the cache, too. */
static void pages_that_share_a_tlb_set_share_no_cache_set(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride <= 128; stride *= 2)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct fm_page_plan plan = plan_of(256, 2, 1);
            plan.pages = pages_apart(stride);
            plan.seed = fm_mix64(seed);
            assert_true(fullest(&plan, 64) <= 3 * 256 * 2 / 64);
        }
}

static void the_same_plan_is_the_same_string(void **state)
{
    (void)state;
    struct fm_page_plan plan = plan_of(100, 4, 2);
    struct fm_string a, b;
    build(&a, &plan);
    build(&b, &plan);
    assert_string_equal(a.label, b.label);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.orders[0].word, b.orders[0].word, a.orders[0].count * 4);
    fm_string_free(&b);
    plan.seed++;
    build(&b, &plan);
    assert_string_not_equal(a.label, b.label);
    assert_memory_not_equal(a.orders[0].word, b.orders[0].word, a.orders[0].count * 4);
    fm_string_free(&a);
    fm_string_free(&b);
}

static void no_burst_is_a_burst_of_one(void **state)
{
    (void)state;
    const struct fm_page_plan none = plan_of(30, 3, 0), one = plan_of(30, 3, 1);
    struct fm_string a, b;
    build(&a, &none);
    build(&b, &one);
    assert_memory_equal(a.orders[0].word, b.orders[0].word, a.orders[0].count * 4);
    fm_string_free(&a);
    fm_string_free(&b);
}

static void impossible_plans_are_refused(void **state)
{
    (void)state;
    struct fm_page_plan bad[] = {
        plan_of(0, 2, 1),               /* no pages */
        plan_of(4, 0, 1),               /* no lines */
        plan_of(4, PAGE / UNIT + 1, 1), /* more than a page has */
        plan_of(4, 4, 3),               /* a part of a burst is left over */
        plan_of(4, 2, 4),               /* a burst longer than all lines */
        plan_of(4, 2, 1),
        plan_of(4, 2, 1),
        plan_of(4, 2, 1),
    };
    bad[5].unit = FM_WORD / 2;
    bad[6].unit = 3 * FM_WORD; /* units that do not fill the page */
    bad[7].unit = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fm_string string;
        struct fm_error err = {0};
        assert_false(fm_page_string(&string, &bad[i], &err));
        assert_int_not_equal(err.code, FM_ERR_OK);
        assert_true(strlen(err.text) > 0);
    }
    const struct fm_page_plan all = plan_of(4, PAGE / UNIT, PAGE / UNIT);
    struct fm_string string;
    build(&string, &all);
    ready(&string);
    fm_string_free(&string);
}

static void a_flush_comes_before_and_is_not_metered(void **state)
{
    (void)state;
    const struct fm_page_plan plan = plan_of(20, 2, 1);
    struct fm_string string;
    build(&string, &plan);
    fm_string_flush(&string);
    assert_int_equal(string.phase_count, 1);
    const struct fm_phase flush = string.phases[0];
    assert_int_equal(flush.op, FM_OP_FLUSH);
    assert_int_equal(flush.order, 0);
    assert_int_equal(flush.window, 0);
    assert_int_equal(flush.references, string.orders[0].count);
    assert_false(flush.metered);
    assert_false(flush.chained);
    ready(&string);
    assert_int_equal(string.phase_count, 3);
    assert_int_equal(string.phases[0].op, FM_OP_FLUSH);
    assert_int_equal(string.phases[2].op, FM_OP_LOAD);
    assert_true(string.phases[2].metered);
    fm_string_free(&string);
}

/* Cold pages: nothing is visited twice, the region is driven through whole before, and warm tables
   differ from cold ones in one phase only. */
static void cold_pages_differ_in_the_warm_phase_alone(void **state)
{
    (void)state;
    struct fm_cold_plan plan = {.evict_bytes = 64 * 4096,
                                .unit = 64,
                                .page = 4096,
                                .sweep = 40,
                                .count = 10,
                                .apart = 8,
                                .seed = 5};
    struct fm_error err = {0};
    struct fm_string cold, warm;
    assert_true(fm_cold_pages_string(&cold, &plan, &err));
    plan.warm = true;
    assert_true(fm_cold_pages_string(&warm, &plan, &err));
    assert_true(fm_string_check(&cold, &err) && fm_string_check(&warm, &err));
    assert_int_equal(warm.phase_count, cold.phase_count + 1);
    const struct fm_order *timed = &cold.orders[cold.phases[cold.phase_count - 1].order];
    const struct fm_order *region = &cold.orders[cold.phases[0].order];
    const struct fm_order *kept = &warm.orders[warm.phases[1].order];
    assert_int_equal(region->count, plan.evict_bytes / plan.unit);
    assert_int_equal(timed->count, plan.count);
    for (size_t i = 0; i < timed->count; i++) {
        const size_t at = (size_t)timed->word[i] * FM_WORD, page = at / plan.page;
        assert_true(at >= plan.evict_bytes && page % plan.apart == 0);
        bool visited = false;
        for (size_t j = 0; j < kept->count; j++) {
            const size_t other = (size_t)kept->word[j] * FM_WORD;
            visited |= other / plan.page == page;
            assert_true(other / plan.unit != at / plan.unit);
        }
        assert_true(visited);
    }
    fm_string_free(&cold);
    fm_string_free(&warm);
}

/* TLBs may take more pages than caches take bytes: what is visited lies behind all of them. */
static void cold_pages_lie_behind_what_drives_them_out(void **state)
{
    (void)state;
    struct fm_cold_plan plan = {.evict_bytes = 4 * 4096,
                                .unit = 64,
                                .page = 4096,
                                .sweep = 65,
                                .count = 10,
                                .apart = 8,
                                .seed = 5};
    struct fm_error err = {0};
    struct fm_string cold;
    assert_true(fm_cold_pages_string(&cold, &plan, &err));
    assert_true(fm_string_check(&cold, &err));
    const struct fm_order *timed = &cold.orders[cold.phases[cold.phase_count - 1].order];
    for (size_t i = 0; i < timed->count; i++)
        assert_true((size_t)timed->word[i] * FM_WORD >= plan.sweep * plan.page);
    assert_int_equal(cold.orders[cold.phases[0].order].count, plan.evict_bytes / plan.unit);
    assert_int_equal(fm_cold_pages_bytes(&plan), (65 + 10 * 8) * plan.page);
    fm_string_free(&cold);
    plan.evict_bytes = 0;
    assert_false(fm_cold_pages_string(&cold, &plan, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_every_page_comes_once_a_lap),
        cmocka_unit_test(no_page_comes_twice_in_a_row),
        cmocka_unit_test(every_sweep_visits_the_pages_in_the_same_order),
        cmocka_unit_test(a_burst_stays_in_its_page),
        cmocka_unit_test(no_distance_serves_visits),
        cmocka_unit_test(bursts_touch_the_same_words),
        cmocka_unit_test(lines_spread_over_all_sets_of_a_cache),
        cmocka_unit_test(pages_that_share_a_tlb_set_share_no_cache_set),
        cmocka_unit_test(the_same_plan_is_the_same_string),
        cmocka_unit_test(no_burst_is_a_burst_of_one),
        cmocka_unit_test(impossible_plans_are_refused),
        cmocka_unit_test(a_flush_comes_before_and_is_not_metered),
        cmocka_unit_test(cold_pages_differ_in_the_warm_phase_alone),
        cmocka_unit_test(cold_pages_lie_behind_what_drives_them_out),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
