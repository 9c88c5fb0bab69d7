/* --method amp: sizes between its steps, ways of any number, replacement, sub-blocks, what a meter
   adds by itself, and structures without a counter. */
#include <stdio.h>

#include "survey_lab.h"

static void survey_with(struct fm_machine *machine, struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_survey_options options = lab_options();
    options.method = FM_METHOD_AMP;
    fm_result_init(result);
    if (!fm_survey(machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
}

static void survey(const struct fm_description *description, struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    assert_non_null(machine);
    fm_simulated_count(machine, true);
    survey_with(machine, result);
    machine->ops->close(machine);
}

static struct fm_description two_levels(void)
{
    return lab_small(lab_cache(1, 8 << 10, 32, 2), lab_cache(2, 128 << 10, 64, 8));
}

static void expect_caches(const struct fm_description *machine, const struct fm_result *result)
{
    lab_expect(result, "l1d.capacity", (double)machine->caches[0].capacity, 0);
    lab_expect(result, "l1d.line", machine->caches[0].line, 0);
    lab_expect(result, "l1d.ways", machine->caches[0].ways, 0);
    lab_expect(result, "l2.capacity", (double)machine->caches[1].capacity, 0);
    lab_expect(result, "l2.line", machine->caches[1].line, 0);
    lab_expect(result, "l2.ways", machine->caches[1].ways, 0);
}

/* In KiB: 36 lies between 32 and 40, 11 between 10 and 12, 100 between 96 and 112. */
static void sizes_between_quarters_are_exact(void **state)
{
    (void)state;
    static const struct {
        uint32_t kib[2], ways[2];
    } shapes[] = {{{36, 100}, {9, 25}}, {{11, 352}, {11, 11}}, {{18, 112}, {6, 7}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct fm_description machine =
            lab_small(lab_cache(1, shapes[i].kib[0] << 10, 64, shapes[i].ways[0]),
                      lab_cache(2, shapes[i].kib[1] << 10, 64, shapes[i].ways[1]));
        struct fm_result result;
        survey(&machine, &result);
        expect_caches(&machine, &result);
        fm_result_free(&result);
    }
}

/* Random is found, and nothing else is called so. */
static void random_replacement_is_found(void **state)
{
    (void)state;
    static const struct {
        enum fm_replacement policy;
        uint32_t ways;
    } firsts[] = {{FM_REPLACE_RANDOM, 2},   {FM_REPLACE_RANDOM, 4}, {FM_REPLACE_RANDOM, 8},
                  {FM_REPLACE_LRU, 4},      {FM_REPLACE_FIFO, 4},   {FM_REPLACE_TREE_PLRU, 8},
                  {FM_REPLACE_BIT_PLRU, 8}, {FM_REPLACE_SRRIP, 4}};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct fm_description machine = two_levels();
        struct fm_result result;
        machine.caches[0].replacement = firsts[i].policy;
        machine.caches[0].ways = firsts[i].ways;
        survey(&machine, &result);
        expect_caches(&machine, &result);
        const struct fm_finding *found = lab_finding(&result, "l1d.replacement");
        if (firsts[i].policy == FM_REPLACE_RANDOM)
            assert_string_equal(found->value.text, "random");
        else
            assert_int_equal(found->status, FM_UNDETERMINED);
        fm_result_free(&result);
    }
}

/* A line of which a miss brings a part is told by its tag, and the part beside it. */
static void sub_blocks_are_no_lines(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    machine.caches[0].sector = 16;
    survey(&machine, &result);
    expect_caches(&machine, &result);
    lab_expect(&result, "l1d.sector", 16, 0);
    assert_null(fm_result_find(&result, "l2.sector"));
    fm_result_free(&result);
}

/* A neighbour that comes along makes no line longer, and hides no write that allocates nothing. */
static void neighbours_that_come_along_change_nothing(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    machine.prefetch = FM_PREFETCH_ADJACENT_LINE;
    machine.caches[0].write_allocate = false;
    survey(&machine, &result);
    lab_expect(&result, "l1d.line", 32, 0);
    lab_expect(&result, "l1d.ways", 2, 0);
    assert_false(lab_finding(&result, "l1d.write_allocate")->value.truth);
    fm_result_free(&result);
}

static void what_has_no_counter_is_said_to_have_none(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    machine.no_counter = FM_COUNTS_CACHE(1) | FM_COUNTS_TLB(0);
    survey(&machine, &result);
    lab_expect(&result, "l1d.capacity", 8 << 10, 0);
    static const char *const none[] = {"l2.capacity", "dtlb1.entries"};
    for (size_t i = 0; i < 2; i++) {
        const struct fm_finding *finding = lab_finding(&result, none[i]);
        assert_int_equal(finding->status, FM_UNSUPPORTED);
        assert_memory_equal(finding->note, "no counter", strlen("no counter"));
    }
    assert_null(fm_result_find(&result, "l2.ways"));
    fm_result_free(&result);
}

/* A level inside that keeps some lines makes those behind it seem shorter: nothing wrong is said.
 */
static void lines_behind_a_level_that_keeps_some_are_not_wrong(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 7168, 64, 7), lab_cache(2, 768 << 10, 128, 6));
    struct fm_result result;
    machine.caches[0].replacement = FM_REPLACE_SRRIP;
    survey(&machine, &result);
    lab_expect(&result, "l2.capacity", 768 << 10, 0);
    if (lab_finding(&result, "l2.line")->status == FM_MEASURED)
        lab_expect(&result, "l2.line", 128, 0);
    fm_result_free(&result);
}

/* One TLB for both is asked by jumps as well: its entry maps two pages. */
static void code_asks_a_tlb_that_serves_both(void **state)
{
    (void)state;
    struct fm_description machine = two_levels();
    struct fm_result result;
    struct fm_cache_description code = lab_cache(1, 8 << 10, 32, 2);
    code.holds = FM_HOLDS_INSTRUCTIONS;
    snprintf(code.name, sizeof code.name, "l1i");
    machine.caches[machine.cache_count++] = code;
    machine.caches[1].holds = FM_HOLDS_BOTH;
    machine.tlb_count = 1;
    machine.tlbs[0] = lab_tlb(1, 32, 32, PAGE);
    machine.tlbs[0].holds = FM_HOLDS_BOTH;
    machine.tlbs[0].pages_per_entry = 2;
    survey(&machine, &result);
    static const char *const both[] = {"dtlb1", "itlb1"};
    for (size_t i = 0; i < 2; i++) {
        char property[FM_PROPERTY_TEXT];
        snprintf(property, sizeof property, "%s.entries", both[i]);
        lab_expect(&result, property, 32, 0);
        snprintf(property, sizeof property, "%s.page_size", both[i]);
        lab_expect(&result, property, 2 * PAGE, 0);
        snprintf(property, sizeof property, "%s.ways", both[i]);
        assert_string_equal(lab_finding(&result, property)->value.text, "full");
    }
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_between_quarters_are_exact),
        cmocka_unit_test(random_replacement_is_found),
        cmocka_unit_test(sub_blocks_are_no_lines),
        cmocka_unit_test(neighbours_that_come_along_change_nothing),
        cmocka_unit_test(what_has_no_counter_is_said_to_have_none),
        cmocka_unit_test(lines_behind_a_level_that_keeps_some_are_not_wrong),
        cmocka_unit_test(code_asks_a_tlb_that_serves_both),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
