/* Counters that lie: what is not believed, what is worked around, and that the truth comes out. */
#include <string.h>

#include "probe/lab.h"
#include "probe/published_counts.h"
#include "survey_lab.h"

/* A machine whose counters are wrong in some way; all else is another's. */
enum lie { MORE_THAN_READS, DOES_NOT_GROW, ADDS_ITS_OWN, NO_LIE };

/* Misses of the meter itself, in every run. */
#define OWN 41

struct liar {
    struct fm_machine machine; /* first: a machine's pointer is ours */
    struct fm_machine *inner;
    enum lie lie;
    bool writes_too;
};

static struct liar *liar_of(struct fm_machine *machine)
{
    return (struct liar *)machine;
}

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct fm_machine *inner = liar_of(machine)->inner;
    return inner->ops->place(inner, bytes, page_size, err);
}

static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    struct fm_machine *inner = liar_of(machine)->inner;
    return inner->ops->run(inner, string, repeats, samples, err);
}

/* The UltraSPARC's erratum: of reads the first level counts more misses than there were reads. */
static bool count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                  struct fm_sample *samples, struct fm_error *err)
{
    const struct liar *liar = liar_of(machine);
    const enum fm_op op = string->phases[string->phase_count - 1].op;
    if (!liar->inner->ops->count(liar->inner, string, repeats, samples, err))
        return false;
    for (unsigned i = 0; i < repeats && liar->lie == ADDS_ITS_OWN; i++)
        for (unsigned bit = 0; bit < FM_EVENTS; bit++)
            fm_event_add(&samples[i].counts, bit, OWN);
    for (unsigned i = 0; i < repeats && (op == FM_OP_LOAD || liar->writes_too); i++) {
        uint64_t *misses = &samples[i].counts.cache_miss[0];
        if (liar->lie == MORE_THAN_READS)
            *misses += 2 * samples[i].references;
        else if (liar->lie == DOES_NOT_GROW)
            *misses = 7;
    }
    return true;
}

static bool chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err)
{
    struct fm_machine *inner = liar_of(machine)->inner;
    return inner->ops->chain(inner, kind, operations, sample, err);
}

static double elapsed(struct fm_machine *machine)
{
    struct fm_machine *inner = liar_of(machine)->inner;
    return inner->ops->elapsed(inner);
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    struct fm_machine *inner = liar_of(machine)->inner;
    inner->ops->observe(inner, environment);
}

static const struct fm_machine_ops ops = {
    .place = place,
    .run = run,
    .count = count,
    .chain = chain,
    .elapsed = elapsed,
    .observe = observe,
};

static void survey_of(enum fm_replacement policy, enum lie lie, bool writes_too,
                      enum fm_method method, struct fm_result *result)
{
    struct fm_description description =
        lab_small(lab_cache(1, 8192, 32, 4), lab_cache(2, 131072, 64, 8));
    description.caches[0].replacement = policy;
    struct fm_survey_options options = lab_options();
    struct fm_error err = {0};
    struct liar liar = {.inner = fm_simulated_open(&description, 1, &err), .lie = lie};
    assert_non_null(liar.inner);
    fm_simulated_count(liar.inner, true);
    liar.machine = (struct fm_machine){.ops = &ops, .info = liar.inner->info};
    liar.writes_too = writes_too;
    options.method = method;
    options.only = method == FM_METHOD_DEFAULT ? "counters" : NULL;
    fm_result_init(result);
    if (!fm_survey(&liar.machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    liar.inner->ops->close(liar.inner);
}

static void survey(enum lie lie, bool writes_too, enum fm_method method, struct fm_result *result)
{
    survey_of(FM_REPLACE_LRU, lie, writes_too, method, result);
}

static void expect_first_level(const struct fm_result *result)
{
    lab_expect(result, "l1d.capacity", 8192, 0);
    lab_expect(result, "l1d.line", 32, 0);
    lab_expect(result, "l1d.ways", 4, 0);
}

/* AMP's way round it. */
static void stores_are_counted_where_loads_are_wrong(void **state)
{
    (void)state;
    const enum lie lies[] = {MORE_THAN_READS, DOES_NOT_GROW};
    const enum fm_method methods[] = {FM_METHOD_DEFAULT, FM_METHOD_AMP};
    for (int i = 0; i < 4; i++) {
        struct fm_result result;
        survey(lies[i % 2], false, methods[i / 2], &result);
        expect_first_level(&result);
        lab_expect(&result, "l2.capacity", 131072, 0);
        assert_true(lab_has_warning(&result, "event-l1d"));
        assert_false(lab_has_warning(&result, "event-l2"));
        fm_result_free(&result);
    }
}

static void an_event_that_is_always_wrong_is_left_out(void **state)
{
    (void)state;
    const enum lie lies[] = {MORE_THAN_READS, DOES_NOT_GROW};
    for (int i = 0; i < 2; i++) {
        struct fm_result result;
        survey(lies[i], true, FM_METHOD_DEFAULT, &result);
        assert_null(fm_result_find(&result, "l1d.capacity"));
        lab_expect(&result, "l2.capacity", 131072, 0);
        assert_true(lab_has_warning(&result, "event-l1d"));
        fm_result_free(&result);
    }
}

/* As in callgrind's model: starting and stopping it misses too. */
static void misses_of_the_meter_are_taken_out(void **state)
{
    (void)state;
    const enum fm_method methods[] = {FM_METHOD_DEFAULT, FM_METHOD_AMP, FM_METHOD_PAPI_CACHE};
    for (int i = 0; i < 3; i++) {
        struct fm_result result;
        survey(ADDS_ITS_OWN, false, methods[i], &result);
        expect_first_level(&result);
        lab_expect(&result, "l2.capacity", 131072, 0);
        lab_expect(&result, "l2.line", 64, 0);
        lab_expect(&result, "l2.ways", 8, 0);
        if (methods[i] == FM_METHOD_AMP)
            assert_true(lab_finding(&result, "l1d.write_allocate")->value.truth);
        if (methods[i] == FM_METHOD_PAPI_CACHE)
            assert_false(lab_finding(&result, "l1d.fp_bypass")->value.truth);
        fm_result_free(&result);
    }
}

/* Laps that differ by the policy hide what the meter adds: it must not be taken for one that adds
   nothing. */
static void misses_of_the_meter_are_not_the_policys(void **state)
{
    (void)state;
    const enum fm_replacement policies[] = {FM_REPLACE_BIT_PLRU, FM_REPLACE_SRRIP, FM_REPLACE_NRU};
    for (int i = 0; i < 3; i++) {
        struct fm_result result;
        survey_of(policies[i], ADDS_ITS_OWN, false, FM_METHOD_DEFAULT, &result);
        expect_first_level(&result);
        lab_expect(&result, "l2.capacity", 131072, 0);
        fm_result_free(&result);
    }
}

static void the_truth_is_believed(void **state)
{
    (void)state;
    struct fm_result result;
    survey(NO_LIE, false, FM_METHOD_DEFAULT, &result);
    expect_first_level(&result);
    assert_int_equal(result.warning_count, 0);
    fm_result_free(&result);
}

/* AMP's test of replacement, of a set whose ways are known. */
static void tells_random_from_some_form_of_lru(void **state)
{
    (void)state;
    const struct fm_counted shape = {.bytes = 8192, .line = 32, .ways = 4};
    struct fm_description description =
        lab_small(lab_cache(1, 8192, 32, 4), lab_cache(2, 131072, 64, 8));
    const struct fm_survey_options options = lab_options();
    for (int by_lot = 0; by_lot < 2; by_lot++) {
        struct fm_error err = {0};
        struct fm_result result;
        static struct fm_lab lab;
        description.caches[0].replacement = by_lot ? FM_REPLACE_RANDOM : FM_REPLACE_LRU;
        lab = (struct fm_lab){.machine = fm_simulated_open(&description, 1, &err),
                              .options = &options,
                              .result = &result};
        fm_simulated_count(lab.machine, true);
        fm_result_init(&result);
        assert_true(fm_amp_replacement(&lab, 0, &shape, &err));
        const struct fm_finding *found = lab_finding(&result, "l1d.replacement");
        assert_int_equal(found->status, by_lot ? FM_MEASURED : FM_UNDETERMINED);
        if (by_lot)
            assert_string_equal(found->value.text, "random");
        else
            assert_string_equal(found->candidates[0].text, "lru");
        fm_result_free(&result);
        lab.machine->ops->close(lab.machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_random_from_some_form_of_lru),
        cmocka_unit_test(stores_are_counted_where_loads_are_wrong),
        cmocka_unit_test(an_event_that_is_always_wrong_is_left_out),
        cmocka_unit_test(misses_of_the_meter_are_taken_out),
        cmocka_unit_test(misses_of_the_meter_are_not_the_policys),
        cmocka_unit_test(the_truth_is_believed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
