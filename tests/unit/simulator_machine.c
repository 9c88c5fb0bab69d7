/* The simulated machine as a machine: placement, clock and noise, phases, refusals. */
#include <math.h>
#include <stdlib.h>

#include "core/result.h"
#include "machine/simulated/placement.h"
#include "sim_lab.h"

/* Level 1 of 4 KiB with virtual index, level 2 of 256 KiB and 4 ways with a physical one. */
static struct fm_description some_machine(void)
{
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 4096, 64, 4);
    machine.caches[1] = lab_cache(2, 262144, 64, 4);
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.cache_count = 2;
    return machine;
}

static void fill_lines(uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)i * (64 / FM_WORD);
}

static void test_introduces_itself(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    description.noise.timer_ns = 2.5;
    struct fm_machine *machine = lab_open(&description, PAGE);
    assert_string_equal(machine->info.kind, "simulated");
    assert_string_equal(machine->info.name, "lab");
    assert_string_equal(machine->info.clock.name, "simulated");
    assert_true(machine->info.clock.resolution_ns == 2.5);
    assert_true(machine->info.clock.overhead_ns == 0);
    assert_int_equal(machine->info.page_size, PAGE);
    assert_int_equal(machine->info.cpu, -1);
    assert_true(machine->info.memory_limit >= (uint64_t)1 << 34);
    struct fm_environment environment = {0};
    machine->ops->observe(machine, &environment);
    assert_false(fm_environment_get(&environment, "virtualised")->truth);
    assert_true(fm_environment_get(&environment, "page_size")->number == PAGE);
    assert_string_equal(fm_environment_get(&environment, "page_mapping")->text, "contiguous");
    assert_null(fm_environment_get(&environment, "clock_mhz"));
    lab_close(machine);
}

static void test_counts_only_when_asked(void **state)
{
    (void)state;
    const struct fm_description description = some_machine();
    const struct fm_counts nothing = {0};
    uint32_t word = 0;
    struct fm_machine *machine = lab_open(&description, PAGE);
    assert_true(lab_run(machine, FM_OP_LOAD, &word, 1, 1).counted);
    fm_simulated_count(machine, false);
    const struct fm_sample sample = lab_run(machine, FM_OP_LOAD, &word, 1, 9);
    assert_false(sample.counted);
    assert_memory_equal(&sample.counts, &nothing, sizeof nothing);
    assert_int_equal(sample.references, 9);
    lab_close(machine);

    struct fm_error err;
    machine = fm_simulated_open(&description, 1, &err);
    assert_true(machine->ops->place(machine, PAGE, 0, &err));
    assert_false(lab_run(machine, FM_OP_LOAD, &word, 1, 1).counted);
    lab_close(machine);
}

static void test_phases_and_repeats(void **state)
{
    (void)state;
    struct fm_description description = lab_machine();
    description.caches[0] = lab_cache(1, 64, 64, 1);
    description.cache_count = 1;
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t walked[] = {0, 1, 8}, primed[] = {8, 16, 24};
    struct fm_string string = {
        .bytes = 256,
        .orders = {{walked, 3}, {primed, 3}},
        .order_count = 2,
        .phases = {{.order = 1, .window = 2, .references = 3}, /* 8 16 8 */
                   {.references = 2, .metered = true}},
        .phase_count = 2,
    };
    struct fm_sample samples[4];
    struct fm_error err;
    assert_true(machine->ops->run(machine, &string, 4, samples, &err));
    /* One line in the cache: 0 1 | 8 0 | 1 8 | 0 1, where 0 and 1 share a line. */
    static const unsigned misses[] = {1, 2, 1, 1};
    for (int i = 0; i < 4; i++)
        assert_int_equal(samples[i].counts.cache_miss[0], misses[i]);
    assert_true(samples[1].ns == 400);
    /* 3 references that nobody timed, 8 that somebody did; 3 and 5 of them missed. */
    assert_true(fabs(machine->ops->elapsed(machine) - (8 * 200 + 3 * 4) * 1e-9) < 1e-15);
    /* The unmetered phase left line 8 behind, the one that its window wrapped to. */
    uint32_t eight = 8;
    string.phases[1].references = 0;
    assert_true(machine->ops->run(machine, &string, 1, samples, &err));
    assert_int_equal(lab_run(machine, FM_OP_LOAD, &eight, 1, 1).counts.cache_miss[0], 0);
    lab_close(machine);
}

static void test_chains(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    description.add_latency = 2;
    description.clock_mhz = 2000;
    struct fm_machine *machine = lab_open(&description, PAGE);
    struct fm_sample sample;
    struct fm_error err;
    assert_true(machine->ops->chain(machine, FM_CHAIN_ADD, 1000, &sample, &err));
    assert_true(sample.ns == 1000);
    assert_int_equal(sample.references, 1000);
    assert_true(machine->ops->chain(machine, FM_CHAIN_ROTATE, 1000, &sample, &err));
    assert_true(sample.ns == 500);
    assert_true(fabs(machine->ops->elapsed(machine) - 1500e-9) < 1e-15);
    lab_close(machine);
}

static void test_random_placement(void **state)
{
    (void)state;
    enum { LINES = 262144 / 64 };
    static uint32_t words[LINES];
    struct fm_description description = some_machine();
    struct fm_error err;
    description.page_mapping = FM_MAPPING_RANDOM;
    struct fm_machine *machine = lab_open(&description, 262144);
    fill_lines(words, LINES);
    uint64_t misses[8];
    for (int i = 0; i < 8; i++) {
        assert_true(machine->ops->place(machine, 262144, 0, &err));
        const struct fm_counts cold = lab_run(machine, FM_OP_LOAD, words, LINES, LINES).counts;
        assert_true(cold.cache_miss[1] > LINES * 99 / 100); /* fresh frames are in no cache */
        const struct fm_counts warm = lab_run(machine, FM_OP_LOAD, words, LINES, LINES).counts;
        misses[i] = warm.cache_miss[1];
        /* Pages meet in the physically indexed level, whole pages at a time. */
        assert_true(misses[i] > 0 && misses[i] < LINES && misses[i] % 64 == 0);
        /* The virtually indexed level sees no difference. */
        lab_run(machine, FM_OP_LOAD, words, 64, 64);
        assert_int_equal(lab_run(machine, FM_OP_LOAD, words, 64, 64).counts.cache_miss[0], 0);
    }
    int different = 0;
    for (int i = 1; i < 8; i++)
        different += misses[i] != misses[0];
    assert_true(different > 0);
    lab_close(machine);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void test_frames_are_distinct_and_scattered(void **state)
{
    (void)state;
    enum { PAGES = 4096, COLOURS = 64, DRAWS = 40 };
    struct fm_description description = some_machine();
    struct fm_hierarchy hierarchy;
    struct fm_placement placement;
    struct fm_error err;
    description.page_mapping = FM_MAPPING_RANDOM;
    assert_true(fm_hierarchy_open(&hierarchy, &description, 1, &err));
    fm_placement_open(&placement, &description, &hierarchy, 1);
    double variance = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        unsigned pages[COLOURS] = {0};
        assert_true(fm_placement_draw(&placement, (uint64_t)PAGES * PAGE, 12, &err));
        for (int i = 0; i < PAGES; i++)
            pages[placement.frames[i] % COLOURS]++;
        for (int i = 0; i < COLOURS; i++)
            variance += pow((double)pages[i] - PAGES / COLOURS, 2) / (COLOURS - 1) / DRAWS;
        qsort(placement.frames, PAGES, sizeof *placement.frames, by_number);
        for (int i = 1; i < PAGES; i++)
            assert_true(placement.frames[i - 1] < placement.frames[i]);
        assert_true((uint64_t)placement.frames[PAGES - 1] << 12 < (uint64_t)1
                                                                      << placement.space_shift);
    }
    /* Binomial: 4096 x 1/64 x 63/64 = 63; the mean of 40 estimates varies by 1.8. */
    assert_true(variance > 54 && variance < 72);
    fm_placement_close(&placement);
    fm_hierarchy_close(&hierarchy);
}

static void test_contiguous_placement(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    struct fm_hierarchy hierarchy;
    struct fm_placement placement;
    struct fm_error err;
    description.caches[1] = lab_cache(2, (uint64_t)64 * 5 * 77, 64, 5); /* 77 sets */
    assert_true(fm_hierarchy_open(&hierarchy, &description, 1, &err));
    fm_placement_open(&placement, &description, &hierarchy, 1);
    uint64_t before = UINT64_MAX;
    for (int draw = 0; draw < 50; draw++) {
        assert_true(fm_placement_draw(&placement, 20 * PAGE, 12, &err));
        const uint64_t base = (uint64_t)placement.frames[0] << 12;
        for (uint32_t i = 0; i < 20; i++)
            assert_int_equal(placement.frames[i], placement.frames[0] + i);
        assert_int_equal(base / 64 % 77, 0);
        assert_true(base != before);
        before = base;
    }
    fm_placement_close(&placement);
    fm_hierarchy_close(&hierarchy);
}

static void test_a_large_arena_moves_right_away(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    struct fm_hierarchy hierarchy;
    struct fm_placement placement;
    struct fm_error err;
    description.page_size = 1 << 20;
    description.caches[0] = lab_cache(1, 64, 8, 1); /* short lines make a small memory */
    description.cache_count = 1;
    assert_true(fm_hierarchy_open(&hierarchy, &description, 1, &err));
    fm_placement_open(&placement, &description, &hierarchy, 1);
    const uint64_t bytes = fm_placement_limit(&placement), pages = bytes >> 20;
    uint64_t before = UINT32_MAX;
    for (int draw = 0; draw < 50; draw++) {
        assert_true(fm_placement_draw(&placement, bytes, 20, &err));
        const uint64_t first = placement.frames[0];
        assert_true(first + pages <= before || before + pages <= first);
        before = first;
    }
    fm_placement_close(&placement);
    fm_hierarchy_close(&hierarchy);
}

static void test_the_seed_decides_everything(void **state)
{
    (void)state;
    enum { LINES = 2048, RUNS = 20 };
    static uint32_t words[LINES];
    struct fm_description description = some_machine();
    struct fm_sample samples[3][RUNS];
    struct fm_error err;
    fill_lines(words, LINES);
    description.page_mapping = FM_MAPPING_RANDOM;
    description.caches[1].replacement = FM_REPLACE_RANDOM;
    description.noise = (struct fm_noise_description){.jitter = 0.05,
                                                      .spike_probability = 0.2,
                                                      .spike_cycles = 1e6,
                                                      .pollution = 0.001,
                                                      .timer_ns = 10};
    memset(samples, 0, sizeof samples);
    for (int i = 0; i < 3; i++) {
        struct fm_machine *machine = fm_simulated_open(&description, i < 2 ? 5 : 6, &err);
        fm_simulated_count(machine, true);
        for (int run = 0; run < RUNS; run++) {
            assert_true(machine->ops->place(machine, LINES * 64, 0, &err));
            samples[i][run] = lab_run(machine, FM_OP_LOAD, words, LINES, 3 * LINES);
        }
        lab_close(machine);
    }
    assert_memory_equal(samples[0], samples[1], sizeof samples[0]);
    assert_true(memcmp(samples[0], samples[2], sizeof samples[0]) != 0);
}

static void test_jitter_and_spikes_only_add(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    struct fm_description description = some_machine();
    description.noise.jitter = 0.1;
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t word = 0;
    double sum = 0, squares = 0;
    lab_run(machine, FM_OP_LOAD, &word, 1, 1);
    for (int i = 0; i < RUNS; i++) {
        const double added = lab_run(machine, FM_OP_LOAD, &word, 1, 1000).ns / 4000 - 1;
        assert_true(added >= 0);
        sum += added;
        squares += added * added;
    }
    const double mean = sum / RUNS;
    assert_true(fabs(mean - 0.1) < 0.008);
    assert_true(fabs(sqrt(squares / RUNS - mean * mean) - 0.1) < 0.012);
    lab_close(machine);

    description.noise =
        (struct fm_noise_description){.spike_probability = 0.25, .spike_cycles = 500};
    machine = lab_open(&description, PAGE);
    lab_run(machine, FM_OP_LOAD, &word, 1, 1);
    int spikes = 0;
    for (int i = 0; i < RUNS; i++) {
        const double ns = lab_run(machine, FM_OP_LOAD, &word, 1, 1).ns;
        assert_true(ns == 4 || ns == 504);
        spikes += ns > 4;
    }
    assert_in_range(spikes, 850, 1150);
    lab_close(machine);
}

static void test_a_coarse_clock(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    description.noise.timer_ns = 10;
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t word = 0;
    double sum = 0;
    lab_run(machine, FM_OP_LOAD, &word, 1, 1);
    for (int i = 0; i < 1000; i++) {
        const double ns = lab_run(machine, FM_OP_LOAD, &word, 1, 1).ns; /* 4, really */
        assert_true(ns == 0 || ns == 10);
        sum += ns;
    }
    assert_true(fabs(sum - 4000) <= 10); /* nothing is lost between the readings */
    lab_close(machine);
}

/* Four pages in four entries by LRU: without the clock's they stay, with one of them each lap finds
   its next page just gone. */
static void test_a_clock_with_pages(void **state)
{
    (void)state;
    struct fm_description description = some_machine();
    uint32_t words[] = {0, PAGE / FM_WORD, 2 * PAGE / FM_WORD, 3 * PAGE / FM_WORD};
    description.tlbs[0] = lab_tlb(1, 4, 4, PAGE);
    description.tlb_count = 1;
    for (uint32_t pages = 0; pages < 2; pages++) {
        description.noise.timer_pages = pages;
        struct fm_machine *machine = lab_open(&description, 4 * PAGE);
        lab_run(machine, FM_OP_LOAD, words, 4, 4);
        const struct fm_counts counts = lab_run(machine, FM_OP_LOAD, words, 4, 4).counts;
        assert_int_equal(counts.tlb_miss[0], pages ? 4 : 0);
        lab_close(machine);
    }
}

static void test_pollution(void **state)
{
    (void)state;
    enum { LINES = 64 };
    static uint32_t words[LINES];
    struct fm_description description = some_machine();
    description.noise.pollution = 0.01;
    struct fm_machine *machine = lab_open(&description, LINES * 64);
    fill_lines(words, LINES);
    lab_run(machine, FM_OP_LOAD, words, LINES, LINES);
    const uint64_t references = 200000;
    const struct fm_counts counts = lab_run(machine, FM_OP_LOAD, words, LINES, references).counts;
    /* Level 1 is full of what is walked: each loss is a miss, 2000 with a deviation of 45. */
    assert_in_range(counts.cache_miss[0], 1800, 2200);
    /* Of level 2 a 64th is in use: 31 losses there, each found out when level 1 loses the line. */
    assert_in_range(counts.cache_miss[1], 5, 60);
    lab_close(machine);
}

static bool runs(struct fm_machine *machine, struct fm_string string, struct fm_error *err)
{
    struct fm_sample sample;
    return machine->ops->run(machine, &string, 1, &sample, err);
}

static void test_refuses_strings_that_do_not_fit(void **state)
{
    (void)state;
    const struct fm_description description = some_machine();
    struct fm_error err;
    uint32_t words[] = {0, 511, 512};
    const struct fm_string good = {
        .label = "good",
        .bytes = PAGE,
        .orders = {{words, 2}},
        .order_count = 1,
        .phases = {{.references = 5, .metered = true}},
        .phase_count = 1,
    };
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    assert_false(runs(machine, good, &err)); /* no arena yet */
    assert_true(machine->ops->place(machine, PAGE, 0, &err));
    assert_true(runs(machine, good, &err));

    struct fm_string bad = good;
    bad.bytes = PAGE + 1;
    assert_false(runs(machine, bad, &err));
    bad = good;
    bad.orders[0].count = 3; /* a word beyond the span */
    assert_false(runs(machine, bad, &err));
    bad.phases[0].references = 2; /* which this does not come to */
    assert_true(runs(machine, bad, &err));
    bad = good;
    bad.phases[0].window = 3;
    assert_false(runs(machine, bad, &err));
    bad = good;
    bad.phases[0].order = 1;
    assert_false(runs(machine, bad, &err));
    bad = good;
    bad.phases[0].metered = false;
    assert_false(runs(machine, bad, &err));
    bad = good;
    bad.phases[1] = bad.phases[0];
    bad.phase_count = 2;
    assert_false(runs(machine, bad, &err));
    bad.phase_count = 0;
    assert_false(runs(machine, bad, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);

    assert_false(machine->ops->place(machine, 0, 0, &err));
    assert_false(machine->ops->place(machine, machine->info.memory_limit + 1, 0, &err));
    assert_int_equal(err.code, FM_ERR_NO_MEMORY);
    assert_true(runs(machine, good, &err));
    lab_close(machine);
}

static void refuse(const struct fm_description *description)
{
    struct fm_error err = {0};
    assert_null(fm_simulated_open(description, 1, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_true(strlen(err.text) > 0);
}

static void test_refuses_impossible_machines(void **state)
{
    (void)state;
    struct fm_description bad = some_machine();
    bad.cache_count = 0;
    refuse(&bad);
    bad = some_machine();
    bad.caches[0].holds = FM_HOLDS_INSTRUCTIONS;
    refuse(&bad);
    bad = some_machine();
    bad.caches[1].level = 1;
    refuse(&bad);
    bad = some_machine();
    bad.caches[1].line = 32;
    refuse(&bad);
    bad = some_machine();
    bad.caches[0].line = 48;
    refuse(&bad);
    bad = some_machine();
    bad.caches[0].ways = 0;
    refuse(&bad);
    bad = some_machine();
    bad.caches[0].capacity += 64;
    refuse(&bad);
    bad = some_machine();
    bad.caches[0] = lab_cache(1, 3 * 64, 64, 3);
    bad.caches[0].replacement = FM_REPLACE_TREE_PLRU;
    refuse(&bad);
    bad = some_machine();
    bad.page_size = 5000;
    refuse(&bad);
    bad = some_machine();
    bad.clock_mhz = 0;
    refuse(&bad);
    bad = some_machine();
    bad.tlbs[0] = lab_tlb(1, 7, 2, PAGE);
    bad.tlb_count = 1;
    refuse(&bad);
    bad.tlbs[0] = lab_tlb(FM_TLB_LEVELS + 1, 8, 2, PAGE);
    refuse(&bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_introduces_itself),
        cmocka_unit_test(test_counts_only_when_asked),
        cmocka_unit_test(test_phases_and_repeats),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_random_placement),
        cmocka_unit_test(test_frames_are_distinct_and_scattered),
        cmocka_unit_test(test_contiguous_placement),
        cmocka_unit_test(test_a_large_arena_moves_right_away),
        cmocka_unit_test(test_the_seed_decides_everything),
        cmocka_unit_test(test_jitter_and_spikes_only_add),
        cmocka_unit_test(test_a_coarse_clock),
        cmocka_unit_test(test_a_clock_with_pages),
        cmocka_unit_test(test_pollution),
        cmocka_unit_test(test_refuses_strings_that_do_not_fit),
        cmocka_unit_test(test_refuses_impossible_machines),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
