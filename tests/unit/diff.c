/* What counts as a difference, and whose value is the odd one out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/diff.h"

#define MOST 4

struct bench {
    struct fm_result results[MOST];
    const struct fm_result *list[MOST];
    struct fm_diff diff;
};

static const char *const names[] = {"a.json", "b.json", "c.json", "d.json"};

static void begin(struct bench *bench)
{
    for (size_t i = 0; i < MOST; i++) {
        fm_result_init(&bench->results[i]);
        bench->list[i] = &bench->results[i];
    }
}

static void compare(struct bench *bench, size_t count)
{
    assert_true(fm_diff_make(&bench->diff, bench->list, names, count));
}

static void end(struct bench *bench)
{
    fm_diff_free(&bench->diff);
    for (size_t i = 0; i < MOST; i++)
        fm_result_free(&bench->results[i]);
}

static struct fm_finding *finding(struct bench *bench, size_t result, const char *property)
{
    struct fm_finding *found = fm_result_finding(&bench->results[result], property, "B");
    assert_non_null(found);
    return found;
}

static void number(struct bench *bench, size_t result, const char *property, double low,
                   double value, double high)
{
    struct fm_finding *found = finding(bench, result, property);
    found->status = FM_MEASURED;
    found->low = fm_number(low);
    found->value = fm_number(value);
    found->high = fm_number(high);
}

static void word(struct bench *bench, size_t result, const char *property, const char *text)
{
    struct fm_finding *found = finding(bench, result, property);
    found->status = FM_MEASURED;
    found->value = found->low = found->high = fm_text(text);
}

static void intervals_decide(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench);
    number(&bench, 0, "l2.capacity", 90, 100, 110);
    number(&bench, 1, "l2.capacity", 110, 120, 130); /* they touch */
    number(&bench, 0, "l3.capacity", 90, 100, 110);
    number(&bench, 1, "l3.capacity", 111, 120, 130);
    word(&bench, 0, "l1d.ways", "full");
    number(&bench, 1, "l1d.ways", 4, 4, 4);
    word(&bench, 0, "l2.replacement", "lru");
    word(&bench, 1, "l2.replacement", "lru");
    compare(&bench, 2);
    assert_int_equal(bench.diff.count, 2);
    assert_string_equal(bench.diff.items[0].property, "l3.capacity");
    assert_string_equal(bench.diff.items[1].property, "l1d.ways");
    assert_int_equal(bench.diff.compared, 4);
    assert_int_equal(bench.diff.missing, 0);
    end(&bench);
}

static void what_is_not_known_differs_from_nothing(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench);
    number(&bench, 0, "l2.capacity", 90, 100, 110);
    finding(&bench, 1, "l2.capacity"); /* undetermined */
    number(&bench, 0, "l2.line", 64, 64, 64);
    finding(&bench, 1, "l2.line")->status = FM_UNSUPPORTED;
    number(&bench, 0, "dtlb2.entries", 64, 64, 64); /* not asked for in the other */
    number(&bench, 0, "l3.capacity", 64, 64, 64);
    compare(&bench, 2);
    assert_int_equal(bench.diff.count, 0);
    assert_int_equal(bench.diff.missing, 4);
    end(&bench);
}

static void a_level_that_is_not_there_is_a_difference(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench);
    number(&bench, 0, "l3.capacity", 64, 64, 64);
    number(&bench, 0, "l1i.capacity", 64, 64, 64);
    number(&bench, 0, "l2@core=4.capacity", 64, 64, 64);
    number(&bench, 0, "dtlb2.entries", 64, 64, 64);
    number(&bench, 1, "memory.latency", 100, 100, 100);
    number(&bench, 1, "l2.capacity", 64, 64, 64);
    number(&bench, 0, "l2.capacity", 64, 64, 64);
    number(&bench, 0, "memory.latency", 100, 100, 100);
    compare(&bench, 2);
    assert_int_equal(bench.diff.count, 1);
    assert_string_equal(bench.diff.items[0].property, "l3.capacity");
    assert_true(bench.diff.items[0].sides[1].absent);
    fm_diff_free(&bench.diff);

    /* A survey that ended early says nothing about what it did not reach. */
    bench.results[1].complete = false;
    compare(&bench, 2);
    assert_int_equal(bench.diff.count, 0);
    end(&bench);
}

static void the_odd_one_is_marked(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench);
    for (size_t i = 0; i < 4; i++)
        number(&bench, i, "l2.capacity", i == 2 ? 300 : 90, i == 2 ? 310 : 100, i == 2 ? 320 : 110);
    for (size_t i = 0; i < 4; i++) /* two against two: nobody is odd */
        number(&bench, i, "l2.line", i < 2 ? 64 : 128, i < 2 ? 64 : 128, i < 2 ? 64 : 128);
    compare(&bench, 4);
    assert_int_equal(bench.diff.count, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(bench.diff.items[0].sides[i].odd, i == 2);
        assert_false(bench.diff.items[1].sides[i].odd);
        assert_int_equal(fm_diff_odd_count(&bench.diff, i), i == 2);
    }
    end(&bench);
}

static void structures_stand_together(void **state)
{
    static const char *const order[] = {"l1d.line", "l2.line", "l1d.capacity", "l2.capacity"};
    static const char *const want[] = {"l1d.line", "l1d.capacity", "l2.line", "l2.capacity"};
    struct bench bench;
    (void)state;
    begin(&bench);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 2; j++)
            number(&bench, j, order[i], (double)j + 1, (double)j + 1, (double)j + 1);
    compare(&bench, 2);
    assert_int_equal(bench.diff.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(bench.diff.items[i].property, want[i]);
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_decide),
        cmocka_unit_test(what_is_not_known_differs_from_nothing),
        cmocka_unit_test(a_level_that_is_not_there_is_a_difference),
        cmocka_unit_test(the_odd_one_is_marked),
        cmocka_unit_test(structures_stand_together),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
