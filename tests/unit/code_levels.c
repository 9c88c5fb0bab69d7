/* The outer levels as code sees them, held against what the simulator's own counters say of code;
 * shared with data and of code alone, on scattered pages and with noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "survey_lab.h"
#include "truth.h"

/* A cycle is a nanosecond. 16 KiB of code, and of data; a second level that both share. */
static struct fm_description machine_of(enum fm_mapping mapping)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 2), lab_cache(2, 131072, 64, 8));
    struct fm_cache_description code = lab_cache(1, 16384, 64, 4);
    code.holds = FM_HOLDS_INSTRUCTIONS;
    code.latency = 3;
    machine.caches[machine.cache_count++] = code;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.page_mapping = mapping;
    if (mapping == FM_MAPPING_RANDOM)
        machine.noise = (struct fm_noise_description){
            .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void survey(const struct fm_description *machine, struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "code-levels";
    lab_survey(machine, &options, result);
}

static double truth_of(const struct fm_description *machine, unsigned level)
{
    struct fm_error err = {0};
    double bytes;
    if (!fm_true_code_capacity(machine, level, &bytes, &err))
        fail_msg("%s", err.text);
    return bytes;
}

/* The truth is in the interval, and the value is near it. */
static void expect_capacity(const struct fm_result *result, const char *property, double truth)
{
    const struct fm_finding *finding = lab_finding(result, property);
    lab_expect(result, property, truth, 0.15 * truth);
    if (finding->low.number > truth || truth > finding->high.number)
        fail_msg("%s: %g is not in %g..%g", property, truth, finding->low.number,
                 finding->high.number);
    assert_string_equal(finding->evidence[0], "curve:code-levels");
}

static void finds_a_shared_level(void **state)
{
    (void)state;
    for (enum fm_mapping mapping = FM_MAPPING_CONTIGUOUS; mapping <= FM_MAPPING_RANDOM; mapping++) {
        const struct fm_description machine = machine_of(mapping);
        struct fm_result result;
        survey(&machine, &result);
        expect_capacity(&result, "l2.code_capacity", truth_of(&machine, 1));
        lab_expect(&result, "l2.fetch_latency", 17, 1);
        lab_expect(&result, "l2.fetch_latency_cycles", 17, 1);
        lab_expect(&result, "memory.fetch_latency", 197, 8);
        assert_null(fm_result_find(&result, "l2i.capacity"));
        assert_non_null(fm_result_find_curve(&result, "code-levels"));
        fm_result_free(&result);
    }
}

/* Code has twice as much for itself. */
static void finds_a_level_of_code_alone(void **state)
{
    (void)state;
    struct fm_description machine = machine_of(FM_MAPPING_RANDOM);
    struct fm_cache_description code = lab_cache(2, 262144, 64, 8);
    struct fm_result result;
    code.holds = FM_HOLDS_INSTRUCTIONS;
    machine.caches[1].holds = FM_HOLDS_DATA;
    machine.caches[machine.cache_count++] = code;
    survey(&machine, &result);
    expect_capacity(&result, "l2i.capacity", truth_of(&machine, 1));
    lab_expect(&result, "l2i.fetch_latency", 17, 1);
    assert_null(fm_result_find(&result, "l2.code_capacity"));
    fm_result_free(&result);
}

/* A way is longer than a page, or a hash chooses the set: no lines conflict on every placement. The
   second level is close, its lines are twice as long, and it keeps no line inside which it loses.
 */
static void finds_a_first_cache_that_pages_move(enum fm_index index, uint32_t ways,
                                                enum fm_replacement replacement)
{
    struct fm_description machine = machine_of(FM_MAPPING_RANDOM);
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    machine.caches[2].capacity = 32768;
    machine.caches[2].index = index;
    machine.caches[2].ways = ways;
    machine.caches[2].replacement = replacement;
    machine.caches[1].capacity = 262144;
    options.only = "icache";
    lab_survey(&machine, &options, &result);
    const double truth = truth_of(&machine, 0);
    const struct fm_finding *capacity = lab_finding(&result, "l1i.capacity");
    lab_expect(&result, "l1i.capacity", truth, 0.1 * truth);
    assert_true(capacity->low.number <= truth && truth <= capacity->high.number);
    lab_expect(&result, "l1i.line", 64, 0);
    lab_expect(&result, "l1i.ways", ways, 0);
    fm_result_free(&result);
}

static void finds_a_first_cache_by_physical_address(void **state)
{
    (void)state;
    finds_a_first_cache_that_pages_move(FM_INDEX_PHYSICAL, 4, FM_REPLACE_LRU);
    finds_a_first_cache_that_pages_move(FM_INDEX_PHYSICAL, 1, FM_REPLACE_LRU);
}

static void finds_a_first_cache_by_a_hash(void **state)
{
    (void)state;
    finds_a_first_cache_that_pages_move(FM_INDEX_HASHED, 2, FM_REPLACE_FIFO);
    finds_a_first_cache_that_pages_move(FM_INDEX_HASHED, 8, FM_REPLACE_LRU);
}

/* Of a level that data shares the event is one of code too, where code has none of its own. */
static void asks_the_event_of_a_shared_level(void **state)
{
    (void)state;
    for (unsigned split = 0; split < 2; split++) {
        struct fm_description machine = machine_of(FM_MAPPING_CONTIGUOUS);
        struct fm_survey_options options = lab_options();
        struct fm_error err = {0};
        struct fm_result result;
        if (split) {
            machine.caches[3] = machine.caches[1];
            machine.caches[1].holds = FM_HOLDS_DATA;
            machine.caches[3].holds = FM_HOLDS_INSTRUCTIONS;
            machine.cache_count = 4;
        }
        struct fm_machine *simulated = fm_simulated_open(&machine, 1, &err);
        assert_non_null(simulated);
        fm_simulated_count(simulated, true);
        simulated->info.counters.events &=
            ~(unsigned)(FM_COUNTS_CODE | FM_COUNTS_CODE_TLB | FM_COUNTS_TARGETS);
        options.only = "misses,code-levels";
        fm_result_init(&result);
        assert_true(fm_survey(simulated, NULL, &options, &result, &err));
        simulated->ops->close(simulated);
        if (split) {
            assert_null(fm_result_find(&result, "l2.code_capacity"));
        } else {
            lab_expect(&result, "l2.code_capacity", 131072, 64);
            assert_string_equal(lab_finding(&result, "l2.code_capacity")->witnesses[0], "sim");
            lab_expect(&result, "l2.fetch_latency", 17, 1);
        }
        assert_non_null(fm_result_find_curve(&result, "code-levels"));
        fm_result_free(&result);
    }
}

/* What code of a few MiB does not reach is said to be open, and not told. */
static void leaves_open_what_is_too_large(void **state)
{
    (void)state;
    struct fm_description machine = machine_of(FM_MAPPING_CONTIGUOUS);
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    machine.caches[1].capacity = 1048576;
    options.only = "code-levels";
    options.max_footprint = 4 << 20; /* of which code takes a fourth */
    lab_survey(&machine, &options, &result);
    assert_int_equal(lab_finding(&result, "l2.code_capacity")->status, FM_UNDETERMINED);
    assert_null(fm_result_find(&result, "memory.fetch_latency"));
    lab_expect(&result, "l2.fetch_latency", 17, 1);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_shared_level),
        cmocka_unit_test(finds_a_level_of_code_alone),
        cmocka_unit_test(finds_a_first_cache_by_physical_address),
        cmocka_unit_test(finds_a_first_cache_by_a_hash),
        cmocka_unit_test(asks_the_event_of_a_shared_level),
        cmocka_unit_test(leaves_open_what_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
