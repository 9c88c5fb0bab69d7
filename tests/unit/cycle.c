/* The cycle probe where an add is one cycle, and where it is not. */
#include "survey_lab.h"

static void survey_cycle(double add_latency, struct fm_result *result)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 4096, 64, 2), lab_cache(2, 65536, 64, 8));
    struct fm_survey_options options = lab_options();
    machine.clock_mhz = 800;
    machine.add_latency = add_latency;
    machine.noise = (struct fm_noise_description){.jitter = 0.005, .timer_ns = 10};
    options.only = "cycle";
    lab_survey(&machine, &options, result);
}

static void tells_the_cycle_whatever_an_add_takes(void **state)
{
    (void)state;
    static const double adds[] = {0.5, 1, 2};
    double confidence[3];
    for (size_t i = 0; i < 3; i++) {
        struct fm_result result;
        survey_cycle(adds[i], &result);
        lab_expect(&result, "cpu.cycle_time", 1.25, 0.0125);
        lab_expect(&result, "cpu.add_latency", adds[i], 0);
        confidence[i] = lab_finding(&result, "cpu.cycle_time")->confidence;
        fm_result_free(&result);
    }
    /* Two chains that agree are better evidence than two that differ by a factor. */
    assert_true(confidence[1] > confidence[0] && confidence[1] > confidence[2]);
}

static void does_not_guess(void **state)
{
    (void)state;
    struct fm_result result;
    survey_cycle(1.3, &result);
    const struct fm_finding *cycle = lab_finding(&result, "cpu.cycle_time");
    assert_int_equal(cycle->status, FM_UNDETERMINED);
    assert_int_equal(cycle->value.kind, FM_VALUE_NONE);
    assert_true(cycle->note[0] != '\0');
    /* Both readings are handed on. */
    assert_int_equal(cycle->candidate_count, 2);
    assert_true(fabs(cycle->candidates[0].number / 1.625 - 1) < 0.01);
    assert_true(fabs(cycle->candidates[1].number / 1.25 - 1) < 0.01);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_cycle_whatever_an_add_takes),
        cmocka_unit_test(does_not_guess),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
