/* --method papi-cache: loads of doubles that go past a first level, and levels without an event. */
#include <stdio.h>

#include "survey_lab.h"

/* Surveys by the method with the events that the machine shall have. */
static void survey(const struct fm_description *description, unsigned events,
                   struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_survey_options options = lab_options();
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    assert_non_null(machine);
    options.method = FM_METHOD_PAPI_CACHE;
    fm_simulated_count(machine, true);
    machine->info.counters.events &= events;
    fm_result_init(result);
    if (!fm_survey(machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    machine->ops->close(machine);
}

static struct fm_description two_levels(void)
{
    return lab_small(lab_cache(1, 8 << 10, 32, 2), lab_cache(2, 128 << 10, 64, 8));
}

static bool is_true(const struct fm_result *result, const char *property)
{
    const struct fm_finding *finding = lab_finding(result, property);
    assert_int_equal(finding->value.kind, FM_VALUE_BOOL);
    return finding->value.truth;
}

#define EVERYTHING (~0u)

static void doubles_that_go_past_are_told(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    machine.caches[0].fp_bypass = true;
    machine.tlbs[0].fp_bypass = true;
    machine.tlbs[machine.tlb_count++] = lab_tlb(2, 64, 64, PAGE);
    survey(&machine, EVERYTHING, &result);
    lab_expect(&result, "l1d.capacity", 8 << 10, 0);
    lab_expect(&result, "l1d.ways", 2, 0);
    assert_true(is_true(&result, "l1d.fp_bypass"));
    assert_true(is_true(&result, "dtlb1.fp_bypass"));
    assert_non_null(strstr(lab_finding(&result, "l1d.capacity")->note, "bypass"));
    assert_false(is_true(&result, "l2.fp_bypass"));
    assert_false(is_true(&result, "dtlb2.fp_bypass"));
    lab_expect(&result, "l2.capacity", 128 << 10, 0);
    lab_expect(&result, "l2.ways", 8, 0);
    assert_string_equal(lab_finding(&result, "l2.line")->witnesses[1], "sim/double");
    assert_string_equal(lab_finding(&result, "l1d.line")->witnesses[1], "");
    assert_non_null(fm_result_find_curve(&result, "misses-l2-double"));
    assert_null(fm_result_find_curve(&result, "misses-l1d-double"));
    assert_non_null(fm_result_find_curve(&result, "strided-l2-double"));
    assert_non_null(fm_result_find_curve(&result, "strided-l2-l1d"));
    fm_result_free(&result);
}

static void doubles_that_do_not_are_a_second_witness(void **state)
{
    (void)state;
    const struct fm_description machine = two_levels();
    struct fm_result result;
    survey(&machine, EVERYTHING, &result);
    assert_false(is_true(&result, "l1d.fp_bypass"));
    assert_string_equal(lab_finding(&result, "l1d.ways")->witnesses[1], "sim/double");
    assert_string_equal(lab_finding(&result, "l1d.capacity")->note, "");
    fm_result_free(&result);
}

static void a_level_without_an_event_is_timed(void **state)
{
    (void)state;
    const struct fm_description machine = two_levels();
    struct fm_result result;
    survey(&machine, FM_COUNTS_CACHE(0), &result);
    lab_expect(&result, "l1d.capacity", 8 << 10, 0);
    assert_string_equal(lab_finding(&result, "l1d.capacity")->witnesses[0], "sim");
    lab_expect(&result, "l2.capacity", 128 << 10, 0.02);
    assert_string_equal(lab_finding(&result, "l2.capacity")->witnesses[0], "clock");
    assert_int_equal(lab_finding(&result, "l2.line")->status, FM_UNDETERMINED);
    assert_null(fm_result_find(&result, "l3.capacity"));
    fm_result_free(&result);
}

static void without_any_event_all_is_timed(void **state)
{
    (void)state;
    const struct fm_description machine = two_levels();
    struct fm_result result;
    survey(&machine, 0, &result);
    lab_expect(&result, "l1d.capacity", 8 << 10, 0.02);
    lab_expect(&result, "l2.capacity", 128 << 10, 0.02);
    assert_string_equal(lab_finding(&result, "l1d.capacity")->witnesses[0], "clock");
    lab_expect(&result, "l1d.line", machine.caches[0].line, 0);
    lab_expect(&result, "l1d.ways", machine.caches[0].ways, 0);
    assert_string_equal(lab_finding(&result, "l1d.ways")->witnesses[0], "clock");
    assert_int_equal(lab_finding(&result, "l2.ways")->status, FM_UNDETERMINED);
    assert_null(fm_result_find(&result, "l1d.fp_bypass"));
    fm_result_free(&result);
}

/* One way, and many; and lots, which leave the times between the cases. */
static void strides_show_the_first_level_alone(void **state)
{
    (void)state;
    static const uint32_t ways[] = {1, 2, 16};
    for (size_t i = 0; i < 4; i++) {
        struct fm_description machine = two_levels();
        struct fm_result result;
        machine.caches[0].ways = ways[i % 3];
        if (i == 3)
            machine.caches[0].replacement = FM_REPLACE_RANDOM;
        survey(&machine, 0, &result);
        const struct fm_finding *found = lab_finding(&result, "l1d.ways");
        if (found->status == FM_MEASURED)
            lab_expect(&result, "l1d.ways", ways[i % 3], 0);
        else
            assert_int_equal(i, 3);
        fm_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_that_go_past_are_told),
        cmocka_unit_test(doubles_that_do_not_are_a_second_witness),
        cmocka_unit_test(a_level_without_an_event_is_timed),
        cmocka_unit_test(without_any_event_all_is_timed),
        cmocka_unit_test(strides_show_the_first_level_alone),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
