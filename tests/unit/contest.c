/* Which policy is left of all, where laps are made up: disturbed ones clear the true policy. */
#include "probe/contest.h"
#include "survey_lab.h"

#define WAYS 8
#define HIT  2.0
#define COST 5.0

struct made_up {
    enum fm_replacement policy;
    unsigned laps;         /* timed so far */
    unsigned disturbed[3]; /* their numbers; 0: none */
    double others;         /* part of its misses that no known policy has */
};

static bool time_lap(struct fm_lab *lab, void *data, const struct fm_lap *lap,
                     struct fm_lap_reading *reading, struct fm_error *err)
{
    struct made_up *set = data;
    const struct fm_lap_misses misses = fm_lap_predict(lap, set->policy, WAYS, 16, 1);
    (void)lab;
    (void)err;
    set->laps++;
    reading->misses_ns = COST * (misses.low + misses.high) / 2 * (1 + set->others);
    for (size_t i = 0; i < 3; i++)
        if (set->disturbed[i] == set->laps)
            reading->misses_ns += 3 * WAYS * COST;
    reading->lap_ns = HIT * lap->length + reading->misses_ns;
    return true;
}

static struct fm_finding decide(struct made_up *set)
{
    struct fm_error err = {0};
    const struct fm_description any =
        lab_small(lab_cache(1, 8192, 64, 8), lab_cache(2, 65536, 64, 8));
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    fm_result_init(&result);
    struct fm_machine *machine = fm_simulated_open(&any, 1, &err);
    struct fm_lab lab = {.machine = machine, .options = &options, .result = &result};
    const struct fm_contest contest = {.property = "l1d.replacement",
                                       .curve = "laps-l1d",
                                       .ways = WAYS,
                                       .visits = 8,
                                       .hit_ns = HIT,
                                       .cost_ns = COST,
                                       .meter = "clock",
                                       .time = time_lap,
                                       .data = set};
    assert_non_null(machine);
    assert_true(fm_contest(&lab, &contest, &err));
    const struct fm_finding finding = *lab_finding(&result, "l1d.replacement");
    machine->ops->close(machine);
    fm_result_free(&result);
    return finding;
}

static void finds_a_policy(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO,
                                                   FM_REPLACE_TREE_PLRU, FM_REPLACE_BIT_PLRU};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        char word[FM_REPLACEMENT_TEXT];
        struct made_up set = {.policy = policies[i]};
        const struct fm_finding finding = decide(&set);
        assert_int_equal(finding.status, FM_MEASURED);
        assert_string_equal(finding.value.text, fm_replacement_word(policies[i], word));
    }
}

/* A lap of the first round, or of one after it, clears all of them, the true one too. */
static void one_disturbed_round_is_not_the_end(void **state)
{
    (void)state;
    for (unsigned lap = 1; lap <= 19; lap += 3) {
        struct made_up set = {.policy = FM_REPLACE_TREE_PLRU, .disturbed = {lap}};
        const struct fm_finding finding = decide(&set);
        assert_int_equal(finding.status, FM_MEASURED);
        assert_string_equal(finding.value.text, "tree-plru");
    }
}

static void what_no_policy_does_is_none_of_them(void **state)
{
    (void)state;
    struct made_up set = {.policy = FM_REPLACE_TREE_PLRU, .others = 0.9};
    const struct fm_finding finding = decide(&set);
    assert_int_equal(finding.status, FM_UNDETERMINED);
    assert_non_null(strstr(finding.note, "none of the known policies"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_policy),
        cmocka_unit_test(one_disturbed_round_is_not_the_end),
        cmocka_unit_test(what_no_policy_does_is_none_of_them),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
