/* A machine whose last cache and memory are not the same at the end of a survey. */
#include <string.h>

#include "survey_lab.h"

/* Two simulated machines behind one door: the second is in when the probe `later` is at work. */
struct changing {
    struct fm_machine machine; /* first: a machine's pointer is ours */
    struct fm_machine *before, *after;
    bool changed;
};

static struct fm_machine *inside(struct fm_machine *machine)
{
    struct changing *changing = (struct changing *)machine;
    return changing->changed ? changing->after : changing->before;
}

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct fm_machine *now = inside(machine);
    return now->ops->place(now, bytes, page_size, err);
}

static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    struct fm_machine *now = inside(machine);
    return now->ops->run(now, string, repeats, samples, err);
}

static bool chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err)
{
    struct fm_machine *now = inside(machine);
    return now->ops->chain(now, kind, operations, sample, err);
}

static double elapsed(struct fm_machine *machine)
{
    struct changing *changing = (struct changing *)machine;
    return changing->before->ops->elapsed(changing->before) +
           changing->after->ops->elapsed(changing->after);
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    struct fm_machine *now = inside(machine);
    now->ops->observe(now, environment);
}

static bool notice(void *data, const char *doing, double fraction, double left)
{
    (void)fraction;
    (void)left;
    if (strcmp(doing, "later") == 0)
        ((struct changing *)data)->changed = true;
    return false;
}

static void survey(const struct fm_description *before, const struct fm_description *after,
                   struct fm_result *result)
{
    static const struct fm_machine_ops ops = {
        .place = place, .run = run, .chain = chain, .elapsed = elapsed, .observe = observe};
    struct fm_error err = {0};
    struct changing changing = {.before = fm_simulated_open(before, 1, &err),
                                .after = fm_simulated_open(after, 1, &err)};
    assert_true(changing.before && changing.after);
    changing.machine = (struct fm_machine){.ops = &ops, .info = changing.before->info};
    changing.machine.info.counters = (struct fm_counters){0};
    struct fm_survey_options options = lab_options();
    options.only = "later";
    options.progress = notice;
    options.progress_data = &changing;
    fm_result_init(result);
    if (!fm_survey(&changing.machine, NULL, &options, result, &err))
        fail_msg("%s", err.text);
    assert_true(changing.changed);
    changing.before->ops->close(changing.before);
    changing.after->ops->close(changing.after);
}

static struct fm_description machine_with(uint64_t capacity, double memory)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 16384, 64, 4), lab_cache(2, capacity, 64, 8));
    machine.memory_latency = memory;
    return machine;
}

static void ranges_reach_to_what_it_has_become(void **state)
{
    (void)state;
    const struct fm_description before = machine_with(262144, 200),
                                after = machine_with(131072, 240);
    const double cycle_ns = 1000 / before.clock_mhz;
    struct fm_result result;
    survey(&before, &after, &result);
    const struct fm_finding *capacity = lab_finding(&result, "l2.capacity");
    const struct fm_finding *latency = lab_finding(&result, "memory.latency");
    /* What was found stays; what has become of it is in the range. */
    lab_expect(&result, "l2.capacity", 262144, 0.03 * 262144);
    assert_true(capacity->low.number < 1.1 * 131072);
    assert_true(capacity->high.number < 1.1 * 262144);
    assert_true(latency->high.number > 235 * cycle_ns);
    assert_true(latency->low.number > 190 * cycle_ns);
    assert_true(*capacity->note && *latency->note);
    fm_result_free(&result);
}

static void ranges_stay_where_nothing_changes(void **state)
{
    (void)state;
    const struct fm_description machine = machine_with(262144, 200);
    struct fm_result result;
    survey(&machine, &machine, &result);
    const struct fm_finding *capacity = lab_finding(&result, "l2.capacity");
    assert_true(capacity->low.number > 0.9 * 262144 && capacity->high.number < 1.1 * 262144);
    assert_true(!*capacity->note && !*lab_finding(&result, "memory.latency")->note);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_reach_to_what_it_has_become),
        cmocka_unit_test(ranges_stay_where_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
