/* Strings of jumps: what the forms of one plan share, and what they differ in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "refstring/refstring.h"

#define LINE     64u
#define PAGE     4096u
#define ELEMENTS 40u

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_words(const struct fm_string *string, uint32_t *sorted)
{
    memcpy(sorted, string->orders[0].word, string->orders[0].count * sizeof *sorted);
    qsort(sorted, string->orders[0].count, sizeof *sorted, by_number);
}

static size_t unit_of(const struct fm_string *string, size_t i, size_t unit)
{
    return (size_t)string->orders[0].word[i] * FM_WORD / unit;
}

/* How often a lap comes to a unit that is not the one it was at. */
static size_t changes(const struct fm_string *string, size_t unit)
{
    const size_t count = string->orders[0].count;
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += unit_of(string, i, unit) != unit_of(string, (i + count - 1) % count, unit);
    return sum;
}

static struct fm_string lines_of(bool bursts, size_t apart, bool alone)
{
    static uint32_t one[ELEMENTS], other[ELEMENTS];
    struct fm_error err = {0};
    struct fm_string string;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        one[i] = i * (PAGE / FM_WORD);
        other[i] = one[i] + PAGE / FM_WORD / 2;
    }
    if (alone)
        other[ELEMENTS - 1] = FM_NO_LINE;
    const struct fm_lines_plan plan = {
        .one = one, .other = other, .count = ELEMENTS, .apart = apart, .bursts = bursts, .seed = 3};
    if (!fm_lines_string(&string, &plan, &err))
        fail_msg("%s", err.text);
    return string;
}

/* The same slots and as many visits to pages; lines are asked for half as often. */
static void forms_differ_in_lines_alone(void **state)
{
    (void)state;
    for (size_t apart = 8; apart <= 32; apart *= 2) {
        struct fm_string single = lines_of(false, apart, false);
        struct fm_string bursts = lines_of(true, apart, false);
        uint32_t a[4 * ELEMENTS], b[4 * ELEMENTS];
        assert_int_equal(single.orders[0].count, 4 * ELEMENTS);
        assert_int_equal(bursts.orders[0].count, 4 * ELEMENTS);
        sort_words(&single, a);
        sort_words(&bursts, b);
        assert_memory_equal(a, b, sizeof a);
        assert_int_equal(changes(&single, PAGE), 2 * ELEMENTS);
        assert_int_equal(changes(&bursts, PAGE), 2 * ELEMENTS);
        assert_int_equal(changes(&single, LINE), 4 * ELEMENTS);
        assert_int_equal(changes(&bursts, LINE), 2 * ELEMENTS);
        assert_string_not_equal(single.label, bursts.label);
        fm_string_free(&single);
        fm_string_free(&bursts);
    }
}

static void a_line_may_be_alone(void **state)
{
    (void)state;
    for (int bursts = 0; bursts < 2; bursts++) {
        struct fm_string string = lines_of(bursts, 8, true);
        struct fm_error err = {0};
        assert_int_equal(string.orders[0].count, 4 * ELEMENTS - 2);
        fm_string_time(&string, string.orders[0].count);
        fm_string_jump(&string);
        assert_true(fm_string_check(&string, &err));
        fm_string_free(&string);
    }
}

static struct fm_string dense(size_t blocks, size_t spacing)
{
    struct fm_error err = {0};
    struct fm_string string;
    const struct fm_dense_plan plan = {
        .blocks = blocks, .spacing = spacing, .page = PAGE, .seed = 5};
    if (!fm_dense_string(&string, &plan, &err))
        fail_msg("%s", err.text);
    return string;
}

/* With half the jumps, the same blocks in the same order. */
static void half_the_jumps_go_the_same_way(void **state)
{
    (void)state;
    const size_t blocks = 3 * PAGE / FM_DENSE_BLOCK + 7;
    struct fm_string all = dense(blocks, 8), half = dense(blocks, 16);
    assert_int_equal(half.orders[0].count, blocks * 4);
    assert_true(all.orders[0].count >= blocks * 8 - 1);
    assert_int_equal(changes(&all, FM_DENSE_BLOCK), blocks);
    assert_int_equal(changes(&half, FM_DENSE_BLOCK), blocks);
    assert_int_equal(changes(&all, PAGE), 4);
    size_t at = 0;
    for (size_t i = 0; i < half.orders[0].count; i++) {
        while (unit_of(&all, at, FM_DENSE_BLOCK) != unit_of(&half, i, FM_DENSE_BLOCK))
            assert_true(++at < all.orders[0].count);
    }
    /* The first slot has its room. */
    for (size_t i = 1; i < all.orders[0].count; i++)
        assert_true(all.orders[0].word[i] - all.orders[0].word[0] >= FM_TURN / FM_WORD);
    fm_string_free(&all);
    fm_string_free(&half);
}

/* The same blocks in the same order by as many jumps, on the first of two words in the one half of
   the blocks and on the second in the other. */
static void staggered_jumps_leave_no_word_out(void **state)
{
    (void)state;
    const size_t blocks = 64;
    struct fm_error err = {0};
    struct fm_string plain = dense(blocks, 16), string;
    const struct fm_dense_plan plan = {
        .blocks = blocks, .spacing = 16, .staggered = true, .page = PAGE, .seed = 5};
    assert_true(fm_dense_string(&string, &plan, &err));
    assert_int_equal(string.orders[0].count, plain.orders[0].count);
    for (size_t i = 0; i < string.orders[0].count; i++) {
        const size_t block = unit_of(&string, i, FM_DENSE_BLOCK);
        assert_int_equal(block, unit_of(&plain, i, FM_DENSE_BLOCK));
        assert_int_equal(string.orders[0].word[i] % 2, block >= blocks / 2);
    }
    fm_string_free(&plain);
    fm_string_free(&string);
}

static void jumps_go_whole_laps(void **state)
{
    (void)state;
    struct fm_string string = dense(10, 16);
    fm_string_flush(&string);
    fm_string_prime(&string, 2);
    fm_string_time(&string, 41);
    fm_string_jump(&string);
    assert_int_equal(string.phases[0].op, FM_OP_FLUSH);
    assert_int_equal(string.phases[1].op, FM_OP_JUMP);
    assert_int_equal(string.phases[1].references, 80);
    assert_int_equal(string.phases[2].references, 80);
    assert_false(string.phases[2].chained);
    assert_true(string.phases[2].metered);
    fm_string_free(&string);
}

static void refuses_impossible_plans(void **state)
{
    (void)state;
    struct fm_error err = {0};
    struct fm_string string;
    const uint32_t line = 0;
    const struct fm_lines_plan none = {.one = &line, .other = &line, .apart = 8};
    const struct fm_lines_plan crooked = {.one = &line, .other = &line, .count = 1, .apart = 12};
    const struct fm_dense_plan wide = {.blocks = 1, .spacing = 128, .page = PAGE};
    assert_false(fm_lines_string(&string, &none, &err));
    assert_false(fm_lines_string(&string, &crooked, &err));
    assert_false(fm_dense_string(&string, &wide, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_differ_in_lines_alone),
        cmocka_unit_test(a_line_may_be_alone),
        cmocka_unit_test(half_the_jumps_go_the_same_way),
        cmocka_unit_test(staggered_jumps_leave_no_word_out),
        cmocka_unit_test(jumps_go_whole_laps),
        cmocka_unit_test(refuses_impossible_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
