/* Sectors and prefetchers of small machines with noise and scattered pages, as surveys find them.
 */
#include "probe/trial.h"
#include "survey_lab.h"

static struct fm_description machine_with(unsigned prefetch, uint32_t line, uint32_t inner,
                                          uint32_t outer)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, line, 4), lab_cache(2, 128 << 10, 64, 8));
    machine.caches[0].sector = inner;
    machine.caches[1].sector = outer;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.prefetch = prefetch;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void survey_fetches(const struct fm_description *machine, struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "prefetch";
    lab_survey(machine, &options, result);
}

static void expect_truth(const struct fm_result *result, const char *property, bool truth)
{
    const struct fm_finding *finding = lab_finding(result, property);
    if (finding->status != FM_MEASURED || finding->value.kind != FM_VALUE_BOOL)
        fail_msg("%s is not decided: %s", property, finding->note);
    if (finding->value.truth != truth)
        fail_msg("%s is %s", property, truth ? "false" : "true");
}

static void test_sectors(void **state)
{
    (void)state;
    static const uint32_t sectors[][2] = {{16, 256}};
    for (size_t i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        const uint32_t inner = sectors[i][0], outer = sectors[i][1];
        const struct fm_description machine = machine_with(0, 32, inner, outer);
        struct fm_result result;
        survey_fetches(&machine, &result);
        lab_expect(&result, "l1d.sector", inner ? inner : 32, 0);
        lab_expect(&result, "l2.sector", outer ? outer : 64, 0);
        fm_result_free(&result);
    }
}

static void test_prefetchers(void **state)
{
    (void)state;
    static const unsigned kinds[] = {FM_PREFETCH_NEXT_LINE, FM_PREFETCH_ADJACENT_LINE,
                                     FM_PREFETCH_STRIDE | FM_PREFETCH_REGION};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct fm_description machine = machine_with(kinds[i], 64, 0, 0);
        struct fm_result result;
        survey_fetches(&machine, &result);
        expect_truth(&result, "prefetch.next_line", kinds[i] & FM_PREFETCH_NEXT_LINE);
        /* With the next line always there, the line may look like two. */
        if (!(kinds[i] & FM_PREFETCH_NEXT_LINE))
            expect_truth(&result, "prefetch.adjacent_line", kinds[i] & FM_PREFETCH_ADJACENT_LINE);
        expect_truth(&result, "prefetch.stride", kinds[i] & FM_PREFETCH_STRIDE);
        expect_truth(&result, "prefetch.region", kinds[i] & FM_PREFETCH_REGION);
        if (kinds[i] & FM_PREFETCH_STRIDE) {
            lab_expect(&result, "prefetch.stride_ahead", 2, 0);
            expect_truth(&result, "prefetch.crosses_page", false);
        }
        fm_result_free(&result);
    }
}

/* A line twice as long as that inside is one, unless it is a pair. */
static void test_longer_lines_are_no_pairs(void **state)
{
    (void)state;
    static const unsigned kinds[] = {0, FM_PREFETCH_NEXT_LINE, FM_PREFETCH_ADJACENT_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct fm_description machine = machine_with(kinds[i], 32, 0, 0);
        struct fm_result result;
        survey_fetches(&machine, &result);
        expect_truth(&result, "prefetch.adjacent_line", kinds[i] == FM_PREFETCH_ADJACENT_LINE);
        fm_result_free(&result);
    }
}

/* Alone, it brings both lines of a pair in at once: only a flush tells that they are two. */
static void test_pairs_of_a_level_alone(void **state)
{
    (void)state;
    static const unsigned kinds[] = {0, FM_PREFETCH_ADJACENT_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct fm_description machine = machine_with(kinds[i], 64, 0, 0);
        struct fm_result result;
        machine.cache_count = 1;
        survey_fetches(&machine, &result);
        lab_expect(&result, "l1d.line", 64, 0);
        lab_expect(&result, "l1d.capacity", 8192, 0);
        lab_expect(&result, "l1d.sector", kinds[i] ? 128 : 64, 0);
        expect_truth(&result, "prefetch.adjacent_line", kinds[i]);
        fm_result_free(&result);
    }
}

/* Two lines that the level inside always asks for together look like one of twice their length,
   until one of them is flushed. By the clock, and by counters. */
static void test_pairs_are_no_lines(void **state)
{
    (void)state;
    for (int counters = 0; counters < 2; counters++)
        for (int pairs = 0; pairs < 2; pairs++) {
            struct fm_description machine =
                lab_small(lab_cache(1, 4096, 64, 4), lab_cache(2, 32 << 10, 64, 8));
            machine.caches[machine.cache_count++] = lab_cache(3, 512 << 10, pairs ? 64 : 128, 8);
            machine.caches[2].latency = 40;
            machine.caches[1].sector = machine.caches[2].sector = pairs ? 128 : 0;
            struct fm_survey_options options = lab_options();
            struct fm_result result;
            options.only = counters ? "levels,counters" : "levels";
            lab_survey_by(&machine, counters, &options, &result);
            lab_expect(&result, "l3.line", pairs ? 64 : 128, 0);
            assert_string_equal(lab_finding(&result, "l3.line")->witnesses[1],
                                counters ? "sim" : "");
            fm_result_free(&result);
        }
}

/* What came along in some rounds and not in others may be any level's from the least of them to the
   most, wherever the average lies; what a coarse clock or translation makes of it is one's. */
static void test_what_comes_now_and_then_is_no_level(void **state)
{
    (void)state;
    struct fm_lab lab = {.known = {.count = 4}};
    static const double heights[] = {1.5, 4.5, 20, 115};
    for (size_t i = 0; i < 4; i++)
        lab.known.levels[i].height_ns = heights[i];
    const struct fm_taken hit = {.ns = 2.5, .error = 0.1};
    struct fm_taken taken = {.ns = 100, .error = 10, .least = 5.5, .most = 117};
    struct fm_served served = fm_trial_served(&lab, taken, hit);
    assert_false(served.clear);
    assert_int_equal(served.low, 1);
    assert_int_equal(served.high, 3);
    /* None of it in the first level, or none beyond the third. */
    taken = (struct fm_taken){.ns = 12, .error = 2, .least = 5.5, .most = 21};
    served = fm_trial_served(&lab, taken, hit);
    assert_int_equal(served.low, 1);
    assert_int_equal(served.high, 2);
    taken = (struct fm_taken){.ns = 100, .error = 1, .least = 95, .most = 120};
    served = fm_trial_served(&lab, taken, hit);
    assert_true(served.clear);
    assert_int_equal(served.level, 3);
    taken = (struct fm_taken){.ns = 115, .error = 9, .grain = 9, .least = 80, .most = 160};
    assert_int_equal(fm_trial_served(&lab, taken, hit).level, 3);
    assert_true(fm_trial_served(&lab, taken, hit).clear);
    const struct fm_taken unsteady = {.ns = 2.5, .error = 3};
    taken = (struct fm_taken){.ns = 115, .error = 9, .least = 80, .most = 160};
    assert_true(fm_trial_served(&lab, taken, unsteady).clear);
}

/* All rounds of one way are disturbed: nothing is known of it. */
static bool time_nothing(struct fm_machine *machine, const struct fm_string *string,
                         unsigned repeats, struct fm_sample *samples, struct fm_error *err)
{
    (void)machine;
    (void)err;
    for (unsigned i = 0; i < repeats; i++)
        samples[i] = (struct fm_sample){.ns = 100, .references = 1, .disturbed = true};
    (void)string;
    return true;
}

static bool build_nothing(const struct fm_trial *trial, unsigned alternative,
                          const struct fm_group *group, struct fm_string *string,
                          struct fm_error *err)
{
    (void)trial;
    (void)alternative;
    if (!fm_string_add_spots(string, group, 0, err))
        return false;
    fm_string_time(string, group->count);
    return true;
}

static void test_what_was_always_disturbed_is_no_level(void **state)
{
    (void)state;
    struct fm_error err = {0};
    const struct fm_description any = machine_with(0, 64, 0, 0);
    struct fm_machine *machine = fm_simulated_open(&any, 1, &err);
    assert_non_null(machine);
    struct fm_machine_ops ops = *machine->ops;
    const struct fm_machine_ops *own = machine->ops;
    ops.run = time_nothing;
    machine->ops = &ops;
    struct fm_survey_options options = lab_options();
    struct fm_lab lab = {.machine = machine, .options = &options, .known = {.count = 3}};
    for (size_t i = 0; i < 3; i++)
        lab.known.levels[i].height_ns = 1 + 9 * (double)i;
    struct fm_trial trial = {
        .name = "nothing", .build = build_nothing, .alternatives = 2, .group = {.unit = 64}};
    struct fm_taken taken[2];
    trial.group.span = trial.group.unit;
    fm_trial_plan(&lab, &trial);
    assert_true(fm_trial_run(&lab, &trial, taken, &err));
    assert_false(fm_trial_served(&lab, taken[1], taken[0]).clear);
    const struct fm_taken hit = {.ns = 1.5, .error = 0.1};
    assert_false(fm_trial_served(&lab, taken[1], hit).clear);
    machine->ops = own;
    machine->ops->close(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_prefetchers),
        cmocka_unit_test(test_longer_lines_are_no_pairs),
        cmocka_unit_test(test_pairs_are_no_lines),
        cmocka_unit_test(test_pairs_of_a_level_alone),
        cmocka_unit_test(test_what_comes_now_and_then_is_no_level),
        cmocka_unit_test(test_what_was_always_disturbed_is_no_level),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
