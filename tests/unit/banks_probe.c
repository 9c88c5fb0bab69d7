/* Banks of a small first level with noise, as surveys find them. */
#include "survey_lab.h"

static struct fm_description machine_with(uint32_t banks, uint32_t width)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 128 << 10, 64, 8));
    machine.caches[0].banks = banks;
    machine.caches[0].bank_width = width;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void survey_banks(uint32_t banks, uint32_t width, struct fm_result *result)
{
    const struct fm_description machine = machine_with(banks, width);
    struct fm_survey_options options = lab_options();
    options.only = "banks";
    lab_survey(&machine, &options, result);
}

static void test_banks(void **state)
{
    (void)state;
    /* Parts of a line; half of one; line after line; and one that any two lines share. */
    static const uint32_t kinds[][2] = {{8, 0}, {4, 8}, {4, 64}, {1, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct fm_result result;
        survey_banks(kinds[i][0], kinds[i][1], &result);
        lab_expect(&result, "l1d.banks", kinds[i][0], 0);
        fm_result_free(&result);
    }
}

static void test_what_cannot_be_told(void **state)
{
    (void)state;
    struct fm_result result;
    survey_banks(0, 0, &result);
    assert_int_equal(lab_finding(&result, "l1d.banks")->status, FM_UNDETERMINED);
    assert_non_null(strstr(lab_finding(&result, "l1d.banks")->note, "no two loads"));
    fm_result_free(&result);
    /* The highest bit that a quarter of the level has room for chooses too. */
    survey_banks(16, 128, &result);
    assert_int_equal(lab_finding(&result, "l1d.banks")->status, FM_UNDETERMINED);
    assert_non_null(strstr(lab_finding(&result, "l1d.banks")->note, "more bits"));
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_what_cannot_be_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
