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

/* Strides that double show ways to a power of two; others show the number, of outer levels too. */
static void ways_that_are_no_power_of_two_are_exact(void **state)
{
    (void)state;
    static const struct {
        uint32_t capacity[2], line[2], ways[2];
    } shapes[] = {{{24 << 10, 768 << 10}, {64, 64}, {12, 12}},
                  {{6 << 10, 320 << 10}, {32, 64}, {3, 20}},
                  {{48 * 5 * 64, 448 << 10}, {64, 64}, {5, 7}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct fm_description machine =
            lab_small(lab_cache(1, shapes[i].capacity[0], shapes[i].line[0], shapes[i].ways[0]),
                      lab_cache(2, shapes[i].capacity[1], shapes[i].line[1], shapes[i].ways[1]));
        struct fm_result result;
        survey(&machine, EVERYTHING, &result);
        lab_expect(&result, "l1d.capacity", shapes[i].capacity[0], 0);
        lab_expect(&result, "l1d.ways", shapes[i].ways[0], 0);
        lab_expect(&result, "l2.capacity", shapes[i].capacity[1], 0);
        lab_expect(&result, "l2.ways", shapes[i].ways[1], 0);
        fm_result_free(&result);
    }
}

/* A hashed index has no stride that meets a set. */
static void ways_that_no_stride_shows_are_left_open(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    machine.caches[1].index = FM_INDEX_HASHED;
    survey(&machine, EVERYTHING, &result);
    const struct fm_finding *ways = lab_finding(&result, "l2.ways");
    assert_int_equal(ways->status, FM_UNDETERMINED);
    assert_true(ways->note[0]);
    fm_result_free(&result);
}

/* Lines that others push out make misses below the capacity, for doubles as for integers. */
static void pollution_is_no_bypass(void **state)
{
    (void)state;
    for (int past = 0; past < 2; past++) {
        struct fm_description machine = two_levels();
        struct fm_result result;
        machine.noise.pollution = 0.005;
        machine.caches[0].fp_bypass = past;
        survey(&machine, EVERYTHING, &result);
        assert_int_equal(is_true(&result, "l1d.fp_bypass"), past);
        assert_false(is_true(&result, "l2.fp_bypass"));
        assert_false(is_true(&result, "dtlb1.fp_bypass"));
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
        cmocka_unit_test(ways_that_are_no_power_of_two_are_exact),
        cmocka_unit_test(ways_that_no_stride_shows_are_left_open),
        cmocka_unit_test(pollution_is_no_bypass),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
