/* The order of the walk against prefetchers and TLBs: it shows the caches as they are, where the
   published cache-only string shows what the prefetchers make of it. */
#include <stdio.h>

#include "refstring/refstring.h"
#include "survey_lab.h"
#include "truth.h"

#define L1_BYTES 8192u
#define L2_BYTES 131072u
#define PREFETCHERS                                                                                \
    (FM_PREFETCH_NEXT_LINE | FM_PREFETCH_ADJACENT_LINE | FM_PREFETCH_STRIDE | FM_PREFETCH_REGION)

/* TLBs whose reach ends inside the second level and just beyond it, a costly walk, and every
   prefetcher there is. */
static struct fm_description hard_machine(void)
{
    struct fm_description machine =
        lab_small(lab_cache(1, L1_BYTES, 64, 4), lab_cache(2, L2_BYTES, 64, 8));
    machine.tlbs[0] = lab_tlb(1, 12, 4, PAGE);
    machine.tlbs[machine.tlb_count++] = lab_tlb(2, 64, 4, PAGE);
    machine.prefetch = PREFETCHERS;
    return machine;
}

typedef bool builder(struct fm_string *, const struct fm_swept_plan *, struct fm_error *);

static double mean_ns(struct fm_machine *machine, builder *build, size_t bytes)
{
    const struct fm_swept_plan plan = {.bytes = bytes, .unit = 64, .page = PAGE, .seed = 5};
    struct fm_string string;
    struct fm_sample sample;
    struct fm_error err = {0};
    if (!build(&string, &plan, &err))
        fail_msg("%s", err.text);
    fm_string_prime(&string, 2);
    fm_string_time(&string, 2 * string.orders[0].count);
    if (!machine->ops->run(machine, &string, 1, &sample, &err))
        fail_msg("%s", err.text);
    fm_string_free(&string);
    return sample.ns / (double)sample.references;
}

static void published_order_is_learnt(void **state)
{
    (void)state;
    struct fm_description machine = hard_machine();
    struct fm_machine *learning = lab_open(&machine, FAR);
    const double fooled = mean_ns(learning, fm_cache_only_string, 1 << 20);
    const double proof = mean_ns(learning, fm_swept_string, 1 << 20);
    lab_close(learning);
    machine.prefetch = 0;
    struct fm_machine *plain = lab_open(&machine, FAR);
    const double truth = mean_ns(plain, fm_cache_only_string, 1 << 20);
    lab_close(plain);
    /* Without prefetchers all of it comes from memory; with them most of it seems to be near. */
    assert_true(truth > 0.95 * machine.memory_latency);
    assert_true(fooled < 0.4 * truth);
    assert_true(proof > 0.85 * machine.memory_latency);
}

/* The walk's curve at footprints on a plateau, beside the latencies the machine has. */
static void walk_shows_the_caches_alone(void **state)
{
    (void)state;
    const struct fm_description machine = hard_machine();
    const struct fm_survey_options options = lab_options();
    struct fm_result result;
    lab_survey(&machine, &options, &result);
    const struct fm_curve *curve = fm_result_find_curve(&result, "cache-only");
    assert_non_null(curve);
    unsigned on_plateaus[3] = {0};
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct fm_point *point = &curve->points[i];
        if (point->x <= L1_BYTES) {
            on_plateaus[0]++;
            assert_true(fabs(point->y - 4) < 0.1);
        } else if (point->x > 5 * L1_BYTES && point->x < 0.95 * L2_BYTES) {
            /* Half a lap is well more than the first level holds, prefetched lines included:
               neighbours have left it. At four times of it one in fifteen is still there. */
            on_plateaus[1]++;
            if (fabs(point->y - 20) > 1)
                fail_msg("%g at %g", point->y, point->x);
        } else if (point->x > 16 * L2_BYTES) {
            on_plateaus[2]++;
            if (fabs(point->y / machine.memory_latency - 1) > 0.05)
                fail_msg("%g at %g", point->y, point->x);
        }
    }
    assert_true(on_plateaus[0] >= 4 && on_plateaus[1] >= 3 && on_plateaus[2] >= 1);
    fm_result_free(&result);
}

static void survey_is_right_where_the_published_one_is_fooled(void **state)
{
    (void)state;
    const struct fm_description machine = hard_machine();
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    struct fm_error err;
    double truth;
    assert_true(fm_true_capacity(&machine, 1, &truth, &err));
    lab_survey(&machine, &options, &result);
    lab_expect(&result, "l1d.capacity", L1_BYTES, 0);
    lab_expect(&result, "l2.capacity", truth, 0.05 * truth);
    lab_expect(&result, "l2.latency_cycles", 20, 1);
    fm_result_free(&result);

    options.method = FM_METHOD_COOPER_SANDOVAL;
    lab_survey(&machine, &options, &result);
    /* The first level is beyond any prefetcher's help; memory is not. */
    lab_expect(&result, "l1d.capacity", L1_BYTES, 0);
    assert_true(lab_number(&result, "memory.latency_cycles") < 0.6 * machine.memory_latency);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_order_is_learnt),
        cmocka_unit_test(walk_shows_the_caches_alone),
        cmocka_unit_test(survey_is_right_where_the_published_one_is_fooled),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
