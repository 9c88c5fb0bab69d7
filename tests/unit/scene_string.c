/* Orders of prime-then-measure strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refstring/refstring.h"

#define PAGE 4096u

static struct fm_string empty(void)
{
    struct fm_string string;
    fm_string_empty(&string, "scene", 64 * PAGE);
    return string;
}

/* One word in each page of the group, in one order of pages whatever the offset. */
static void test_spots(void **state)
{
    (void)state;
    struct fm_error err;
    struct fm_string string = empty();
    const struct fm_group group = {
        .first = 4, .count = 16, .page = PAGE, .unit = 128, .span = 256, .seed = 7};
    assert_true(fm_string_add_spots(&string, &group, 0, &err));
    assert_true(fm_string_add_spots(&string, &group, 64, &err));
    unsigned pages = 0;
    for (size_t i = 0; i < 16; i++) {
        const uint32_t at = string.orders[0].word[i] * FM_WORD;
        pages |= 1u << (at / PAGE - 4);
        assert_int_equal(at % 128, 0);
        assert_true(at % PAGE + 256 <= PAGE);
        assert_int_equal(string.orders[1].word[i] * FM_WORD, at + 64);
    }
    assert_int_equal(pages, 0xffff);
    fm_string_time(&string, 16);
    assert_true(fm_string_check(&string, &err));
    fm_string_free(&string);
}

/* Sets of ways that are no power of two, or no part of a page, get as few of them as others. */
static void test_spots_fill_sets_evenly(void **state)
{
    (void)state;
    static const size_t ways[] = {4096, 6144, 8192, 12288, 16384, 20480, 24576};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t page = 4096; page <= 65536; page *= 4) {
            struct fm_error err;
            struct fm_string string;
            unsigned in_set[24576 / 64] = {0};
            const struct fm_group group = {
                .count = 32, .page = page, .unit = 64, .span = 64, .seed = 5};
            fm_string_empty(&string, "scene", 32 * page);
            assert_true(fm_string_add_spots(&string, &group, 0, &err));
            for (size_t i = 0; i < group.count; i++)
                in_set[string.orders[0].word[i] * (size_t)FM_WORD % ways[w] / 64]++;
            for (size_t set = 0; set < ways[w] / 64; set++)
                assert_true(in_set[set] <= 3);
            fm_string_free(&string);
        }
}

/* The same words page by page and sweep by sweep. */
static void test_visits_and_sweeps(void **state)
{
    (void)state;
    struct fm_error err;
    struct fm_string string = empty();
    static const size_t offsets[] = {0, 1024, 512};
    const struct fm_group group = {.count = 8, .page = PAGE, .unit = 64, .span = 2048, .seed = 3};
    assert_true(fm_string_add_visits(&string, &group, offsets, 3, &err));
    assert_true(fm_string_add_sweeps(&string, &group, offsets, 3, &err));
    for (size_t page = 0; page < 8; page++)
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(string.orders[0].word[page * 3 + i],
                             string.orders[1].word[i * 8 + page]);
    assert_int_equal(string.orders[0].word[1] - string.orders[0].word[0], 1024 / FM_WORD);
    fm_string_free(&string);
}

/* All of a stretch once, round the range's end. */
static void test_range(void **state)
{
    (void)state;
    struct fm_error err;
    struct fm_string string = empty();
    const struct fm_range range = {.from = PAGE, .lines = 10, .unit = 64};
    assert_true(fm_string_add_range(&string, &range, 7, 6, &err));
    unsigned seen = 0;
    for (size_t i = 0; i < 6; i++)
        seen |= 1u << ((string.orders[0].word[i] * FM_WORD - PAGE) / 64);
    assert_int_equal(seen, 1u << 7 | 1u << 8 | 1u << 9 | 1u << 0 | 1u << 1 | 1u << 2);
    fm_string_free(&string);
}

static void test_runs(void **state)
{
    (void)state;
    struct fm_error err;
    struct fm_string string = empty();
    const struct fm_runs runs = {
        .range = {.from = 0, .lines = 9, .unit = 32}, .run = 2, .apart = 3};
    assert_true(fm_string_add_runs(&string, &runs, FM_RUN_WORDS, &err));
    assert_true(fm_string_add_runs(&string, &runs, FM_RUN_LINES, &err));
    assert_true(fm_string_add_runs(&string, &runs, FM_RUN_ENDS, &err));
    assert_true(fm_string_add_runs(&string, &runs, FM_RUN_BEFORE, &err));
    assert_int_equal(string.orders[0].count, 3 * 2 * 4);
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(string.orders[0].word[i], i / 8 * 12 + i % 8);
    static const uint32_t lines[] = {0, 4, 12, 16, 24, 28}, ends[] = {4, 16, 28};
    assert_memory_equal(string.orders[1].word, lines, sizeof lines);
    assert_memory_equal(string.orders[2].word, ends, sizeof ends);
    assert_int_equal(string.orders[3].count, 3 * 4);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(string.orders[3].word[i], i / 4 * 12 + i % 4);
    fm_string_free(&string);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spots),
        cmocka_unit_test(test_spots_fill_sets_evenly),
        cmocka_unit_test(test_visits_and_sweeps),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_runs),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
