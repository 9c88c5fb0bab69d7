/* TLBs as Calibrator's family of strides shows them. */
#include "survey_lab.h"

static void expect_tlb(struct fm_tlb_description tlb, double entries, double page)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 128 << 10, 64, 8));
    machine.tlbs[0] = tlb;
    struct fm_survey_options options = lab_options();
    options.method = FM_METHOD_CALIBRATOR;
    options.max_footprint = 0;
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "dtlb1.entries", entries, 0);
    lab_expect(&result, "dtlb1.page_size", page, 0);
    fm_result_free(&result);
}

static void test_pages(void **state)
{
    (void)state;
    expect_tlb(lab_tlb(1, 48, 48, PAGE), 48, PAGE);
    expect_tlb(lab_tlb(1, 64, 4, PAGE), 64, PAGE);
}

/* An entry that holds two of the pages that are mapped. */
static void test_pairs(void **state)
{
    (void)state;
    struct fm_tlb_description pairs = lab_tlb(1, 48, 48, PAGE);
    pairs.pages_per_entry = 2;
    expect_tlb(pairs, 48, 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_pairs),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
