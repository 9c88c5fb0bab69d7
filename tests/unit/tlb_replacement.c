/* Replacement of the second data TLB, as surveys find it. */
#include "core/replacement.h"
#include "survey_lab.h"

static struct fm_description machine_with(enum fm_replacement policy)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 32768, 64, 8), lab_cache(2, 256 << 10, 64, 8));
    machine.tlbs[0] = lab_tlb(1, 16, 4, PAGE);
    machine.tlbs[machine.tlb_count++] = lab_tlb(2, 128, 4, PAGE);
    machine.tlbs[1].replacement = policy;
    machine.walk_latency = 40;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.005, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void survey(const struct fm_description *machine, struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "tlb-replacement";
    lab_survey(machine, &options, result);
}

static void test_policies(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO,
                                                   FM_REPLACE_TREE_PLRU};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct fm_description machine = machine_with(policies[i]);
        struct fm_result result;
        char word[FM_REPLACEMENT_TEXT];
        survey(&machine, &result);
        const struct fm_finding *found = lab_finding(&result, "dtlb2.replacement");
        if (found->status != FM_MEASURED)
            fail_msg("dtlb2.replacement is not measured: %s", found->note);
        assert_string_equal(found->value.text, fm_replacement_word(policies[i], word));
        assert_non_null(fm_result_find_curve(&result, "laps-dtlb2"));
        fm_result_free(&result);
    }
}

/* As many ways in the first as sets of the second that share one of its. */
static void test_what_cannot_be_steered(void **state)
{
    (void)state;
    struct fm_description machine = machine_with(FM_REPLACE_LRU);
    struct fm_result result;
    machine.tlbs[0] = lab_tlb(1, 48, 48, PAGE);
    survey(&machine, &result);
    assert_int_equal(lab_finding(&result, "dtlb2.replacement")->status, FM_UNDETERMINED);
    fm_result_free(&result);
}

static void test_there_is_none(void **state)
{
    (void)state;
    struct fm_description machine = machine_with(FM_REPLACE_LRU);
    struct fm_result result;
    machine.tlb_count = 1;
    survey(&machine, &result);
    assert_int_equal(lab_finding(&result, "dtlb2.replacement")->status, FM_UNSUPPORTED);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_what_cannot_be_steered),
        cmocka_unit_test(test_there_is_none),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
