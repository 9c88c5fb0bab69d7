/* The probes on small machines whose answers are known. */
#include <stdio.h>

#include "survey_lab.h"
#include "truth.h"

/* Surveys of one machine, each on other pages. */
#define SEEDS       5
#define LUCKY_SEEDS 40

/* Everything about a machine, as far as its counters and its description tell it. */
static void expect_all(const struct fm_description *machine, const struct fm_result *result,
                       double capacity_slack)
{
    char property[FM_PROPERTY_TEXT];
    for (unsigned i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        const char *name = i == 0 ? "l1d" : "l2";
        struct fm_error err;
        double capacity = (double)cache->capacity;
        if (i > 0)
            assert_true(fm_true_capacity(machine, i, &capacity, &err));
        snprintf(property, sizeof property, "%s.capacity", name);
        lab_expect(result, property, capacity, i == 0 ? 0 : capacity_slack * capacity);
        snprintf(property, sizeof property, "%s.line", name);
        lab_expect(result, property, cache->line, 0);
        snprintf(property, sizeof property, "%s.latency_cycles", name);
        lab_expect(result, property, cache->latency, 1);
    }
    lab_expect(result, "memory.latency_cycles", machine->memory_latency, 2);
    assert_null(fm_result_find(result, "l3.capacity"));
    assert_true(result->complete);
}

static void finds_a_direct_mapped_cache(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 4096, 32, 1), lab_cache(2, 65536, 64, 4));
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    expect_all(&machine, &result, 0.02);
    lab_expect(&result, "l1d.ways", 1, 0);
    fm_result_free(&result);
}

static void finds_three_ways_and_odd_sets(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 48 * 3 * 32, 32, 3), lab_cache(2, 320 * 5 * 64, 64, 5));
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    expect_all(&machine, &result, 0.02);
    lab_expect(&result, "l1d.ways", 3, 0);
    fm_result_free(&result);
}

static void finds_a_single_set(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 2048, 64, 32), lab_cache(2, 65536, 64, 8));
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    expect_all(&machine, &result, 0.02);
    const struct fm_finding *ways = lab_finding(&result, "l1d.ways");
    assert_int_equal(ways->value.kind, FM_VALUE_TEXT);
    assert_string_equal(ways->value.text, "full");
    fm_result_free(&result);
}

static void adds_up_an_exclusive_hierarchy(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 16384, 64, 4), lab_cache(2, 65536, 64, 8));
    machine.caches[1].inclusion = FM_INCLUSION_EXCLUSIVE;
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    /* Misses set in slowly: what begins them is a few percent below the one in twenty. */
    expect_all(&machine, &result, 0.06);
    /* More than the second level alone holds. */
    assert_true(lab_number(&result, "l2.capacity") > 65536);
    fm_result_free(&result);
}

static void tells_a_line_from_a_pair(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 131072, 64, 8));
    machine.prefetch = FM_PREFETCH_ADJACENT_LINE;
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    expect_all(&machine, &result, 0.02);
    fm_result_free(&result);
    /* The published string sees a pair, as it did on the processors of the paper's table. */
    options.method = FM_METHOD_COOPER_SANDOVAL;
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "l2.line", 128, 0);
    fm_result_free(&result);
}

/* What the published sweep would miss between its coarse steps, or take a TLB's conflicts for. */
static void published_method_finds_odd_first_levels(void **state)
{
    (void)state;
    const struct fm_cache_description firsts[] = {
        lab_cache(1, 4096, 32, 1),
        lab_cache(1, 48 * 3 * 32, 32, 3),
        lab_cache(1, 2048, 64, 32),
        lab_cache(1, 32768, 64, 8),
    };
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct fm_description machine = lab_small(firsts[i], lab_cache(2, 262144, 64, 8));
        struct fm_survey_options options = lab_options();
        struct fm_result result;
        machine.tlbs[0] = lab_tlb(1, 64, 4, PAGE);
        options.method = FM_METHOD_COOPER_SANDOVAL;
        lab_survey(&machine, &options, &result);
        lab_expect(&result, "l1d.capacity", (double)firsts[i].capacity, 0);
        lab_expect(&result, "l1d.line", firsts[i].line, 0);
        if (firsts[i].capacity == (uint64_t)firsts[i].line * firsts[i].ways)
            assert_string_equal(lab_finding(&result, "l1d.ways")->value.text, "full");
        else
            lab_expect(&result, "l1d.ways", firsts[i].ways, 0);
        fm_result_free(&result);
    }
}

static void finds_scattered_pages(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 2), lab_cache(2, 262144, 64, 8));
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    expect_all(&machine, &result, 0.1);
    /* Pages that share a colour leave less than the cache holds. */
    assert_true(lab_number(&result, "l2.capacity") < 262144 * 0.9);
    fm_result_free(&result);
}

/* A second level of two ways and a TLB with a hashed index, whose rises lie one in the other: luck
   with the one is no ledge of the other, whatever the pages. */
static void luck_makes_no_level(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 7680, 64, 3), lab_cache(2, 98304, 64, 2));
    machine.caches[machine.cache_count++] = lab_cache(3, 1638400, 64, 20);
    machine.caches[1].index = machine.caches[2].index = FM_INDEX_PHYSICAL;
    machine.tlbs[0] = lab_tlb(1, 32, 2, PAGE);
    machine.tlbs[0].index = FM_INDEX_HASHED;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = (struct fm_noise_description){.jitter = 0.01, .timer_ns = 8};
    struct fm_survey_options options = lab_options();
    options.only = "levels";
    for (options.seed = 1; options.seed <= lab_of(SEEDS); options.seed++) {
        struct fm_result result;
        lab_survey(&machine, &options, &result);
        assert_non_null(fm_result_find(&result, "l3.line"));
        assert_null(fm_result_find(&result, "l4.line"));
        fm_result_free(&result);
    }
}

/* A first level of two ways of two pages: five pages always have three of a kind, and four do not
   where luck has it. Such luck lasts for three placements now and then, and makes no set of four.
 */
static void luck_makes_no_set(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 4 * PAGE, 64, 2), lab_cache(2, 1u << 18, 64, 8));
    machine.caches[0].index = FM_INDEX_PHYSICAL;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.tlb_count = 0;
    machine.noise = (struct fm_noise_description){.jitter = 0.01, .timer_ns = 1};
    struct fm_survey_options options = lab_options();
    options.only = "gap";
    options.effort = FM_QUICK;
    for (options.seed = 1; options.seed <= lab_of(LUCKY_SEEDS); options.seed++) {
        struct fm_result result;
        lab_survey(&machine, &options, &result);
        const struct fm_finding *ways = lab_finding(&result, "l1d.ways");
        if (ways->status == FM_MEASURED && ways->value.number != 2)
            fail_msg("seed %u: %g ways", (unsigned)options.seed, ways->value.number);
        fm_result_free(&result);
    }
}

/* A second level of two ways on scattered pages loses lines from the first page on, so that no
   plateau shows what a hit takes; lines that are steered past the first level do, whatever line
   that gives up. */
static void a_latency_needs_no_plateau(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_RANDOM,
                                                   FM_REPLACE_NRU, FM_REPLACE_SRRIP};
    struct fm_survey_options options = lab_options();
    options.only = "latency";
    for (size_t i = 0; i < lab_of(sizeof policies / sizeof *policies); i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 16384, 64, 4), lab_cache(2, 131072, 64, 2));
        machine.caches[0].replacement = policies[i];
        machine.caches[1].index = FM_INDEX_PHYSICAL;
        machine.page_mapping = FM_MAPPING_RANDOM;
        machine.noise = (struct fm_noise_description){.jitter = 0.01, .timer_ns = 8};
        struct fm_result result;
        lab_survey(&machine, &options, &result);
        lab_expect(&result, "l2.latency_cycles", machine.caches[1].latency, 1);
        fm_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_direct_mapped_cache),
        cmocka_unit_test(finds_three_ways_and_odd_sets),
        cmocka_unit_test(finds_a_single_set),
        cmocka_unit_test(adds_up_an_exclusive_hierarchy),
        cmocka_unit_test(tells_a_line_from_a_pair),
        cmocka_unit_test(finds_scattered_pages),
        cmocka_unit_test(luck_makes_no_level),
        cmocka_unit_test(luck_makes_no_set),
        cmocka_unit_test(a_latency_needs_no_plateau),
        cmocka_unit_test(published_method_finds_odd_first_levels),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
