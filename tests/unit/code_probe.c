/* The probes of the side of code on simulated machines: each structure is told from the others that
 * a chain of jumps fills as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/simulated/simulated.h"
#include "survey/survey.h"

#define PAGE 4096u

static struct fm_cache_description cache(const char *name, unsigned level, enum fm_holds holds,
                                         uint64_t capacity, uint32_t line, uint32_t ways,
                                         double latency)
{
    struct fm_cache_description cache = {.level = level,
                                         .holds = holds,
                                         .capacity = capacity,
                                         .line = line,
                                         .ways = ways,
                                         .latency = latency,
                                         .write_allocate = true};
    snprintf(cache.name, sizeof cache.name, "%s", name);
    return cache;
}

static struct fm_tlb_description tlb(const char *name, unsigned level, enum fm_holds holds,
                                     uint32_t entries, uint32_t ways, double latency)
{
    struct fm_tlb_description tlb = {.level = level,
                                     .holds = holds,
                                     .entries = entries,
                                     .ways = ways,
                                     .latency = latency,
                                     .page_sizes = {PAGE},
                                     .page_size_count = 1};
    snprintf(tlb.name, sizeof tlb.name, "%s", name);
    return tlb;
}

/* 32 KiB of code in 4 ways of 64 bytes; noise and scattered pages. */
static struct fm_description usual_machine(void)
{
    return (struct fm_description){
        .name = "usual",
        .clock_mhz = 1000,
        .add_latency = 1,
        .page_size = PAGE,
        .page_mapping = FM_MAPPING_RANDOM,
        .caches = {cache("l1d", 1, FM_HOLDS_DATA, 16384, 64, 4, 4),
                   cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 32768, 64, 4, 4),
                   cache("l2", 2, FM_HOLDS_BOTH, 262144, 64, 8, 14)},
        .cache_count = 3,
        .tlbs = {tlb("dtlb1", 1, FM_HOLDS_DATA, 32, 32, 0),
                 tlb("itlb1", 1, FM_HOLDS_INSTRUCTIONS, 48, 4, 0),
                 tlb("dtlb2", 2, FM_HOLDS_BOTH, 256, 4, 7)},
        .tlb_count = 3,
        .walk_latency = 30,
        .memory_latency = 120,
        .noise = {.jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8},
    };
}

static void survey_up_to(uint64_t footprint, const struct fm_description *description,
                         const char *only, struct fm_result *result)
{
    struct fm_error err = {0};
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .max_footprint = footprint, .seed = 1, .only = only};
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    if (!machine)
        fail_msg("%s", err.text);
    fm_result_init(result);
    if (!fm_survey(machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    machine->ops->close(machine);
}

static void survey(const struct fm_description *description, const char *only,
                   struct fm_result *result)
{
    survey_up_to(8 << 20, description, only, result);
}

static const struct fm_finding *measured(const struct fm_result *result, const char *property)
{
    const struct fm_finding *finding = fm_result_find(result, property);
    if (!finding || finding->status != FM_MEASURED)
        fail_msg("%s is not measured: %s", property, finding ? finding->note : "not there");
    return finding;
}

static void expect(const struct fm_result *result, const char *property, double value)
{
    const struct fm_finding *finding = measured(result, property);
    if (finding->value.number != value)
        fail_msg("%s is %g, not %g", property, finding->value.number, value);
}

/* The machine's cache of code, as it is described. */
static void survey_cache(const struct fm_description *description, struct fm_result *result)
{
    const struct fm_cache_description *cache = &description->caches[1];
    survey(description, "icache", result);
    expect(result, "l1i.capacity", (double)cache->capacity);
    expect(result, "l1i.line", cache->line);
    expect(result, "l1i.ways", cache->ways);
}

static void expect_usual_cache(const struct fm_description *description)
{
    struct fm_result result;
    survey_cache(description, &result);
    const double miss = measured(&result, "l1i.miss_latency")->value.number;
    assert_true(miss > 9.5 && miss < 10.5);
    fm_result_free(&result);
}

static void finds_the_cache(void **state)
{
    (void)state;
    const struct fm_description description = usual_machine();
    expect_usual_cache(&description);
}

/* Of a cache that is not found nothing is told, and each attribute says why. */
static void leaves_all_of_a_cache_open(void **state)
{
    (void)state;
    static const char *const properties[] = {"l1i.capacity", "l1i.line", "l1i.ways",
                                             "l1i.miss_latency"};
    const struct fm_description description = usual_machine();
    struct fm_result result;
    survey_up_to(16384, &description, "icache", &result);
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        const struct fm_finding *finding = fm_result_find(&result, properties[i]);
        if (!finding || finding->status != FM_UNDETERMINED || !finding->note[0])
            fail_msg("%s is not left open", properties[i]);
    }
    fm_result_free(&result);
}

/* 512 lines are in the cache; as many jumps, one or two to a line, are in this buffer. */
static void is_not_confused_by_targets(void **state)
{
    (void)state;
    static const uint32_t entries[] = {512, 1024};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct fm_description description = usual_machine();
        description.btbs[0] = (struct fm_btb_description){entries[i], 4, 8, 12};
        description.btb_count = 1;
        expect_usual_cache(&description);
    }
}

static void is_not_confused_by_decoded_operations(void **state)
{
    (void)state;
    static const uint32_t entries[] = {128, 512};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct fm_description description = usual_machine();
        description.op_cache = (struct fm_op_cache_description){entries[i], 4, 32, 6, 1};
        expect_usual_cache(&description);
    }
    /* Nine sets, into all of which lines 512 bytes apart go. */
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 10240, 64, 8, 2);
    description.op_cache = (struct fm_op_cache_description){72, 8, 32, 6, 0.5};
    survey_cache(&description, &result);
    fm_result_free(&result);
}

/* With full lines there are too many operations long before there are too many lines; but what
   rises is the cache's, which holds fewer lines than there are entries. */
static void finds_a_cache_that_ends_before_operations_do(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 8192, 64, 2, 4);
    description.caches[2].latency = 7;
    description.op_cache = (struct fm_op_cache_description){136, 8, 32, 6, 0.5};
    survey_cache(&description, &result);
    fm_result_free(&result);
    /* The same with lines and windows a quarter as long. */
    description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 4096, 16, 2, 4);
    description.op_cache = (struct fm_op_cache_description){72, 8, 8, 6, 0.5};
    survey_cache(&description, &result);
    fm_result_free(&result);
}

/* A window of 16 bytes has four operations and is one entry, full or not. */
static void is_not_confused_by_short_windows(void **state)
{
    (void)state;
    static const uint32_t entries[] = {136, 512};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct fm_description description = usual_machine();
        struct fm_result result;
        description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 65536, 32, 8, 4);
        description.op_cache = (struct fm_op_cache_description){entries[i], 8, 16, 6, 1};
        survey_cache(&description, &result);
        fm_result_free(&result);
    }
}

static void believes_a_cache_of_short_lines(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.caches[1].line = 16;
    survey_cache(&description, &result);
    fm_result_free(&result);
}

/* On scattered pages such a level begins to miss where the first does: what a miss of the first
   costs by itself does not show in the curve. */
static void finds_a_cache_close_to_the_next(void **state)
{
    (void)state;
    static const uint32_t lines[] = {32, 64};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fm_description description = usual_machine();
        struct fm_result result;
        description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 24576, lines[i], 3, 2);
        description.caches[2] = cache("l2", 2, FM_HOLDS_BOTH, 65536, 64, 2, 4);
        description.memory_latency = 60;
        survey_cache(&description, &result);
        fm_result_free(&result);
    }
}

/* Ten sets, of which lines 512 bytes apart use five. */
static void finds_a_cache_of_few_sets(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 5120, 64, 8, 4);
    description.caches[2] = cache("l2", 2, FM_HOLDS_BOTH, 16384, 64, 8, 12);
    survey_cache(&description, &result);
    fm_result_free(&result);
}

/* Eight pages are 32 KiB. */
/* Neighbours fill the sets that a hash chooses as they fill one set: lines from anywhere do not. */
static void takes_no_hash_for_one_set(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = usual_machine();
    machine.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 32768, 64, 8, 4);
    machine.caches[1].index = FM_INDEX_HASHED;
    survey(&machine, "icache", &result);
    expect(&result, "l1i.ways", 8);
    fm_result_free(&result);
    machine.caches[1] = cache("l1i", 1, FM_HOLDS_INSTRUCTIONS, 4096, 64, 64, 4);
    survey(&machine, "icache", &result);
    const struct fm_finding *ways = fm_result_find(&result, "l1i.ways");
    assert_non_null(ways);
    assert_string_equal(ways->value.text, "full");
    expect(&result, "l1i.capacity", 4096);
    fm_result_free(&result);
}

static void is_not_confused_by_translation(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    description.tlbs[1] = tlb("itlb1", 1, FM_HOLDS_INSTRUCTIONS, 8, 8, 0);
    description.tlb_count = 2;
    expect_usual_cache(&description);
}

static void finds_the_tlb_and_what_is_shared(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.btbs[0] = (struct fm_btb_description){48, 4, 8, 12};
    description.btb_count = 1;
    survey(&description, "itlb,unified", &result);
    expect(&result, "itlb1.entries", 48);
    expect(&result, "itlb1.ways", 4);
    expect(&result, "itlb1.reach", 48 * PAGE);
    assert_true(measured(&result, "dtlb2.unified")->value.truth);
    assert_false(measured(&result, "dtlb1.unified")->value.truth);
    assert_true(measured(&result, "l2.unified")->value.truth);
    assert_null(fm_result_find(&result, "itlb2.entries"));
    fm_result_free(&result);
}

/* A second level for each. */
static void finds_what_is_not_shared(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.page_mapping = FM_MAPPING_CONTIGUOUS;
    description.caches[2].holds = FM_HOLDS_DATA;
    description.caches[3] = cache("l2i", 2, FM_HOLDS_INSTRUCTIONS, 262144, 64, 8, 14);
    description.cache_count = 4;
    description.tlbs[2].holds = FM_HOLDS_DATA;
    description.tlbs[3] = tlb("itlb2", 2, FM_HOLDS_INSTRUCTIONS, 192, 4, 7);
    description.tlb_count = 4;
    survey(&description, "icache,itlb,unified", &result);
    assert_false(measured(&result, "dtlb2.unified")->value.truth);
    assert_false(measured(&result, "l2.unified")->value.truth);
    expect(&result, "itlb2.entries", 192);
    expect(&result, "itlb2.ways", 4);
    fm_result_free(&result);
}

/* Targets in two levels, an op cache and a cache that end among them. */
static void finds_targets(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.btbs[0] = (struct fm_btb_description){64, 64, 8, 2};
    description.btbs[1] = (struct fm_btb_description){2048, 4, 8, 12};
    description.btb_count = 2;
    description.op_cache = (struct fm_op_cache_description){512, 8, 32, 6, 1};
    survey(&description, "btb", &result);
    expect(&result, "btb1.entries", 64);
    const struct fm_finding *entries = measured(&result, "btb.entries");
    assert_true(entries->low.number <= 2048 && 2048 <= entries->high.number);
    assert_true(entries->value.number >= 2048 && entries->value.number < 1.05 * 2048);
    const double inner = measured(&result, "btb1.miss_cost")->value.number;
    const double outer = measured(&result, "btb.miss_cost")->value.number;
    assert_true(inner > 1.8 && inner < 2.2);
    assert_true(outer > 11.4 && outer < 12.6);
    fm_result_free(&result);
}

/* The second of three costs little more than the first. */
static void finds_a_level_of_targets_between_two(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.btbs[0] = (struct fm_btb_description){64, 64, 8, 2};
    description.btbs[1] = (struct fm_btb_description){512, 4, 8, 3.5};
    description.btbs[2] = (struct fm_btb_description){8192, 4, 8, 12};
    description.btb_count = 3;
    survey(&description, "btb", &result);
    expect(&result, "btb1.entries", 64);
    const struct fm_finding *between = measured(&result, "btb2.entries");
    assert_true(between->low.number <= 512 && 512 <= between->high.number);
    const double cost = measured(&result, "btb2.miss_cost")->value.number;
    assert_true(cost > 3.2 && cost < 3.8);
    const struct fm_finding *last = measured(&result, "btb.entries");
    assert_true(last->low.number <= 8192 && 8192 <= last->high.number);
    fm_result_free(&result);
}

/* Jumps 8, 16 and 32 bytes apart are too many for it with as much code as the cache holds. */
static void tells_targets_from_a_cache_of_their_size(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.btbs[0] = (struct fm_btb_description){4096, 4, 8, 12};
    description.btb_count = 1;
    survey(&description, "btb", &result);
    const struct fm_finding *entries = measured(&result, "btb.entries");
    assert_true(entries->low.number <= 4096 && 4096 <= entries->high.number);
    fm_result_free(&result);
}

/* By their event: the last level to a block, and beside the clock. Where no buffer is ever full
   nothing is searched for by the clock. */
static void counts_targets(void **state)
{
    (void)state;
    for (unsigned buffers = 0; buffers < 2; buffers++) {
        struct fm_description description = usual_machine();
        struct fm_error err = {0};
        struct fm_result result;
        description.btbs[0] = (struct fm_btb_description){768, 6, 8, 12};
        description.btb_count = buffers;
        struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
        assert_non_null(machine);
        fm_simulated_count(machine, true);
        const struct fm_survey_options options = {
            .effort = FM_NORMAL, .seed = 1, .only = "misses,btb"};
        fm_result_init(&result);
        assert_true(fm_survey(machine, NULL, &options, &result, &err));
        machine->ops->close(machine);
        const struct fm_finding *entries = fm_result_find(&result, "btb.entries");
        assert_non_null(entries);
        assert_int_equal(entries->status, buffers ? FM_MEASURED : FM_UNDETERMINED);
        if (buffers) {
            expect(&result, "btb.entries", 768);
            assert_string_equal(entries->witnesses[0], "clock");
            assert_string_equal(entries->witnesses[1], "sim");
        }
        fm_result_free(&result);
    }
}

static bool has_witness(const struct fm_finding *finding, const char *name)
{
    for (size_t i = 0; i < FM_LIST && finding->witnesses[i][0]; i++)
        if (strcmp(finding->witnesses[i], name) == 0)
            return true;
    return false;
}

/* The event of a TLB says whether code pushes data out of it; and of the first one, where it is one
   for both and no event counts code alone, how many pages of code it holds. */
static void asks_the_event_of_a_shared_tlb(void **state)
{
    (void)state;
    for (unsigned both = 0; both < 2; both++) {
        struct fm_description description = usual_machine();
        struct fm_error err = {0};
        struct fm_result result;
        if (both) {
            description.tlbs[0] = tlb("tlb1", 1, FM_HOLDS_BOTH, 48, 4, 0);
            description.tlbs[1] = description.tlbs[2];
            description.tlb_count = 2;
        }
        struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
        assert_non_null(machine);
        fm_simulated_count(machine, true);
        machine->info.counters.events &=
            ~(unsigned)(FM_COUNTS_CODE | FM_COUNTS_CODE_TLB | FM_COUNTS_TARGETS);
        const struct fm_survey_options options = {
            .effort = FM_NORMAL, .max_footprint = 8 << 20, .seed = 1, .only = "misses,itlb"};
        fm_result_init(&result);
        assert_true(fm_survey(machine, NULL, &options, &result, &err));
        machine->ops->close(machine);
        const struct fm_finding *first = measured(&result, "dtlb1.unified");
        const struct fm_finding *second = measured(&result, "dtlb2.unified");
        assert_true(first->value.truth == both && has_witness(first, "sim"));
        assert_true(second->value.truth && has_witness(second, "sim"));
        expect(&result, "itlb1.entries", 48);
        expect(&result, "itlb1.ways", 4);
        assert_true(has_witness(measured(&result, "itlb1.entries"), "sim") == both);
        assert_true((fm_result_find_curve(&result, "misses-itlb1") != NULL) == both);
        fm_result_free(&result);
    }
}

static void says_where_code_cannot_be_run(void **state)
{
    (void)state;
    struct fm_description description = usual_machine();
    struct fm_result result;
    description.caches[1] = description.caches[2];
    description.cache_count = 2;
    survey(&description, "icache", &result);
    const struct fm_finding *capacity = fm_result_find(&result, "l1i.capacity");
    assert_non_null(capacity);
    assert_int_equal(capacity->status, FM_UNSUPPORTED);
    assert_non_null(strstr(capacity->note, "no instruction cache"));
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_cache),
        cmocka_unit_test(leaves_all_of_a_cache_open),
        cmocka_unit_test(is_not_confused_by_targets),
        cmocka_unit_test(is_not_confused_by_decoded_operations),
        cmocka_unit_test(finds_a_cache_that_ends_before_operations_do),
        cmocka_unit_test(is_not_confused_by_short_windows),
        cmocka_unit_test(believes_a_cache_of_short_lines),
        cmocka_unit_test(finds_a_cache_close_to_the_next),
        cmocka_unit_test(finds_a_cache_of_few_sets),
        cmocka_unit_test(takes_no_hash_for_one_set),
        cmocka_unit_test(is_not_confused_by_translation),
        cmocka_unit_test(finds_the_tlb_and_what_is_shared),
        cmocka_unit_test(finds_what_is_not_shared),
        cmocka_unit_test(finds_targets),
        cmocka_unit_test(finds_a_level_of_targets_between_two),
        cmocka_unit_test(tells_targets_from_a_cache_of_their_size),
        cmocka_unit_test(counts_targets),
        cmocka_unit_test(asks_the_event_of_a_shared_tlb),
        cmocka_unit_test(says_where_code_cannot_be_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
