/* The PAPI meter, driven through PAPI's software-defined events: a program publishes counters of
 * its own, and PAPI reads them as it reads a processor's. */
#include <papi.h>
#include <sde_lib.h>
#include <stdlib.h>
#include <string.h>

#include "meter/papi.h"
#include "survey_lab.h"

/* What the events count: misses of a simulated machine, the first level's in two parts. */
static long long half_of_l1, rest_of_l1, l2, dtlb1;

static const struct fm_papi_event presets[] = {
    {.bit = 0,
     .names = {"PAPI_NO_SUCH_EVENT", "sde:::FATHOM::HALF+PAPI_NO_SUCH_EVENT",
               "sde:::FATHOM::HALF+sde:::FATHOM::REST"}},
    {.bit = 1, .names = {"PAPI_NO_SUCH_EVENT"}},
    {.bit = 2, .names = {"PAPI_NO_SUCH_EVENT"}},
};
/* Where there is no preset: the second of the native ones for L2, and one for a TLB, of which PAPI
   has no preset at all. The first level has one, and a generic event is no name of PAPI's. */
static const struct fm_perf_events native = {
    .list = {{.bit = 0, .ways = {{.name = "sde:::FATHOM::L2"}}},
             {.bit = 1, .ways = {{.name = "no:::such"}, {.name = "sde:::FATHOM::L2"}}},
             {.bit = 2, .ways = {{.name = "sde:::FATHOM::L2", .generic = true}}},
             {.bit = FM_CACHE_LEVELS, .ways = {{.name = "sde:::FATHOM::DTLB1"}}}},
    .count = 4};
static const struct fm_papi_plan plan = {
    .presets = presets, .count = sizeof presets / sizeof presets[0], .native = &native};

static int publish(void **state)
{
    (void)state;
    const struct {
        const char *name;
        long long *count;
    } counters[] = {{"HALF", &half_of_l1}, {"REST", &rest_of_l1}, {"L2", &l2}, {"DTLB1", &dtlb1}};
    papi_handle_t handle = papi_sde_init("FATHOM");
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (papi_sde_register_counter(handle, counters[i].name, PAPI_SDE_RO | PAPI_SDE_DELTA,
                                      PAPI_SDE_long_long, counters[i].count) != 0)
            return 1;
    return 0;
}

static struct fm_tally *open_meter(void)
{
    struct fm_error err = {0};
    struct fm_perf_account account;
    struct fm_tally *tally = fm_papi_open(&plan, &account, &err);
    if (!tally)
        fail_msg("%s", err.text);
    assert_string_equal(account.by[0], "sde:::FATHOM::HALF+sde:::FATHOM::REST");
    assert_string_equal(account.by[1], "sde:::FATHOM::L2");
    assert_string_equal(account.by[2], "");
    assert_non_null(strstr(account.why[2], "neither a preset nor a native event"));
    return tally;
}

static void counts_sums_and_only_between(void **state)
{
    (void)state;
    struct fm_error err = {0};
    struct fm_counts counts[2];
    struct fm_tally *tally = open_meter();
    assert_string_equal(tally->info.meter, "papi");
    assert_int_equal(tally->info.events,
                     FM_COUNTS_CACHE(0) | FM_COUNTS_CACHE(1) | FM_COUNTS_TLB(0));
    assert_true(tally->ops->prepare(tally, 2, &err));
    for (int i = 0; i < 2; i++) {
        half_of_l1 += 1000;
        tally->ops->start(tally);
        half_of_l1 += 3;
        rest_of_l1 += 4 + i;
        l2 += 5;
        tally->ops->stop(tally);
    }
    assert_true(tally->ops->collect(tally, counts, 2, &err));
    assert_int_equal(counts[0].cache_miss[0], 7);
    assert_int_equal(counts[1].cache_miss[0], 8);
    assert_int_equal(counts[1].cache_miss[1], 5);
    assert_int_equal(counts[1].tlb_miss[0], 0);
    tally->ops->close(tally);
}

static void what_papi_does_not_have_is_refused(void **state)
{
    (void)state;
    const struct fm_papi_event none = {.bit = 0, .names = {"PAPI_NO_SUCH_EVENT", "no:::such"}};
    const struct fm_papi_plan nothing = {.presets = &none, .count = 1};
    struct fm_papi_plan others = plan;
    struct fm_error err = {0};
    assert_null(fm_papi_open(&nothing, NULL, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    others.without = FM_COUNTS_CACHE(0) | FM_COUNTS_CACHE(1) | FM_COUNTS_TLB(0);
    assert_null(fm_papi_open(&others, NULL, &err));
}

static void events_are_named(void **state)
{
    (void)state;
    struct fm_papi_named named;
    struct fm_error err = {0};
    assert_true(fm_papi_name_events(
        "l2=sde:::FATHOM::HALF+sde:::FATHOM::REST,dtlb2=sde:::FATHOM::L2", &named, &err));
    struct fm_perf_account account;
    struct fm_tally *tally = fm_papi_open(&named.plan, &account, &err);
    assert_non_null(tally);
    assert_string_equal(account.by[1], "sde:::FATHOM::HALF+sde:::FATHOM::REST");
    assert_string_equal(account.by[FM_CACHE_LEVELS + 1], "sde:::FATHOM::L2");
    assert_int_equal(tally->info.events & (FM_COUNTS_CACHE(1) | FM_COUNTS_TLB(1)),
                     FM_COUNTS_CACHE(1) | FM_COUNTS_TLB(1));
    tally->ops->close(tally);
    assert_false(fm_papi_name_events("l2=no:::such", &named, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_non_null(strstr(err.text, "no:::such"));
}

/* A machine that is simulated, but whose counts go through PAPI. */
struct published {
    struct fm_machine machine;
    struct fm_machine *inner;
    struct fm_tally *tally;
};

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct fm_machine *inner = ((struct published *)machine)->inner;
    return inner->ops->place(inner, bytes, page_size, err);
}

static bool count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                  struct fm_sample *samples, struct fm_error *err)
{
    struct published *published = (struct published *)machine;
    struct fm_tally *tally = published->tally;
    assert_int_equal(repeats, 1);
    if (!tally->ops->prepare(tally, 1, err))
        return false;
    tally->ops->start(tally);
    const bool good = published->inner->ops->count(published->inner, string, 1, samples, err);
    half_of_l1 += (long long)samples->counts.cache_miss[0] / 2;
    rest_of_l1 += (long long)(samples->counts.cache_miss[0] - samples->counts.cache_miss[0] / 2);
    l2 += (long long)samples->counts.cache_miss[1];
    dtlb1 += (long long)samples->counts.tlb_miss[0];
    tally->ops->stop(tally);
    return good && tally->ops->collect(tally, &samples->counts, 1, err);
}

static double elapsed(struct fm_machine *machine)
{
    (void)machine;
    return 0;
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    (void)machine;
    (void)environment;
}

static const struct fm_machine_ops ops = {
    .place = place, .count = count, .elapsed = elapsed, .observe = observe};

static void a_survey_by_papi_is_exact(void **state)
{
    (void)state;
    const struct fm_description description =
        lab_small(lab_cache(1, 6144, 64, 3), lab_cache(2, 65536, 64, 8));
    struct fm_survey_options options = lab_options();
    struct fm_error err = {0};
    struct fm_result result;
    struct published published = {.machine.ops = &ops, .tally = open_meter()};
    published.inner = fm_simulated_open(&description, 1, &err);
    assert_non_null(published.inner);
    fm_simulated_count(published.inner, true);
    published.machine.info = published.inner->info;
    published.machine.info.counters = published.tally->info;
    options.only = "counters";
    fm_result_init(&result);
    if (!fm_survey(&published.machine, NULL, &options, &result, &err))
        fail_msg("%s", err.text);
    lab_expect(&result, "l1d.capacity", 6144, 0);
    lab_expect(&result, "l1d.ways", 3, 0);
    lab_expect(&result, "l2.capacity", 65536, 0);
    lab_expect(&result, "l2.ways", 8, 0);
    lab_expect(&result, "dtlb1.entries", 16, 0);
    assert_string_equal(lab_finding(&result, "l2.ways")->witnesses[0], "papi");
    fm_result_free(&result);
    published.tally->ops->close(published.tally);
    published.inner->ops->close(published.inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_sums_and_only_between),
        cmocka_unit_test(what_papi_does_not_have_is_refused),
        cmocka_unit_test(events_are_named),
        cmocka_unit_test(a_survey_by_papi_is_exact),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, publish, NULL);
}
