/* The survey as a whole: its budget, its progress, its seed, and the methods it can be held to. */
#include <stdio.h>
#include <stdlib.h>

#include "format/json_result.h"
#include "survey_lab.h"

static struct fm_description small_machine(void)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 4096, 64, 2), lab_cache(2, 65536, 64, 8));
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.noise = (struct fm_noise_description){.jitter = 0.01, .timer_ns = 4};
    return machine;
}

/* Every finding is measured, or says that time ran out. */
static size_t count_unreached(const struct fm_result *result, const char *reason)
{
    size_t unreached = 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct fm_finding *finding = &result->findings[i];
        if (finding->status != FM_UNDETERMINED || !strstr(finding->note, reason))
            continue;
        assert_int_equal(finding->value.kind, FM_VALUE_NONE);
        assert_true(finding->confidence == 0);
        unreached++;
    }
    return unreached;
}

static size_t count_measured(const struct fm_result *result)
{
    size_t measured = 0;
    for (size_t i = 0; i < result->finding_count; i++)
        measured += result->findings[i].status == FM_MEASURED;
    return measured;
}

/* What a survey of the small machine takes that nothing limits. */
static double whole_s;

static void is_complete_without_a_budget(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    assert_true(result.complete);
    assert_int_equal(count_unreached(&result, "out of time"), 0);
    whole_s = result.elapsed_s;
    fm_result_free(&result);
}

static void runs_out_of_time(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    size_t before = 0;
    for (int tenths = 0; tenths <= 4; tenths += 2) {
        options.budget_s = whole_s * tenths / 10 + 1e-6;
        lab_survey(&machine, &options, &result);
        assert_false(result.complete);
        /* The machine's own time is what counts; one string may run over. */
        assert_true(result.elapsed_s < options.budget_s + 0.1 * whole_s);
        const size_t measured = count_measured(&result);
        assert_true(count_unreached(&result, "out of time") > 0 && measured >= before);
        before = measured;
        fm_result_free(&result);
    }
}

static void keeps_within_a_budget_that_suffices(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.budget_s = 1000;
    lab_survey(&machine, &options, &result);
    assert_true(result.complete);
    fm_result_free(&result);
}

static bool is_measured(const struct fm_result *result, const char *property)
{
    const struct fm_finding *finding = fm_result_find(result, property);
    return finding && finding->status == FM_MEASURED;
}

/* Nobody set a budget, but the survey is to take no longer than so: what others rest on is measured
   all the same, and who would take the time of all others says what to do about it. */
static void keeps_its_pace(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.pace_s = 10 * whole_s;
    lab_survey(&machine, &options, &result);
    assert_int_equal(count_unreached(&result, "out of time"), 0);
    fm_result_free(&result);
    options.pace_s = whole_s / 4;
    lab_survey(&machine, &options, &result);
    assert_true(result.complete);
    assert_true(result.elapsed_s < 0.8 * whole_s);
    assert_true(count_unreached(&result, "or a longer --budget") > 0);
    assert_true(is_measured(&result, "l1d.capacity") && is_measured(&result, "l1d.line"));
    assert_true(is_measured(&result, "l2.capacity") && is_measured(&result, "l2.line"));
    assert_true(is_measured(&result, "memory.latency"));
    /* What time did not suffice for is told of outer levels too. */
    static const char *const outer[] = {"l2.ways", "l2.physical_capacity", "l2.inclusion",
                                        "l2.replacement", "l2.write_policy"};
    for (size_t i = 0; i < sizeof outer / sizeof outer[0]; i++)
        assert_non_null(fm_result_find(&result, outer[i]));
    fm_result_free(&result);
}

/* A probe that takes long leaves the others their share: under the same budget something of each
   side of the machine is known. */
static void shares_a_budget(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.budget_s = 0.8 * whole_s;
    lab_survey(&machine, &options, &result);
    assert_true(is_measured(&result, "l1d.write_allocate"));
    fm_result_free(&result);
}

struct watcher {
    unsigned calls, stop_at; /* 0: never */
    double fraction;
};

static bool watch(void *data, const char *what, double fraction, double seconds_left)
{
    struct watcher *watcher = data;
    (void)seconds_left;
    assert_non_null(what);
    assert_true(fraction >= 0 && fraction <= 1);
    watcher->fraction = fmax(watcher->fraction, fraction);
    return ++watcher->calls == watcher->stop_at;
}

/* A machine that now and then has no memory to give. */
static const struct fm_machine_ops *generous;
static unsigned places;

static bool refuse_some(struct fm_machine *machine, size_t bytes, size_t page_size,
                        struct fm_error *err)
{
    if (++places > 40 && places % 7 == 0)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory today");
    return generous->place(machine, bytes, page_size, err);
}

static void goes_on_where_memory_is_refused(void **state)
{
    (void)state;
    const struct fm_description machine =
        lab_small(lab_cache(1, 4096, 64, 4), lab_cache(2, 32768, 64, 8));
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    struct fm_error err = {0};
    struct fm_machine *simulated = fm_simulated_open(&machine, 1, &err);
    assert_non_null(simulated);
    generous = simulated->ops;
    struct fm_machine_ops stingy = *generous;
    stingy.place = refuse_some;
    simulated->ops = &stingy;
    places = 0;
    fm_result_init(&result);
    assert_true(fm_survey(simulated, NULL, &options, &result, &err));
    assert_true(count_measured(&result) > 0);
    lab_expect_reasons(&result);
    simulated->ops = generous;
    simulated->ops->close(simulated);
    fm_result_free(&result);
}

static void stops_when_asked(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct watcher watcher = {0};
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.progress = watch;
    options.progress_data = &watcher;
    lab_survey(&machine, &options, &result);
    assert_true(result.complete);
    assert_true(watcher.calls > 50 && watcher.fraction > 0.7);
    fm_result_free(&result);

    const unsigned all = watcher.calls;
    const unsigned parts = 5;
    for (unsigned part = 0; part < parts; part++) {
        watcher = (struct watcher){.stop_at = 1 + all * part / parts};
        lab_survey(&machine, &options, &result);
        assert_false(result.complete);
        assert_int_equal(watcher.calls, watcher.stop_at);
        assert_true(count_unreached(&result, "interrupted") > 0);
        fm_result_free(&result);
    }
}

static char *survey_text(const struct fm_description *machine, uint64_t seed)
{
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.seed = seed;
    lab_survey(machine, &options, &result);
    char *text = fm_result_to_json(&result, "test");
    fm_result_free(&result);
    assert_non_null(text);
    return text;
}

static void repeats_itself_with_the_same_seed(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    char *first = survey_text(&machine, 7), *again = survey_text(&machine, 7);
    char *other = survey_text(&machine, 8);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    free(first);
    free(again);
    free(other);
}

static void runs_what_is_asked_for(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.only = "cycle";
    lab_survey(&machine, &options, &result);
    assert_non_null(fm_result_find(&result, "cpu.cycle_time"));
    assert_null(fm_result_find(&result, "l1d.line"));
    fm_result_free(&result);
    /* What a probe needs runs too. */
    options.only = "gap";
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "l1d.ways", 2, 0);
    assert_non_null(fm_result_find(&result, "l1d.line"));
    fm_result_free(&result);
}

static void keeps_to_the_published_method(void **state)
{
    (void)state;
    const struct fm_description machine = small_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    options.method = FM_METHOD_COOPER_SANDOVAL;
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "l1d.capacity", 4096, 0);
    lab_expect(&result, "l1d.ways", 2, 0);
    lab_expect(&result, "l1d.line", 64, 0);
    lab_expect(&result, "l1d.latency_cycles", 4, 0.5);
    lab_expect(&result, "l2.line", 64, 0);
    /* Effective: as much as lucky pages leave of it, and never more than there is. */
    const double capacity = lab_number(&result, "l2.capacity");
    assert_true(capacity >= 32768 && capacity <= 65536);
    lab_expect(&result, "memory.latency_cycles", 200, 4);
    for (size_t i = 0; i < result.finding_count; i++)
        if (result.findings[i].property[0] != 'c')
            assert_string_equal(result.findings[i].method, "cooper-sandoval");
    fm_result_free(&result);
    /* Its probe can be named without the method, but the default ones not under it. */
    options.method = FM_METHOD_DEFAULT;
    options.only = "cooper-sandoval";
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "l1d.capacity", 4096, 0);
    fm_result_free(&result);
    options.method = FM_METHOD_COOPER_SANDOVAL;
    options.only = "levels";
    struct fm_error err = {0};
    struct fm_machine *simulated = fm_simulated_open(&machine, 1, &err);
    assert_non_null(simulated);
    fm_result_init(&result);
    assert_false(fm_survey(simulated, NULL, &options, &result, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_non_null(strstr(err.text, "levels"));
    assert_non_null(strstr(err.text, "cooper-sandoval"));
    fm_result_free(&result);
    simulated->ops->close(simulated);
}

/* Every run is said to be disturbed. */
static const struct fm_machine_ops *calm_ops;

static bool run_disturbed(struct fm_machine *machine, const struct fm_string *string,
                          unsigned repeats, struct fm_sample *samples, struct fm_error *err)
{
    const bool good = calm_ops->run(machine, string, repeats, samples, err);
    for (unsigned i = 0; i < repeats && good; i++)
        samples[i].disturbed = true;
    return good;
}

/* What is found by asking many times over stands; an edge that was only seen through what others
   did to it does not. */
static void does_not_believe_disturbed_edges(void **state)
{
    (void)state;
    const struct fm_description description = small_machine();
    const struct fm_survey_options options = lab_options();
    struct fm_error err = {0};
    struct fm_result result;
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    assert_non_null(machine);
    calm_ops = machine->ops;
    struct fm_machine_ops ops = *calm_ops;
    ops.run = run_disturbed;
    machine->ops = &ops;
    fm_result_init(&result);
    assert_true(fm_survey(machine, NULL, &options, &result, &err));
    lab_expect(&result, "l1d.capacity", 4096, 0);
    const struct fm_finding *outer = lab_finding(&result, "l2.capacity");
    assert_int_equal(outer->status, FM_UNDETERMINED);
    assert_non_null(strstr(outer->note, "disturbed"));
    assert_true(lab_has_warning(&result, "interference"));
    fm_result_free(&result);
    machine->ops = calm_ops;
    machine->ops->close(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_complete_without_a_budget),
        cmocka_unit_test(runs_out_of_time),
        cmocka_unit_test(keeps_within_a_budget_that_suffices),
        cmocka_unit_test(keeps_its_pace),
        cmocka_unit_test(shares_a_budget),
        cmocka_unit_test(goes_on_where_memory_is_refused),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(repeats_itself_with_the_same_seed),
        cmocka_unit_test(runs_what_is_asked_for),
        cmocka_unit_test(keeps_to_the_published_method),
        cmocka_unit_test(does_not_believe_disturbed_edges),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
