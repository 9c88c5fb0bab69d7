/* Two witnesses of one property. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/lab.h"

static struct fm_finding timed(double value, double low, double high)
{
    struct fm_finding finding = {.property = "l2.capacity", .unit = "B"};
    fm_measured(&finding, value, low, high, 0.9, "walk", "curve:cache-only");
    return finding;
}

static struct fm_testimony counted(double value, double low, double high)
{
    return (struct fm_testimony){.meter = "perf",
                                 .method = "misses",
                                 .evidence = "curve:misses-l2",
                                 .value = fm_number(value),
                                 .low = low,
                                 .high = high,
                                 .confidence = 0.95};
}

static void the_first_is_measured(void **state)
{
    (void)state;
    struct fm_finding finding = {.property = "l2.capacity"};
    const struct fm_testimony testimony = counted(100, 90, 110);
    fm_undetermined(&finding, "the clock could not tell");
    fm_testify(&finding, &testimony);
    assert_int_equal(finding.status, FM_MEASURED);
    assert_true(finding.value.number == 100 && finding.low.number == 90);
    assert_string_equal(finding.witnesses[0], "perf");
    assert_string_equal(finding.note, "");
}

static void agreement_makes_it_surer(void **state)
{
    (void)state;
    struct fm_finding finding = timed(105, 80, 120);
    const struct fm_testimony narrow = counted(100, 95, 104), wide = counted(100, 10, 1000);
    fm_testify(&finding, &narrow);
    assert_int_equal(finding.status, FM_MEASURED);
    assert_true(finding.value.number == 100 && finding.low.number == 95);
    assert_true(finding.confidence > 0.95 && finding.confidence < 1);
    assert_string_equal(finding.witnesses[0], "clock");
    assert_string_equal(finding.witnesses[1], "perf");
    assert_string_equal(finding.evidence[1], "curve:misses-l2");
    finding = timed(105, 80, 120);
    fm_testify(&finding, &wide);
    assert_true(finding.value.number == 105 && finding.low.number == 80);
    assert_string_equal(finding.method, "walk");
}

static void disagreement_hands_on_both(void **state)
{
    (void)state;
    struct fm_finding finding = timed(64, 64, 64);
    const struct fm_testimony other = counted(128, 128, 128);
    fm_testify(&finding, &other);
    assert_int_equal(finding.status, FM_UNDETERMINED);
    assert_int_equal(finding.candidate_count, 2);
    assert_true(finding.candidates[0].number == 64 && finding.candidates[1].number == 128);
    assert_non_null(strstr(finding.note, "clock says 64"));
    assert_non_null(strstr(finding.note, "perf says 128"));
    assert_int_equal(finding.value.kind, FM_VALUE_NONE);
}

static void words_are_compared_as_words(void **state)
{
    (void)state;
    struct fm_finding finding = timed(8, 8, 8);
    struct fm_testimony full = counted(0, 0, 0);
    full.value = fm_text("full");
    fm_testify(&finding, &full);
    assert_int_equal(finding.status, FM_UNDETERMINED);
    assert_non_null(strstr(finding.note, "perf says full"));
    finding.status = FM_MEASURED;
    finding.value = finding.low = finding.high = fm_text("full");
    fm_testify(&finding, &full);
    assert_int_equal(finding.status, FM_MEASURED);
    assert_string_equal(finding.value.text, "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_measured),
        cmocka_unit_test(agreement_makes_it_surer),
        cmocka_unit_test(disagreement_hands_on_both),
        cmocka_unit_test(words_are_compared_as_words),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
