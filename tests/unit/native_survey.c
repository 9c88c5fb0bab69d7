/* This computer surveyed twice, quickly. Whatever it is and however busy, the answers must make
   sense by themselves and not contradict each other; what is not determined is no contradiction. */
#include <stdio.h>
#include <sys/mman.h>

#include "machine/native/computer.h"
#include "machine/native/native.h"
#include "machine/native/pages.h"
#include "meter/clock.h"
#include "survey_lab.h"

#define LEVELS 4
/* MADV_COLLAPSE, which older headers do not have; older kernels refuse it. */
#define COLLAPSE 25

struct surveys {
    struct fm_result first, second;
};

static bool survey_once(uint64_t seed, struct fm_result *result)
{
    struct fm_error err = {0};
    const struct fm_survey_options options = {
        .effort = FM_QUICK, .max_footprint = 16u << 20, .seed = seed};
    struct fm_meter *clock = fm_clock_open(&err);
    struct fm_machine *machine = clock ? fm_native_open(-1, clock, &err) : NULL;
    fm_result_init(result);
    const bool good = machine && fm_survey(machine, NULL, &options, result, &err);
    if (machine)
        machine->ops->close(machine);
    if (clock)
        clock->ops->close(clock);
    if (!good)
        print_error("%s\n", err.text);
    return good;
}

static int set_up(void **state)
{
    static struct surveys surveys;
    *state = &surveys;
    return survey_once(1, &surveys.first) && survey_once(2, &surveys.second) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct surveys *surveys = *state;
    fm_result_free(&surveys->first);
    fm_result_free(&surveys->second);
    return 0;
}

/* A level's finding if it is a measured number, otherwise NULL. */
static const struct fm_finding *number(const struct fm_result *result, unsigned level,
                                       const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, level == 1 ? "l%ud.%s" : "l%u.%s", level, attribute);
    const struct fm_finding *finding = fm_result_find(result, property);
    return finding && finding->status == FM_MEASURED && finding->value.kind == FM_VALUE_NUMBER
               ? finding
               : NULL;
}

static void says_something_of_each_property(void **state)
{
    const struct surveys *surveys = *state;
    assert_true(surveys->first.complete);
    assert_non_null(fm_result_find(&surveys->first, "cpu.cycle_time"));
    assert_non_null(fm_result_find(&surveys->first, "l1d.ways"));
    for (size_t i = 0; i < surveys->first.finding_count; i++) {
        const struct fm_finding *finding = &surveys->first.findings[i];
        if (finding->status != FM_MEASURED)
            assert_true(finding->note[0] != '\0');
        else
            assert_true(finding->method[0] != '\0' && finding->witnesses[0][0] != '\0');
    }
}

static void values_lie_in_their_intervals(void **state)
{
    const struct surveys *surveys = *state;
    for (size_t i = 0; i < surveys->first.finding_count; i++) {
        const struct fm_finding *finding = &surveys->first.findings[i];
        if (finding->status != FM_MEASURED)
            continue;
        assert_true(finding->confidence > 0 && finding->confidence <= 1);
        if (finding->value.kind != FM_VALUE_NUMBER)
            continue;
        if (!(finding->low.number <= finding->value.number &&
              finding->value.number <= finding->high.number && finding->value.number > 0))
            fail_msg("%s: %g in %g..%g", finding->property, finding->value.number,
                     finding->low.number, finding->high.number);
    }
}

static void rises_outward(void **state, const char *attribute)
{
    const struct surveys *surveys = *state;
    double before = 0;
    for (unsigned level = 1; level <= LEVELS; level++) {
        const struct fm_finding *finding = number(&surveys->first, level, attribute);
        if (!finding)
            continue;
        assert_true(finding->value.number > before);
        before = finding->value.number;
    }
}

static void capacities_rise_outward(void **state)
{
    rises_outward(state, "capacity");
}

static void latencies_rise_outward(void **state)
{
    rises_outward(state, "latency");
}

/* The first level belongs to this core alone: two surveys find the same. */
static void surveys_agree_on_the_first_level(void **state)
{
    const struct surveys *surveys = *state;
    static const char *const attributes[] = {"capacity", "line", "ways"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        const struct fm_finding *a = number(&surveys->first, 1, attributes[i]);
        const struct fm_finding *b = number(&surveys->second, 1, attributes[i]);
        if (a && b && (a->low.number > b->high.number || b->low.number > a->high.number))
            fail_msg("l1d.%s: %g in %g..%g, then %g in %g..%g", attributes[i], a->value.number,
                     a->low.number, a->high.number, b->value.number, b->low.number, b->high.number);
    }
}

/* Pages that change their size while they are measured: the kernel is asked to make huge ones of
   each arena as soon as it is there. */
static const struct fm_machine_ops *native_ops;
static size_t collapsed;

static bool place_and_collapse(struct fm_machine *machine, size_t bytes, size_t page_size,
                               struct fm_error *err)
{
    if (!native_ops->place(machine, bytes, page_size, err))
        return false;
    const struct fm_arena *arena = &((struct fm_computer *)machine)->arena;
    if (arena->page_size == machine->info.page_size && fm_transparent_page() &&
        arena->bytes >= fm_transparent_page() &&
        madvise(arena->base, arena->bytes, MADV_HUGEPAGE) == 0 &&
        madvise(arena->base, arena->bytes, COLLAPSE) == 0)
        collapsed++;
    return true;
}

static void pages_that_collapse_are_told(void **state)
{
    (void)state;
    struct fm_error err = {0};
    const struct fm_survey_options options = {
        .effort = FM_QUICK, .max_footprint = 8u << 20, .seed = 3, .only = "tlb"};
    struct fm_meter *clock = fm_clock_open(&err);
    struct fm_machine *machine = clock ? fm_native_open(-1, clock, &err) : NULL;
    struct fm_result result;
    assert_non_null(machine);
    native_ops = machine->ops;
    struct fm_machine_ops ops = *native_ops;
    ops.place = place_and_collapse;
    machine->ops = &ops;
    fm_result_init(&result);
    assert_true(fm_survey(machine, NULL, &options, &result, &err));
    const struct fm_finding *resized = fm_result_find(&result, "page.resized");
    assert_non_null(resized);
    /* Kernels that have no such pages, or none left, change nothing. */
    assert_true(lab_has_warning(&result, "page-resized") || collapsed == 0);
    assert_true(resized->value.truth || collapsed == 0);
    fm_result_free(&result);
    machine->ops->close(machine);
    clock->ops->close(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_something_of_each_property),
        cmocka_unit_test(values_lie_in_their_intervals),
        cmocka_unit_test(capacities_rise_outward),
        cmocka_unit_test(latencies_rise_outward),
        cmocka_unit_test(surveys_agree_on_the_first_level),
        cmocka_unit_test(pages_that_collapse_are_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
