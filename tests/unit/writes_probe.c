/* What stores do and what levels hold of each other on small machines with noise and scattered
   pages, as surveys find it. */
#include "survey_lab.h"

struct kind {
    bool allocate, through;
    uint32_t streaming;
    enum fm_inclusion inclusion;
};

static struct fm_description machine_of(const struct kind *kind)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 8192, 64, 4), lab_cache(2, 128 << 10, 64, 8));
    machine.caches[0].write_allocate = kind->allocate;
    machine.caches[0].write_policy = kind->through ? FM_WRITE_THROUGH : FM_WRITE_BACK;
    machine.caches[0].streaming_stores = kind->streaming;
    machine.caches[1].inclusion = kind->inclusion;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void expect(const struct fm_result *result, const char *property, struct fm_value truth)
{
    const struct fm_finding *finding = lab_finding(result, property);
    if (finding->status != FM_MEASURED)
        fail_msg("%s is not measured: %s", property, finding->note);
    if (!fm_value_equal(&finding->value, &truth))
        fail_msg("%s is %d '%s'", property, finding->value.truth, finding->value.text);
}

/* By the clock, or by counts, which need no noise to be kept out. */
static void survey_stores(bool counters)
{
    static const struct kind kinds[] = {
        {true, false, 3, FM_INCLUSION_NONE},
        {false, true, 0, FM_INCLUSION_INCLUSIVE},
        {true, true, 0, FM_INCLUSION_EXCLUSIVE},
    };
    static const char *const inclusions[] = {"none", "inclusive", "exclusive"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct fm_description machine = machine_of(&kinds[i]);
        struct fm_survey_options options = lab_options();
        struct fm_result result;
        options.only = counters ? "misses,streaming" : "streaming";
        lab_survey_by(&machine, counters, &options, &result);
        expect(&result, "l1d.write_allocate", fm_bool(kinds[i].allocate));
        expect(&result, "l1d.write_policy", fm_text(kinds[i].through ? "through" : "back"));
        const struct fm_finding *streaming = lab_finding(&result, "l1d.streaming_stores");
        if (kinds[i].streaming)
            lab_expect(&result, "l1d.streaming_stores", kinds[i].streaming, 0);
        else
            assert_int_equal(streaming->status, kinds[i].allocate ? FM_ABSENT : FM_UNSUPPORTED);
        expect(&result, "l2.inclusion", fm_text(inclusions[kinds[i].inclusion]));
        assert_string_equal(lab_finding(&result, "l2.inclusion")->witnesses[0],
                            counters ? "sim" : "clock");
        fm_result_free(&result);
    }
}

static void test_stores_and_inclusion(void **state)
{
    (void)state;
    survey_stores(false);
}

static void test_stores_and_inclusion_by_counts(void **state)
{
    (void)state;
    survey_stores(true);
}

/* FIFO does not look at what is in use: nothing can be kept hot in it. */
static void test_a_level_that_keeps_nothing_in_use(void **state)
{
    (void)state;
    const struct kind kind = {true, false, 0, FM_INCLUSION_INCLUSIVE};
    struct fm_description machine = machine_of(&kind);
    machine.caches[0].replacement = FM_REPLACE_FIFO;
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "inclusion";
    lab_survey(&machine, &options, &result);
    assert_int_equal(lab_finding(&result, "l2.inclusion")->status, FM_UNDETERMINED);
    fm_result_free(&result);
}

/* … but what fills the level behind it can be asked. */
static void test_what_fills_a_level(void **state)
{
    (void)state;
    const struct kind kind = {true, false, 0, FM_INCLUSION_EXCLUSIVE};
    struct fm_description machine = machine_of(&kind);
    machine.caches[0].replacement = FM_REPLACE_FIFO;
    machine.caches[0].capacity = 16384;
    machine.caches[1].ways = 4;
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "inclusion";
    lab_survey(&machine, &options, &result);
    expect(&result, "l2.inclusion", fm_text("exclusive"));
    fm_result_free(&result);
}

/* A TLB that does not look at use loses the pages of lines in use: no level need have lost the
   lines. */
static void test_lines_whose_pages_are_lost(void **state)
{
    (void)state;
    const struct kind kind = {true, false, 0, FM_INCLUSION_NONE};
    struct fm_description machine = machine_of(&kind);
    machine.tlbs[0].replacement = FM_REPLACE_FIFO;
    machine.tlbs[0].entries = machine.tlbs[0].ways = 32;
    machine.caches[0].capacity = 32768;
    machine.caches[1].capacity = 512 << 10;
    machine.walk_latency = 120;
    machine.noise = (struct fm_noise_description){0};
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "inclusion";
    lab_survey(&machine, &options, &result);
    expect(&result, "l2.inclusion", fm_text("none"));
    fm_result_free(&result);
}

/* Prefetchers bring in what stores go past, but not the first line of a page. */
static void test_streaming_beside_prefetchers(void **state)
{
    (void)state;
    static const uint32_t lines[] = {5, 0};
    for (size_t i = 0; i < 2; i++) {
        const struct kind kind = {true, false, lines[i], FM_INCLUSION_NONE};
        struct fm_description machine = machine_of(&kind);
        machine.prefetch = FM_PREFETCH_STRIDE | FM_PREFETCH_NEXT_LINE;
        /* Few runs end at a page, and the clock steps by more than these take. */
        machine.noise.timer_ns = 20;
        machine.clock_mhz = 4000;
        struct fm_survey_options options = lab_options();
        struct fm_result result;
        options.only = "streaming";
        lab_survey(&machine, &options, &result);
        if (lines[i])
            lab_expect(&result, "l1d.streaming_stores", lines[i], 0);
        else
            assert_int_equal(lab_finding(&result, "l1d.streaming_stores")->status, FM_ABSENT);
        fm_result_free(&result);
    }
}

/* Where dirty lines leave a level at no cost, stores that end beyond it tell. */
static void test_policy_by_stores_that_go_past(void **state)
{
    (void)state;
    const struct kind kind = {false, false, 0, FM_INCLUSION_EXCLUSIVE};
    struct fm_description machine = machine_of(&kind);
    machine.caches[0].replacement = FM_REPLACE_FIFO;
    /* So many ways that a few lines more make no difference to it. */
    machine.caches[1].ways = 32;
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "writes";
    lab_survey(&machine, &options, &result);
    assert_int_equal(lab_finding(&result, "l2.inclusion")->status, FM_UNDETERMINED);
    expect(&result, "l1d.write_policy", fm_text("back"));
    fm_result_free(&result);
}

static void test_policies_of_outer_levels(void **state)
{
    (void)state;
    for (int through = 0; through < 2; through++) {
        const struct kind kind = {true, false, 0, FM_INCLUSION_NONE};
        struct fm_description machine = machine_of(&kind);
        machine.caches[1].write_policy = through ? FM_WRITE_THROUGH : FM_WRITE_BACK;
        struct fm_survey_options options = lab_options();
        struct fm_result result;
        options.only = "write-backs";
        lab_survey(&machine, &options, &result);
        expect(&result, "l2.write_policy", fm_text(through ? "through" : "back"));
        fm_result_free(&result);
    }
}

/* What leaves a level moves into an exclusive one behind it, written or not. */
static void test_a_policy_that_does_not_show(void **state)
{
    (void)state;
    const struct kind kind = {true, false, 0, FM_INCLUSION_NONE};
    struct fm_description machine = machine_of(&kind);
    machine.caches[machine.cache_count++] = lab_cache(3, 1 << 20, 64, 8);
    machine.caches[2].inclusion = FM_INCLUSION_EXCLUSIVE;
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "write-backs";
    lab_survey(&machine, &options, &result);
    assert_int_equal(lab_finding(&result, "l2.write_policy")->status, FM_UNDETERMINED);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores_and_inclusion),
        cmocka_unit_test(test_stores_and_inclusion_by_counts),
        cmocka_unit_test(test_streaming_beside_prefetchers),
        cmocka_unit_test(test_policy_by_stores_that_go_past),
        cmocka_unit_test(test_policies_of_outer_levels),
        cmocka_unit_test(test_a_policy_that_does_not_show),
        cmocka_unit_test(test_a_level_that_keeps_nothing_in_use),
        cmocka_unit_test(test_what_fills_a_level),
        cmocka_unit_test(test_lines_whose_pages_are_lost),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
