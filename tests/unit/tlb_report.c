/* What is said of TLBs by what is known of them, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/lab.h"
#include "probe/tlb_report.h"

/* One set of ten entries, of which a miss took from `low` to `high`. */
static enum fm_status status_of_entries(double low, double high, bool spares)
{
    struct fm_result result;
    fm_result_init(&result);
    struct fm_lab lab = {.result = &result};
    struct fm_tlbs tlbs = {.name = "dtlb", .page = 4096, .count = 1};
    tlbs.list.mapped = 4096;
    tlbs.known[0] =
        (struct fm_known_tlb){.step = {.held = 10, .missed = 11, .cost = (low + high) / 2},
                              .cost_low = low,
                              .cost_high = high,
                              .entries = 10,
                              .ways = 10,
                              .sets = 1,
                              .spares = spares,
                              .method = "page-gap",
                              .piece = 4096};
    fm_report_tlb(&lab, &tlbs, 0);
    const struct fm_finding *entries = fm_result_find(&result, "dtlb1.entries");
    assert_non_null(entries);
    const enum fm_status status = entries->status;
    fm_result_free(&result);
    return status;
}

/* Of one more than a set holds all miss, wherever they lie. */
static void one_set_has_all_miss(void **state)
{
    (void)state;
    assert_int_equal(status_of_entries(20, 21, false), FM_MEASURED);
    assert_int_equal(status_of_entries(4, 8, false), FM_UNDETERMINED);
    /* A policy that spares some was looked at more closely. */
    assert_int_equal(status_of_entries(4, 8, true), FM_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_has_all_miss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
