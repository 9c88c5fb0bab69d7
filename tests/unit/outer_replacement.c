/* Replacement of outer levels where lines can be steered, as surveys find it. */
#include "core/replacement.h"
#include "survey_lab.h"

static struct fm_description machine_with(enum fm_replacement policy)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 128 << 10, 64, 8));
    machine.caches[1].replacement = policy;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.005, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void survey(const struct fm_description *machine, struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "outer-replacement";
    lab_survey(machine, &options, result);
}

static void expect(const struct fm_description *machine)
{
    struct fm_result result;
    char word[FM_REPLACEMENT_TEXT];
    survey(machine, &result);
    const struct fm_finding *found = lab_finding(&result, "l2.replacement");
    if (found->status != FM_MEASURED)
        fail_msg("l2.replacement is not measured: %s", found->note);
    assert_string_equal(found->value.text,
                        fm_replacement_word(machine->caches[1].replacement, word));
    assert_non_null(fm_result_find_curve(&result, "laps-l2"));
    fm_result_free(&result);
}

static void test_policies(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO,
                                                   FM_REPLACE_TREE_PLRU};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct fm_description machine = machine_with(policies[i]);
        expect(&machine);
    }
}

/* Base pages lie anywhere, but in larger ones lines of a set are found. */
static void test_large_pages(void **state)
{
    (void)state;
    struct fm_description machine = machine_with(FM_REPLACE_FIFO);
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.tlbs[0].page_sizes[machine.tlbs[0].page_size_count++] = 256 << 10;
    expect(&machine);
}

/* Pages that lie anywhere; a level that victims fill; one with as few sets as that inside. */
static void test_what_cannot_be_steered(void **state)
{
    (void)state;
    struct fm_description machines[3];
    for (size_t i = 0; i < 3; i++)
        machines[i] = machine_with(FM_REPLACE_LRU);
    machines[0].page_mapping = FM_MAPPING_RANDOM;
    machines[1].caches[1].inclusion = FM_INCLUSION_EXCLUSIVE;
    machines[2].caches[1].ways = 64;
    for (size_t i = 0; i < 3; i++) {
        struct fm_result result;
        survey(&machines[i], &result);
        assert_int_equal(lab_finding(&result, "l2.replacement")->status, FM_UNDETERMINED);
        fm_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_what_cannot_be_steered),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
