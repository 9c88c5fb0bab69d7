/* What the counters probe makes of machines whose answers are known. */
#include <stdio.h>
#include <string.h>

#include "survey_lab.h"
#include "thrifty_machine.h"
#include "truth.h"

/* Only the counters speak. */
static void count(const struct fm_description *description, struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_survey_options options = lab_options();
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    options.only = "counters";
    options.max_footprint = 16u << 20;
    assert_non_null(machine);
    fm_simulated_count(machine, true);
    fm_result_init(result);
    if (!fm_survey(machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    machine->ops->close(machine);
    assert_true(result->complete);
}

static const char *of(const char *structure, const char *attribute)
{
    static char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    return property;
}

static void expect_ways(const struct fm_result *result, const char *structure, uint64_t entries,
                        uint32_t ways)
{
    const struct fm_finding *finding = lab_finding(result, of(structure, "ways"));
    if (ways == entries)
        assert_string_equal(finding->value.text, "full");
    else
        lab_expect(result, finding->property, ways, 0);
    assert_string_equal(finding->witnesses[0], "sim");
    assert_string_equal(finding->witnesses[1], "");
}

static void expect_exact(const struct fm_description *machine, const struct fm_result *result)
{
    static const char *const names[] = {"l1d", "l2", "l3"};
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        lab_expect(result, of(names[i], "capacity"), (double)cache->capacity, 0);
        lab_expect(result, of(names[i], "physical_capacity"), (double)cache->capacity, 0);
        lab_expect(result, of(names[i], "line"), cache->line, 0);
        expect_ways(result, names[i], cache->capacity / cache->line, cache->ways);
    }
    assert_null(fm_result_find(result, of(names[machine->cache_count], "capacity")));
}

static void finds_every_shape_exactly(void **state)
{
    (void)state;
    const struct {
        uint32_t capacity[2], line[2], ways[2];
    } shapes[] = {
        {{4096, 65536}, {32, 64}, {1, 4}},        {{48 * 3 * 32, 320 * 5 * 64}, {32, 64}, {3, 5}},
        {{2048, 65536}, {64, 64}, {32, 1024}},    {{8192, 16384}, {16, 16}, {8, 2}},
        {{32768, 49152}, {64, 128}, {8, 12}},     {{1024, 262144}, {16, 256}, {2, 16}},
        {{11 * 1024, 90112}, {64, 64}, {11, 11}}, {{16384, 1 << 18}, {128, 128}, {16, 1}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct fm_description machine =
            lab_small(lab_cache(1, shapes[i].capacity[0], shapes[i].line[0], shapes[i].ways[0]),
                      lab_cache(2, shapes[i].capacity[1], shapes[i].line[1], shapes[i].ways[1]));
        struct fm_result result;
        count(&machine, &result);
        expect_exact(&machine, &result);
        fm_result_free(&result);
    }
}

static void finds_tlbs_exactly(void **state)
{
    (void)state;
    const struct {
        uint32_t entries[2], ways[2], pages_per_entry;
        uint64_t page;
    } tlbs[] = {
        {{64, 512}, {4, 4}, 1, PAGE},
        {{48, 1280}, {48, 5}, 1, PAGE},
        {{16, 96}, {1, 6}, 2, PAGE},
        {{32, 128}, {32, 128}, 1, PAGE / 4},
    };
    for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 2), lab_cache(2, 65536, 64, 8));
        struct fm_result result;
        machine.tlb_count = 2;
        for (unsigned j = 0; j < 2; j++) {
            machine.tlbs[j] = lab_tlb(j + 1, tlbs[i].entries[j], tlbs[i].ways[j], PAGE);
            machine.tlbs[j].pages_per_entry = tlbs[i].pages_per_entry;
        }
        machine.tlbs[0].page_sizes[0] = tlbs[i].page;
        count(&machine, &result);
        for (unsigned j = 0; j < 2; j++) {
            const char *name = j ? "dtlb2" : "dtlb1";
            const double maps = (double)(j ? PAGE : tlbs[i].page) * tlbs[i].pages_per_entry;
            lab_expect(&result, of(name, "entries"), tlbs[i].entries[j], 0);
            lab_expect(&result, of(name, "page_size"), maps, 0);
            lab_expect(&result, of(name, "reach"), maps * tlbs[i].entries[j], 0);
            expect_ways(&result, name, tlbs[i].entries[j], tlbs[i].ways[j]);
        }
        fm_result_free(&result);
    }
}

/* Not found is no mistake; a wrong number is. */
static void expect_or_none(const struct fm_result *result, const char *property, double truth)
{
    if (lab_finding(result, property)->status == FM_MEASURED)
        lab_expect(result, property, truth, 0);
}

/* Where the index is hashed a few lines or pages that meet make an edge, and blocks in a row fit in
   numbers that are no ways: nothing of that may be told for another thing. */
static void tells_nothing_wrong_of_hashed_ones(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 10240, 32, 5), lab_cache(2, 131072, 32, 2));
    struct fm_result result;
    machine.caches[1].index = FM_INDEX_HASHED;
    machine.tlbs[0] = lab_tlb(1, 64, 4, PAGE);
    machine.tlbs[0].index = FM_INDEX_HASHED;
    count(&machine, &result);
    expect_or_none(&result, "l2.line", 32);
    expect_or_none(&result, "l2.ways", 2);
    expect_or_none(&result, "dtlb1.entries", 64);
    expect_or_none(&result, "dtlb1.ways", 4);
    expect_or_none(&result, "dtlb1.page_size", PAGE);
    expect_or_none(&result, "dtlb1.reach", 64 * PAGE);
    fm_result_free(&result);
}

/* A prefetcher brings lines that nobody asked for; pseudo-LRU remembers what was there before. */
static void is_not_misled(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 131072, 64, 8));
    struct fm_result result;
    for (unsigned prefetch = 1; prefetch <= FM_PREFETCH_REGION; prefetch *= 2) {
        machine.prefetch = prefetch;
        count(&machine, &result);
        lab_expect(&result, "l1d.capacity", 8192, 0);
        lab_expect(&result, "l1d.line", 64, 0);
        lab_expect(&result, "l1d.ways", 4, 0);
        lab_expect(&result, "l2.capacity", 131072, 0.02 * 131072);
        expect_or_none(&result, "l2.line", 64);
        expect_or_none(&result, "l2.ways", 8);
        fm_result_free(&result);
    }
    machine.prefetch = 0;
    const enum fm_replacement policies[] = {FM_REPLACE_TREE_PLRU, FM_REPLACE_BIT_PLRU,
                                            FM_REPLACE_FIFO};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        machine.caches[0].replacement = machine.caches[1].replacement = policies[i];
        count(&machine, &result);
        expect_exact(&machine, &result);
        fm_result_free(&result);
    }
}

/* Where pages lie, or a hash, decides which lines share a set, no number of ways is made up. */
static void claims_no_ways_it_cannot_see(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 2), lab_cache(2, 262144, 64, 8));
    struct fm_result result;
    machine.page_mapping = FM_MAPPING_RANDOM;
    for (enum fm_index index = FM_INDEX_PHYSICAL; index <= FM_INDEX_HASHED; index++) {
        struct fm_error err;
        double truth;
        machine.caches[1].index = index;
        count(&machine, &result);
        lab_expect(&result, "l1d.ways", 2, 0);
        assert_int_equal(lab_finding(&result, "l2.ways")->status, FM_UNDETERMINED);
        assert_int_equal(lab_finding(&result, "l2.physical_capacity")->status, FM_UNDETERMINED);
        assert_true(fm_true_capacity(&machine, 1, &truth, &err));
        /* Over some placements, of which there is luck in each. */
        lab_expect(&result, "l2.capacity", truth, 0.1 * truth);
        lab_expect(&result, "l2.line", 64, 0);
        fm_result_free(&result);
    }
    machine.page_mapping = FM_MAPPING_CONTIGUOUS;
    machine.caches[1].index = FM_INDEX_VIRTUAL;
    machine.caches[1].inclusion = FM_INCLUSION_EXCLUSIVE;
    count(&machine, &result);
    expect_or_none(&result, "l2.ways", 8);
    expect_or_none(&result, "l2.line", 64);
    lab_expect(&result, "l2.capacity", 262144 + 4096, 4096 + 1024);
    fm_result_free(&result);
}

static void clock_and_counters_are_both_witnesses(void **state)
{
    (void)state;
    static const char *const both[] = {"l1d.capacity", "l1d.line",      "l1d.ways",
                                       "l2.line",      "dtlb1.entries", "dtlb1.ways"};
    const struct fm_description description =
        lab_small(lab_cache(1, 4096, 32, 2), lab_cache(2, 65536, 64, 4));
    const struct fm_survey_options options = lab_options();
    struct fm_error err = {0};
    struct fm_result result;
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    fm_simulated_count(machine, true);
    fm_result_init(&result);
    if (!fm_survey(machine, NULL, &options, &result, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        const struct fm_finding *finding = lab_finding(&result, both[i]);
        bool by_clock = false, by_counters = false;
        for (size_t j = 0; j < FM_LIST; j++) {
            by_clock |= strncmp(finding->witnesses[j], "clock", 5) == 0;
            by_counters |= strcmp(finding->witnesses[j], "sim") == 0;
        }
        if (finding->status != FM_MEASURED || !by_clock || !by_counters)
            fail_msg("%s has not both witnesses: %s", both[i], finding->note);
    }
    fm_result_free(&result);
    machine->ops->close(machine);
}

static void is_left_out_without_counters(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 4096, 32, 1), lab_cache(2, 65536, 64, 4));
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    struct fm_error err = {0};
    options.only = "cycle";
    lab_survey(&machine, &options, &result);
    fm_result_free(&result);
    struct fm_machine *bare = fm_simulated_open(&machine, 1, &err);
    options.only = "counters";
    fm_result_init(&result);
    assert_false(fm_survey(bare, NULL, &options, &result, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "counters"));
    fm_result_free(&result);
    bare->ops->close(bare);
}

/* What a survey asks for, all of it or some probes. */
static double references_with(const struct fm_description *description, bool counters,
                              const char *only, uint64_t seed, struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_survey_options options = lab_options();
    options.seed = seed;
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    assert_non_null(machine);
    fm_simulated_count(machine, counters);
    struct thrifty thrifty = thrifty_around(machine);
    options.only = only;
    fm_result_init(result);
    if (!fm_survey(&thrifty.machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    machine->ops->close(machine);
    return thrifty.references;
}

static double references_of(const struct fm_description *description, bool counters,
                            const char *only, struct fm_result *result)
{
    return references_with(description, counters, only, 1, result);
}

static void a_survey_asks_for_half(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 4096, 64, 4), lab_cache(2, 65536, 64, 8));
    struct fm_result result;
    const double clock = references_of(&machine, false, NULL, &result);
    fm_result_free(&result);
    const double both = references_of(&machine, true, NULL, &result);
    fm_result_free(&result);
    print_message("# %.2f million by the clock, %.2f with counters\n", clock / 1e6, both / 1e6);
    assert_true(both <= 0.5 * clock);
}

/* The whole survey, by both. */
static void survey_with_counters(const struct fm_description *machine, const char *only,
                                 struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = only;
    options.max_footprint = 64u << 20;
    lab_survey_by(machine, true, &options, result);
}

/* No stride conflicts by itself: the event tells which pages share a set. */
static void hashed_tlbs_are_crowded_by_their_events(void **state)
{
    (void)state;
    const struct {
        uint32_t entries[2], ways[2];
        enum fm_index index[2];
    } tlbs[] = {
        {{32, 512}, {4, 4}, {FM_INDEX_VIRTUAL, FM_INDEX_HASHED}},
        {{16, 512}, {2, 4}, {FM_INDEX_HASHED, FM_INDEX_HASHED}},
    };
    for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 32768, 64, 8), lab_cache(2, 262144, 64, 8));
        struct fm_result result;
        machine.tlb_count = 2;
        for (unsigned j = 0; j < 2; j++) {
            machine.tlbs[j] = lab_tlb(j + 1, tlbs[i].entries[j], tlbs[i].ways[j], PAGE);
            machine.tlbs[j].index = tlbs[i].index[j];
        }
        survey_with_counters(&machine, "levels,tlb,counters", &result);
        for (unsigned j = 0; j < 2; j++) {
            const char *name = j ? "dtlb2" : "dtlb1";
            const bool hashed = tlbs[i].index[j] == FM_INDEX_HASHED;
            lab_expect(&result, of(name, "entries"), tlbs[i].entries[j], 0);
            lab_expect(&result, of(name, "ways"), tlbs[i].ways[j], 0);
            assert_string_equal(lab_finding(&result, of(name, "ways"))->witnesses[0],
                                hashed ? "sim" : "clock");
        }
        fm_result_free(&result);
    }
}

/* The events of caches say what everything takes besides: that nothing is left shows at once; under
   any policy, and mostly where a first level draws lots, since the second shows that the meter adds
   nothing; but what it holds is a matter of luck then. */
static void no_tlb_is_seen_at_a_look(void **state)
{
    (void)state;
    const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_BIT_PLRU, FM_REPLACE_RANDOM};
    for (int i = 0; i < 3; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 65536, 64, 8));
        struct fm_result clock, both;
        machine.caches[0].replacement = policies[i];
        machine.tlb_count = 0;
        const double alone = references_of(&machine, false, "levels,tlb", &clock);
        double beside = references_of(&machine, true, "misses,levels,tlb", &both);
        for (uint64_t seed = 2; seed <= 4 && policies[i] == FM_REPLACE_RANDOM; seed++) {
            fm_result_free(&both);
            const double again = references_with(&machine, true, "misses,levels,tlb", seed, &both);
            beside = again < beside ? again : beside;
        }
        print_message("# %.2f million by the clock, %.2f with counters\n", alone / 1e6,
                      beside / 1e6);
        assert_true(beside < alone / 2);
        const struct fm_finding *none = lab_finding(&both, "dtlb1.entries");
        assert_int_equal(none->status, FM_UNDETERMINED);
        assert_non_null(strstr(none->note, "translation costs nothing"));
        fm_result_free(&clock);
        fm_result_free(&both);
    }
}

/* One in twenty misses where a few lines are too many: the interval holds that, too. */
static void what_one_in_twenty_leaves_is_in_the_interval(void **state)
{
    (void)state;
    const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO, FM_REPLACE_BIT_PLRU};
    for (int i = 0; i < 3; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 131072, 64, 2));
        struct fm_error err = {0};
        struct fm_result result;
        double truth;
        machine.caches[1].replacement = policies[i];
        assert_true(fm_true_capacity(&machine, 1, &truth, &err));
        count(&machine, &result);
        const struct fm_finding *found = lab_finding(&result, "l2.capacity");
        print_message("# %.0f in %.0f..%.0f\n", truth, found->low.number, found->high.number);
        assert_true(found->low.number <= truth && truth <= found->high.number);
        fm_result_free(&result);
    }
}

/* Laps that differ by the policy come out the same again, or on an average where lots are drawn, so
   that counts say which level served. */
static void policies_do_not_make_counts_useless(void **state)
{
    (void)state;
    const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_BIT_PLRU, FM_REPLACE_NRU,
                                            FM_REPLACE_RANDOM};
    for (int i = 0; i < 4; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 65536, 64, 8));
        struct fm_result result;
        machine.caches[0].replacement = policies[i];
        survey_with_counters(&machine, "misses,levels,gap,latency,capacity,writes", &result);
        const struct fm_finding *found = lab_finding(&result, "l1d.write_allocate");
        assert_true(found->status == FM_MEASURED && found->value.truth);
        assert_string_equal(found->witnesses[0], "sim");
        fm_result_free(&result);
    }
}

/* Under a policy that spares some of the lines in a set that has one too many, larger numbers of
   ways are not asked one by one: of many lines no more miss than those of one set. */
static void sparing_policies_cost_little_more(void **state)
{
    (void)state;
    double took[2];
    for (int sparing = 0; sparing < 2; sparing++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 33 * 16384, 64, 33));
        struct fm_result result;
        machine.caches[1].replacement = sparing ? FM_REPLACE_BIT_PLRU : FM_REPLACE_LRU;
        took[sparing] = references_of(&machine, true, "misses", &result);
        fm_result_free(&result);
        count(&machine, &result);
        lab_expect(&result, "l2.capacity", 33 * 16384, 0);
        lab_expect(&result, "l2.ways", 33, 0);
        fm_result_free(&result);
    }
    print_message("# LRU %.2f million, bit-PLRU %.2f\n", took[0] / 1e6, took[1] / 1e6);
    assert_true(took[1] < 1.5 * took[0]);
}

/* Half of the lines loads the sets of a hash as unevenly as stripes do. */
static void hashed_levels_show_their_line(void **state)
{
    (void)state;
    const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_BIT_PLRU};
    for (uint32_t line = 64; line <= 128; line *= 2)
        for (int i = 0; i < 2; i++) {
            struct fm_description machine =
                lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 6 * 65536, line, 6));
            struct fm_result result;
            machine.caches[1].index = FM_INDEX_HASHED;
            machine.caches[1].replacement = policies[i];
            count(&machine, &result);
            lab_expect(&result, "l2.line", line, 0);
            fm_result_free(&result);
        }
}

/* What has no event is there all the same. */
static void a_tlb_without_an_event_is_found_by_the_clock(void **state)
{
    (void)state;
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 65536, 64, 8));
    struct fm_result result;
    machine.no_counter = 1u << FM_CACHE_LEVELS;
    references_of(&machine, true, "misses,levels,tlb", &result);
    lab_expect(&result, "dtlb1.entries", 16, 0);
    assert_string_equal(lab_finding(&result, "dtlb1.entries")->witnesses[0], "clock");
    fm_result_free(&result);
}

/* Who reads an event touches pages: they push others out, whose misses are not the string's. */
static void what_a_reading_touches_is_not_counted(void **state)
{
    (void)state;
    static const struct {
        uint32_t entries, ways;
        enum fm_index index;
    } tlbs[] = {{32, 4, FM_INDEX_VIRTUAL}, {64, 64, FM_INDEX_VIRTUAL}, {64, 4, FM_INDEX_HASHED}};
    for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++) {
        struct fm_description machine =
            lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 65536, 64, 8));
        struct fm_result result;
        machine.tlbs[0].entries = tlbs[i].entries;
        machine.tlbs[0].ways = tlbs[i].ways;
        machine.tlbs[0].index = tlbs[i].index;
        machine.noise.timer_pages = 5;
        survey_with_counters(&machine, "misses,levels,tlb", &result);
        lab_expect(&result, "dtlb1.entries", tlbs[i].entries, 0);
        const struct fm_finding *ways = lab_finding(&result, "dtlb1.ways");
        assert_int_equal(ways->status, FM_MEASURED);
        if (tlbs[i].ways < tlbs[i].entries)
            lab_expect(&result, "dtlb1.ways", tlbs[i].ways, 0);
        else
            assert_string_equal(ways->value.text, "full");
        fm_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_shape_exactly),
        cmocka_unit_test(finds_tlbs_exactly),
        cmocka_unit_test(tells_nothing_wrong_of_hashed_ones),
        cmocka_unit_test(is_not_misled),
        cmocka_unit_test(claims_no_ways_it_cannot_see),
        cmocka_unit_test(clock_and_counters_are_both_witnesses),
        cmocka_unit_test(is_left_out_without_counters),
        cmocka_unit_test(hashed_tlbs_are_crowded_by_their_events),
        cmocka_unit_test(no_tlb_is_seen_at_a_look),
        cmocka_unit_test(what_one_in_twenty_leaves_is_in_the_interval),
        cmocka_unit_test(policies_do_not_make_counts_useless),
        cmocka_unit_test(sparing_policies_cost_little_more),
        cmocka_unit_test(hashed_levels_show_their_line),
        cmocka_unit_test(a_tlb_without_an_event_is_found_by_the_clock),
        cmocka_unit_test(what_a_reading_touches_is_not_counted),
        cmocka_unit_test(a_survey_asks_for_half),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
