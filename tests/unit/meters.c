/* The meters that count: what is believed of them, and what callgrind writes and takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/callgrind_model.h"
#include "meter/callgrind.h"
#include "meter/joint.h"
#include "meter/prove.h"

static void reads_a_dump(void **state)
{
    (void)state;
    struct fm_counts counts;
    assert_true(
        fm_callgrind_read_dump("version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
                               "summary: 9 9 9 9 9 9 9 9 9\nfn=(1)\n0 1 2\n\n"
                               "totals: 10 200 30 4 50 6 7 8 9\n",
                               &counts));
    assert_int_equal(counts.fetch_miss, 4);
    assert_int_equal(counts.references, 230);
    assert_int_equal(counts.cache_miss[0], 56);
    assert_int_equal(counts.cache_miss[1], 17);
}

static void zeros_at_the_end_may_be_missing(void **state)
{
    (void)state;
    struct fm_counts counts;
    assert_true(fm_callgrind_read_dump("events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
                                       "totals: 10 200\n",
                                       &counts));
    assert_int_equal(counts.references, 200);
    assert_int_equal(counts.cache_miss[0] + counts.cache_miss[1], 0);
}

static void refuses_what_is_no_dump(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "events: Ir Dr\n",
                                        "totals: 1 2\n",
                                        "events: Ir\ntotals: 1\n",
                                        "events: Ir Dr\ntotals: 1 x\n",
                                        "events: Ir Dr\ntotals: 1 2 3\n"};
    struct fm_counts counts;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(fm_callgrind_read_dump(texts[i], &counts));
}

static void reads_a_model(void **state)
{
    (void)state;
    struct fm_description model;
    struct fm_error err;
    char text[FM_CALLGRIND_OPTION];
    assert_true(fm_callgrind_model("LL=1.5MiB,12,64  D1=48K,12,64", &model, &err));
    assert_string_equal(fm_callgrind_option(&model.caches[1], text), "--D1=49152,12,64");
    assert_string_equal(fm_callgrind_option(&model.caches[2], text), "--LL=1572864,12,64");
    assert_true(fm_callgrind_model("I1=1024,1,16 D1=1024,64,16 LL=65536,1,4096", &model, &err));
    assert_string_equal(fm_callgrind_option(&model.caches[0], text), "--I1=1024,1,16");
}

static void names_what_is_wrong_with_a_model(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "D1 is missing"},
        {"D1=32768,8,64", "LL is missing"},
        {"D1=32768,8,64 LL=1,2", "'LL=1,2' is no cache"},
        {"D1=32768,8,64 D1=32768,8,64 LL=65536,4,64", "twice"},
        {"D1=32768,8,8 LL=65536,4,64", "powers of two from 16"},
        {"D1=32768,8,48 LL=65536,4,64", "powers of two from 16"},
        {"D1=98304,8,64 LL=65536,4,64", "power of two of sets"},
        {"D1=0,8,64 LL=65536,4,64", "power of two of sets"},
        {"D1=32768,0,64 LL=65536,4,64", "power of two of sets"},
        {"D1=32768,08,64 LL=65536,4,64", "is no cache"},
        {"D1=32768,8,64, LL=65536,4,64", "is no cache"},
        {"L2=32768,8,64 LL=65536,4,64", "is no cache"},
        {"D1=32768,8,0000000000000000000000000000000000000000000000000000000000000064",
         "is no cache"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fm_description model;
        struct fm_error err = {0};
        assert_false(fm_callgrind_model(cases[i].text, &model, &err));
        assert_int_equal(err.code, FM_ERR_USAGE);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

/* A meter whose counts follow from how often it was read: 4096 loads come first, three times, and
   then 8192. */
struct fake {
    struct fm_tally tally;
    unsigned calls;
    double per_load; /* misses that it claims */
    uint64_t always; /* and those of its own */
    bool broken;
};

static bool fake_prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    (void)runs;
    return !((struct fake *)tally)->broken ||
           fm_fail(err, FM_ERR_UNSUPPORTED, "the counter does not start");
}

static void fake_switch(struct fm_tally *tally)
{
    (void)tally;
}

static bool fake_collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                         struct fm_error *err)
{
    (void)err;
    (void)runs;
    struct fake *fake = (struct fake *)tally;
    const double loads = fake->calls++ < 3 ? 4096 : 8192;
    *counts =
        (struct fm_counts){.cache_miss[0] = (uint64_t)(fake->per_load * loads) + fake->always};
    return true;
}

static const struct fm_tally_ops fake_ops = {
    .prepare = fake_prepare, .start = fake_switch, .stop = fake_switch, .collect = fake_collect};

static unsigned proven(double per_load, uint64_t always, struct fm_proof *proof)
{
    struct fake fake = {.tally = {.ops = &fake_ops, .info.events = FM_COUNTS_CACHE(0)},
                        .per_load = per_load,
                        .always = always};
    struct fm_error err = {0};
    assert_true(fm_tally_prove(&fake.tally, proof, &err));
    return fake.tally.info.events;
}

static void believes_what_grows_with_work(void **state)
{
    (void)state;
    struct fm_proof proof;
    assert_int_equal(proven(1, 100, &proof), FM_COUNTS_CACHE(0));
    assert_string_equal(proof.why[0], "");
}

static void notices_errata(void **state)
{
    (void)state;
    struct fm_proof proof;
    /* More misses than there were loads. */
    assert_int_equal(proven(2, 0, &proof), 0);
    assert_non_null(strstr(proof.why[0], "misses of 8192 loads"));
    /* Counts that stand still, or are always the same. */
    assert_int_equal(proven(0, 0, &proof), 0);
    assert_int_equal(proven(0, 5000, &proof), 0);
    assert_true(proof.why[0][0]);
}

static void a_meter_that_fails_is_an_error(void **state)
{
    (void)state;
    struct fake fake = {.tally = {.ops = &fake_ops, .info.events = 1}, .broken = true};
    struct fm_proof proof;
    struct fm_error err = {0};
    assert_false(fm_tally_prove(&fake.tally, &proof, &err));
    assert_non_null(strstr(err.text, "does not start"));
}

/* A meter that counts the same in every run, and is on the heap as real ones are. */
struct steady {
    struct fm_tally tally;
    struct fm_counts counts;
    int *open;
};

static bool steady_collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                           struct fm_error *err)
{
    (void)err;
    for (unsigned i = 0; i < runs; i++)
        counts[i] = ((struct steady *)tally)->counts;
    return true;
}

static bool steady_prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    (void)tally;
    (void)runs;
    (void)err;
    return true;
}

static void steady_close(struct fm_tally *tally)
{
    --*((struct steady *)tally)->open;
    free(tally);
}

static struct fm_tally *steady(const char *name, unsigned events, uint64_t each, int *open)
{
    static const struct fm_tally_ops steady_ops = {.prepare = steady_prepare,
                                                   .start = fake_switch,
                                                   .stop = fake_switch,
                                                   .collect = steady_collect,
                                                   .close = steady_close};
    struct steady *meter = calloc(1, sizeof *meter);
    assert_non_null(meter);
    meter->tally = (struct fm_tally){.ops = &steady_ops, .info.events = events};
    snprintf(meter->tally.info.meter, sizeof meter->tally.info.meter, "%s", name);
    for (unsigned bit = 0; bit < FM_EVENTS; bit++)
        fm_event_add(&meter->counts, bit, each);
    meter->open = open;
    ++*open;
    return &meter->tally;
}

static void two_meters_count_as_one(void **state)
{
    (void)state;
    const unsigned l1 = FM_COUNTS_CACHE(0), l2 = FM_COUNTS_CACHE(1), code = FM_COUNTS_CODE;
    struct fm_error err = {0};
    struct fm_counts counts[2] = {{0}};
    int open = 0;
    struct fm_tally *joint =
        fm_tally_join(steady("perf", l1, 5, &open), steady("papi", l1 | l2 | code, 7, &open), &err);
    assert_non_null(joint);
    assert_int_equal(joint->info.events, l1 | l2 | code);
    assert_string_equal(fm_event_meter(&joint->info, 0), "perf");
    assert_string_equal(fm_event_meter(&joint->info, 1), "papi");
    assert_string_equal(fm_event_meter(&joint->info, FM_CODE_EVENT), "papi");
    assert_true(joint->ops->prepare(joint, 2, &err));
    joint->ops->start(joint);
    joint->ops->stop(joint);
    assert_true(joint->ops->collect(joint, counts, 2, &err));
    assert_int_equal(counts[1].cache_miss[0], 5);
    /* The first says something of it too, which it was not asked. */
    assert_int_equal(counts[1].cache_miss[1], 7);
    assert_string_equal(fm_tally_part(joint, "papi")->info.meter, "papi");
    assert_null(fm_tally_part(joint, "sim"));
    joint->ops->close(joint);
    assert_int_equal(open, 0);
}

static void who_adds_nothing_is_sent_away(void **state)
{
    (void)state;
    struct fm_error err = {0};
    int open = 0;
    struct fm_tally *perf = steady("perf", 3, 1, &open);
    assert_ptr_equal(fm_tally_join(perf, steady("papi", 1, 1, &open), &err), perf);
    assert_int_equal(open, 1);
    assert_ptr_equal(fm_tally_join(perf, NULL, &err), perf);
    assert_ptr_equal(fm_tally_join(NULL, perf, &err), perf);
    assert_null(fm_tally_join(NULL, NULL, &err));
    perf->ops->close(perf);
}

static void callgrind_is_not_here(void **state)
{
    (void)state;
    struct fm_error err = {0};
    assert_false(fm_callgrind_here());
    assert_null(fm_callgrind_open(false, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_dump),
        cmocka_unit_test(zeros_at_the_end_may_be_missing),
        cmocka_unit_test(refuses_what_is_no_dump),
        cmocka_unit_test(reads_a_model),
        cmocka_unit_test(names_what_is_wrong_with_a_model),
        cmocka_unit_test(believes_what_grows_with_work),
        cmocka_unit_test(notices_errata),
        cmocka_unit_test(a_meter_that_fails_is_an_error),
        cmocka_unit_test(two_meters_count_as_one),
        cmocka_unit_test(who_adds_nothing_is_sent_away),
        cmocka_unit_test(callgrind_is_not_here),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
