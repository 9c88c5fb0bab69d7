/* A survey that is late from its first moment: it leaves out what only refines, and has to be the
   less sure of what it tells. */
#include "survey_lab.h"
#include "truth.h"

#define KINDS 3
#define SEEDS 10

/* Ranges may miss the truth in one of so many. */
#define SELDOM 20

/* A second level of four, eight or sixteen ways on pages that lie anywhere. */
static struct fm_description scattered(unsigned kind)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 16 << 10, 64, 4), lab_cache(2, 256 << 10, 64, 4u << kind));
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.caches[1].latency = 14;
    machine.noise = (struct fm_noise_description){.jitter = 0.01, .timer_ns = 1};
    return machine;
}

static bool holds(const struct fm_finding *finding, double truth)
{
    return finding->low.number <= truth && truth <= finding->high.number;
}

static void tells_ranges_that_hold_the_truth(void **state)
{
    (void)state;
    struct fm_survey_options options = lab_options();
    unsigned told = 0, missed = 0, all = 0;
    options.only = "levels,gap,latency,capacity";
    options.pace_s = 1e-6;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct fm_description machine = scattered(kind);
        struct fm_error err = {0};
        double truth;
        assert_true(fm_true_capacity(&machine, 1, &truth, &err));
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct fm_result result;
            options.seed = seed;
            lab_survey_at(&machine, seed, false, &options, &result);
            lab_expect(&result, "l1d.capacity", 16 << 10, 0);
            const struct fm_finding *found = lab_finding(&result, "l2.capacity");
            all++;
            told += found->status == FM_MEASURED;
            missed += found->status == FM_MEASURED && !holds(found, truth);
            fm_result_free(&result);
        }
    }
    if (missed * SELDOM > told || 2 * told < all)
        fail_msg("of %u ranges %u were told, and %u of these do not hold the truth", all, told,
                 missed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_ranges_that_hold_the_truth)};
    return cmocka_run_group_tests_name("hurried", tests, NULL, NULL);
}
