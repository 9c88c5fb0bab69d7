/* Where references are served from: the paper's arithmetic, and kernels whose truth is known. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "sim_lab.h"
#include "stat/family.h"
#include "stat/stat.h"

static struct fm_stat_machine two_levels(double line)
{
    return (struct fm_stat_machine){
        .count = 2,
        .levels = {{.line = line, .latency_ns = 1}, {.line = line, .latency_ns = 5}},
        .memory_ns = 80,
        .cycle_ns = 0.5};
}

static void expect(double value, double truth)
{
    if (fabs(value - truth) > 1e-9)
        fail_msg("%.12g, not %.12g", value, truth);
}

/* The note's own formulas, put down once more: 32-byte lines, doubles, N = 4. */
static void is_the_papers_arithmetic(void **state)
{
    (void)state;
    const struct fm_stat_machine machine = two_levels(32);
    const double cases[][3] = {{1000, 100, 40}, {1000, 10, 300}, {1000, 200, 20}, {5, 5, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double refs = cases[i][0], dcu = cases[i][1], l2 = cases[i][2];
        const struct fm_stat_counts counts = {.references = refs, .fills = {dcu, l2}};
        struct fm_share shares[FM_STAT_LEVELS + 1];
        fm_shares_brought(&counts, &machine, 8, shares);
        const double memory = fmin(l2 * 4, refs) / refs;
        const double cached = refs - l2 * 4;
        const double hits = fmin(fabs(dcu - l2) * 4, refs);
        const double from_l2 = cached > 0 ? fmin(hits / cached, 1) * (1 - memory) : 0;
        expect(shares[2].value, memory);
        expect(shares[1].value, from_l2);
        expect(shares[0].value, 1 - memory - from_l2);
    }
}

static void nothing_is_divided_by_nothing(void **state)
{
    (void)state;
    const struct fm_stat_machine machine = two_levels(64);
    const struct fm_stat_counts counts = {.references = 0};
    struct fm_share shares[FM_STAT_LEVELS + 1];
    fm_shares_brought(&counts, &machine, 4, shares);
    for (size_t i = 0; i <= machine.count; i++)
        assert_true(shares[i].value == 0 && shares[i].low == 0 && shares[i].high == 0);
    fm_shares_served(&counts, machine.count, shares);
    for (size_t i = 0; i <= machine.count; i++)
        assert_true(shares[i].value == 0);
}

static void prefetched_fills_widen_the_bounds(void **state)
{
    (void)state;
    const struct fm_stat_counts counts = {
        .references = 1000, .fills = {100, 50}, .prefetched = true};
    struct fm_share shares[FM_STAT_LEVELS + 1];
    fm_shares_served(&counts, 2, shares);
    expect(shares[2].low, 0);
    expect(shares[2].high, 0.05);
    expect(shares[0].low, 0.9);
    expect(shares[0].high, 1);
}

/* One cache as simple as can be, which remembers where each line came from and which of its
   elements were used since. */
#define SETS          64
#define WAYS          4
#define MOST_ELEMENTS 64
struct line {
    uint64_t tag;
    unsigned from;
    uint64_t used, when;
};
struct naive {
    struct line lines[SETS * 16][WAYS];
    unsigned sets;
    uint64_t now;
};

static struct line *look_up(struct naive *cache, uint64_t line, bool *hit)
{
    struct line *set = cache->lines[line % cache->sets], *oldest = set;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].when && set[i].tag == line) {
            *hit = true;
            set[i].when = ++cache->now;
            return &set[i];
        }
        if (set[i].when < oldest->when)
            oldest = &set[i];
    }
    *hit = false;
    *oldest = (struct line){.tag = line, .when = ++cache->now};
    return oldest;
}

/* The truth: references that were the first to an element since its line came, by where it came
   from; and fills. */
struct truth {
    double first[3], fills[2], references;
};

static void refer(struct naive *l1, struct naive *l2, uint64_t word, unsigned words_per_line,
                  struct truth *truth)
{
    bool in_l1, in_l2;
    const uint64_t number = word / words_per_line, element = (uint64_t)1 << word % words_per_line;
    struct line *line = look_up(l1, number, &in_l1);
    truth->references++;
    if (!in_l1) {
        look_up(l2, number, &in_l2);
        truth->fills[0]++;
        truth->fills[1] += !in_l2;
        line->from = in_l2 ? 1 : 2;
    }
    if (line->used & element)
        truth->first[0]++;
    else
        truth->first[line->from]++;
    line->used |= element;
}

enum kernel { STREAM, BLOCKED, SHUFFLED };

/* Words of the arena in the order that a kernel asks for them. */
static size_t trace_of(enum kernel kernel, uint32_t *trace, size_t most)
{
    size_t count = 0;
    struct fm_rng rng;
    fm_rng_seed(&rng, 7);
    for (uint32_t i = 0; count < most; i++)
        switch (kernel) {
        case STREAM:
            trace[count++] = i % 16384;
            break;
        case BLOCKED: /* four passes over each block of half of L1 */
            trace[count++] = i / 4096 % 16 * 1024 + i % 1024;
            break;
        case SHUFFLED:
            trace[count++] = (uint32_t)fm_rng_below(&rng, 8192);
            break;
        }
    return count;
}

/* The same trace on the simulator: its counters have the last word on fills. */
static void check_fills(const uint32_t *trace, size_t count, uint32_t line,
                        const struct truth *truth)
{
    struct fm_description machine = lab_machine();
    machine.caches[machine.cache_count++] = lab_cache(1, SETS * WAYS * line, line, WAYS);
    machine.caches[machine.cache_count++] = lab_cache(2, 16 * SETS * WAYS * line, line, WAYS);
    struct fm_machine *lab = lab_open(&machine, 1 << 20);
    double fills[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        uint32_t word = trace[i];
        const struct fm_counts counts = lab_run(lab, FM_OP_LOAD, &word, 1, 1).counts;
        fills[0] += (double)counts.cache_miss[0];
        fills[1] += (double)counts.cache_miss[1];
    }
    lab_close(lab);
    expect(fills[0], truth->fills[0]);
    expect(fills[1], truth->fills[1]);
}

#define TRACE 60000

/* A word of the simulator stands for a double in lines of 64 bytes, or for a float in lines of half
   as many bytes as the simulator's. */
static void run_kernel(enum kernel kernel, unsigned element)
{
    const uint32_t line = element == 8 ? 64 : 128;
    struct naive *l1 = calloc(1, sizeof *l1), *l2 = calloc(1, sizeof *l2);
    uint32_t *trace = malloc(TRACE * sizeof *trace);
    struct truth truth = {{0}, {0}, 0};
    struct fm_share brought[FM_STAT_LEVELS + 1], served[FM_STAT_LEVELS + 1];
    assert_true(l1 && l2 && trace);
    l1->sets = SETS;
    l2->sets = 16 * SETS;
    const size_t count = trace_of(kernel, trace, TRACE);
    for (size_t i = 0; i < count; i++)
        refer(l1, l2, trace[i], line / 8, &truth);
    check_fills(trace, count, line, &truth);
    const struct fm_stat_machine machine = two_levels(64);
    const struct fm_stat_counts counts = {.references = truth.references,
                                          .fills = {truth.fills[0], truth.fills[1]}};
    fm_shares_brought(&counts, &machine, element, brought);
    fm_shares_served(&counts, 2, served);
    const double true_served[3] = {1 - truth.fills[0] / truth.references,
                                   (truth.fills[0] - truth.fills[1]) / truth.references,
                                   truth.fills[1] / truth.references};
    for (size_t i = 0; i < 3; i++) {
        const double true_brought = truth.first[i] / truth.references;
        print_message("# kernel %d, element %u, level %zu: brought %.4f, truth %.4f in %.4f..%.4f; "
                      "served %.4f, truth %.4f\n",
                      kernel, element, i + 1, brought[i].value, true_brought, brought[i].low,
                      brought[i].high, served[i].value, true_served[i]);
        assert_true(true_brought >= brought[i].low - 1e-9 &&
                    true_brought <= brought[i].high + 1e-9);
        assert_true(true_served[i] >= served[i].low - 1e-9 &&
                    true_served[i] <= served[i].high + 1e-9);
        assert_true(served[i].high - served[i].low <= 0.15);
    }
    free(l1);
    free(l2);
    free(trace);
}

static void bounds_hold_the_truth_of_kernels(void **state)
{
    (void)state;
    for (enum kernel kernel = STREAM; kernel <= SHUFFLED; kernel++)
        for (unsigned element = 4; element <= 8; element += 4)
            run_kernel(kernel, element);
}

static void models_have_powers_of_two_of_sets(void **state)
{
    (void)state;
    const struct fm_stat_cache l1 = {32768, 64, 8}, odd = {5270528, 64, 0},
                               three = {96 * 1024, 64, 3}, full = {1024 * 64, 64, 1024};
    struct fm_description model;
    char rounded[200];
    fm_stat_model(&l1, &odd, &l1, &model, rounded, sizeof rounded);
    assert_int_equal(model.caches[1].capacity, 32768);
    assert_int_equal(model.caches[1].ways, 8);
    assert_in_range(model.caches[2].capacity, 5270528 * 0.94, 5270528 * 1.06);
    assert_non_null(strstr(rounded, "5270528"));
    fm_stat_model(&three, &full, &l1, &model, rounded, sizeof rounded);
    assert_int_equal(model.caches[1].ways, 3);
    assert_int_equal(model.caches[1].capacity, 96 * 1024);
    for (size_t i = 0; i < 3; i++) {
        const struct fm_cache_description *cache = &model.caches[i];
        const uint64_t sets = cache->capacity / cache->line / cache->ways;
        assert_int_equal(sets * cache->line * cache->ways, cache->capacity);
        assert_int_equal(sets & (sets - 1), 0);
    }
}

static struct fm_command_result run(char *const *command)
{
    struct fm_command_result result;
    struct fm_error err = {0};
    if (!fm_command_run(command, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

static void a_command_ends_as_it_ends(void **state)
{
    (void)state;
    char shell[] = "sh", c[] = "-c", seven[] = "exit 7", killed[] = "kill -USR1 $$",
         missing[] = "/no/such/program", folder[] = "/";
    struct fm_command_result result = run((char *[]){shell, c, seven, NULL});
    assert_int_equal(result.end, FM_COMMAND_EXITED);
    assert_int_equal(result.code, 7);
    assert_true(result.times.wall_s > 0 && result.times.cpu_s >= 0);
    result = run((char *[]){shell, c, killed, NULL});
    assert_int_equal(result.end, FM_COMMAND_KILLED);
    assert_int_equal(result.code, SIGUSR1);
    assert_int_equal(run((char *[]){missing, NULL}).end, FM_COMMAND_NOT_FOUND);
    assert_int_equal(run((char *[]){folder, NULL}).end, FM_COMMAND_NOT_RUN);
}

static void what_was_not_counted_is_unsupported(void **state)
{
    (void)state;
    const struct fm_stat_machine machine = two_levels(64);
    const struct fm_stat_counts none = fm_stat_no_counts();
    const struct fm_stat_times times = {
        .wall_s = 2, .cpu_s = 1, .switches = -1, .witness = "clock"};
    struct fm_result result;
    struct fm_error err = {0};
    fm_result_init(&result);
    assert_true(fm_stat_report(&result, &none, &machine, &times, 8, "perf", "no PMU", &err));
    const struct fm_finding *finding = fm_result_find(&result, "app.served_memory");
    assert_non_null(finding);
    assert_int_equal(finding->status, FM_UNSUPPORTED);
    assert_string_equal(finding->note, "no PMU");
    assert_int_equal(fm_result_find(&result, "app.fetch_overhead")->status, FM_UNSUPPORTED);
    assert_int_equal(fm_result_find(&result, "app.stall_memory")->status, FM_UNSUPPORTED);
    assert_int_equal(fm_result_find(&result, "app.context_switches")->status, FM_UNSUPPORTED);
    expect(fm_result_find(&result, "app.idle")->value.number, 0.5);
    fm_result_free(&result);
}

/* Counters of a processor as they may come. */
static struct fm_command_counts counters(double references, double l1, double l2, double last)
{
    struct fm_command_counts seen = {.scaled = false};
    for (size_t i = 0; i < FM_COMMAND_EVENTS; i++)
        seen.count[i] = -1;
    seen.count[FM_COMMAND_REFERENCES] = references;
    seen.count[FM_COMMAND_FILLS] = l1;
    seen.count[FM_COMMAND_FILLS + 1] = l2;
    seen.count[FM_COMMAND_FILLS + 2] = last;
    return seen;
}

static const struct fm_finding *reported(struct fm_result *result, struct fm_command_counts *seen,
                                         const char *property)
{
    struct fm_stat_machine machine = two_levels(64);
    struct fm_stat_counts counts;
    struct fm_error err = {0};
    struct fm_stat_times times = {.wall_s = 2, .cpu_s = 1, .witness = "clock"};
    machine.levels[machine.count++] = (struct fm_stat_level){.line = 64, .latency_ns = 20};
    fm_result_free(result);
    fm_result_init(result);
    fm_stat_counted(seen, machine.count, &counts);
    fm_stat_counted_times(seen, "perf", &times);
    assert_true(fm_stat_report(result, &counts, &machine, &times, 8, "perf", "not this one", &err));
    return fm_result_find(result, property);
}

static void a_level_without_an_event_leaves_a_gap(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_command_counts all = counters(1e6, 1e5, 4e4, 1e4), gap = counters(1e6, 1e5, -1, 1e4);
    fm_result_init(&result);
    expect(reported(&result, &all, "app.served_l2")->value.number, 0.06);
    expect(reported(&result, &all, "app.served_l3")->value.number, 0.03);
    /* Who prefetches makes nobody wait. */
    expect(reported(&result, &all, "app.served_l3")->low.number, 0);
    assert_int_equal(reported(&result, &gap, "app.served_l2")->status, FM_UNSUPPORTED);
    assert_int_equal(reported(&result, &gap, "app.served_l3")->status, FM_UNSUPPORTED);
    assert_int_equal(reported(&result, &gap, "app.fraction_l1")->status, FM_UNSUPPORTED);
    assert_string_equal(reported(&result, &gap, "app.stall_l3")->note, "not this one");
    expect(reported(&result, &gap, "app.served_l1")->value.number, 0.9);
    expect(reported(&result, &gap, "app.served_memory")->value.number, 0.01);
    fm_result_free(&result);
}

static void events_that_lie_are_not_believed(void **state)
{
    (void)state;
    struct fm_stat_counts counts;
    struct fm_command_counts good = counters(1e6, 1e5, -1, 1e4), more = counters(1e6, 2e6, -1, 1e4),
                             none = counters(1e6, 1e5, -1, 0), idle = counters(100, 0, -1, 0);
    assert_true(fm_stat_counted(&good, 2, &counts));
    /* The second of two levels is the last one. */
    expect(counts.fills[1], 1e4);
    assert_false(fm_stat_counted(&more, 2, &counts));
    assert_non_null(strstr(more.why[FM_COMMAND_FILLS], "2000000 lines in 1000000 references"));
    assert_false(fm_stat_counted(&none, 3, &counts));
    assert_non_null(strstr(none.why[FM_COMMAND_FILLS + 2], "cannot be believed"));
    assert_true(fm_stat_counted(&idle, 1, &counts));
}

static void cycles_lost_are_counted_or_estimated(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_command_counts seen = counters(1e6, 1e5, 4e4, 1e4);
    fm_result_init(&result);
    seen.count[FM_COMMAND_FETCH_MISSES] = 2e6;
    /* One second of half a nanosecond each. */
    expect(reported(&result, &seen, "app.fetch_overhead")->value.number, 1e-3);
    expect(reported(&result, &seen, "app.fetch_overhead")->high.number, 1);
    seen.count[FM_COMMAND_CYCLES] = 1e7;
    seen.count[FM_COMMAND_FETCH_STALLS] = 1e6;
    expect(reported(&result, &seen, "app.fetch_overhead")->value.number, 0.1);
    expect(reported(&result, &seen, "app.fetch_overhead")->high.number, 0.1);
    seen.count[FM_COMMAND_TASK_CLOCK] = 5e8;
    seen.count[FM_COMMAND_PAGE_FAULTS] = 17;
    expect(reported(&result, &seen, "app.idle")->value.number, 0.75);
    expect(reported(&result, &seen, "app.page_faults")->value.number, 17);
    fm_result_free(&result);
}

static void tell(struct fm_family *family, int pid, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "pid: %d\npart: 1\ndesc: Trigger: %s\nevents: Dr\ntotals: 10\n",
             pid, why);
    assert_true(fm_family_add(family, text));
}

static void processes_are_told_apart(void **state)
{
    (void)state;
    static const char end[] = "Program termination", fork[] = "--dump-before=fork",
                      inner[] = "--dump-before=_Fork", vfork[] = "--dump-before=vfork@@GLIBC_2.17",
                      exec[] = "--dump-before=execve", clone[] = "--dump-before=clone";
    struct fm_family family = {.size = 0};
    tell(&family, 7, fork);
    tell(&family, 7, fork); /* another thread */
    tell(&family, 7, inner);
    tell(&family, 7, inner);
    tell(&family, 8, exec);
    tell(&family, 8, vfork);
    tell(&family, 9, end);
    tell(&family, 10, end);
    tell(&family, 8, end);
    tell(&family, 7, end);
    assert_int_equal(family.counts.references, 100);
    assert_int_equal(family.size, 4);
    assert_int_equal(family.births, 3);
    assert_int_equal(fm_family_unseen(&family), 0);
    assert_int_equal(fm_family_silent(&family), 0);
    tell(&family, 11, end);
    assert_int_equal(fm_family_unseen(&family), 1);
    tell(&family, 7, inner); /* not by way of fork */
    tell(&family, 7, clone); /* a thread, or a process */
    assert_int_equal(fm_family_unseen(&family), 0);
    assert_int_equal(fm_family_silent(&family), 0);
    tell(&family, 7, fork);
    assert_int_equal(fm_family_silent(&family), 1);
    assert_false(fm_family_add(&family, "events: Dr\ntotals: 1\n"));
    fm_family_free(&family);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_papers_arithmetic),
        cmocka_unit_test(nothing_is_divided_by_nothing),
        cmocka_unit_test(prefetched_fills_widen_the_bounds),
        cmocka_unit_test(bounds_hold_the_truth_of_kernels),
        cmocka_unit_test(models_have_powers_of_two_of_sets),
        cmocka_unit_test(a_command_ends_as_it_ends),
        cmocka_unit_test(processes_are_told_apart),
        cmocka_unit_test(what_was_not_counted_is_unsupported),
        cmocka_unit_test(a_level_without_an_event_leaves_a_gap),
        cmocka_unit_test(events_that_lie_are_not_believed),
        cmocka_unit_test(cycles_lost_are_counted_or_estimated),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
