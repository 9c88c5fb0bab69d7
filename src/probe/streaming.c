/* Stores that stop allocating: whole lines are written one after the other, and the last of each
 * run is timed. In the first level it was brought in; beyond, the stores went past. The shortest
 * run whose last line is not there says how many lines in a row it takes. */
#include <stdio.h>

#include "probe/probe.h"
#include "probe/served.h"
#include "probe/trial.h"

#define MOST_RUNS 16
#define ROUNDS    24
/* Part of the first level that is written, and parts of the step to the next. */
#define WRITTEN 2
#define NONE_OF 0.35
#define ALL_OF  0.65

struct runs {
    struct fm_range range;
    size_t run;
};

enum { ENDS, LINES, WORDS };
enum { LOADED, STORED, WAYS };

static bool build(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err)
{
    const struct runs *runs = trial->data;
    (void)group;
    if (!fm_string_add_runs(string, &runs->range, runs->run, FM_RUN_ENDS, err) ||
        !fm_string_add_runs(string, &runs->range, runs->run, FM_RUN_LINES, err) ||
        !fm_string_add_runs(string, &runs->range, runs->run, FM_RUN_WORDS, err))
        return false;
    const struct fm_order *orders = string->orders;
    fm_string_add_phase(
        string,
        (struct fm_phase){.op = FM_OP_FLUSH, .order = LINES, .references = orders[LINES].count});
    if (alternative == STORED)
        fm_string_add_phase(string, (struct fm_phase){.op = FM_OP_STORE,
                                                      .order = WORDS,
                                                      .references = orders[WORDS].count});
    else
        fm_string_add_phase(string, (struct fm_phase){.references = orders[ENDS].count});
    fm_string_time(string, orders[ENDS].count);
    return true;
}

/* Which part of the last lines of runs are not in the first level. */
static bool ask(struct fm_lab *lab, size_t run, double *missing, struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const size_t lines = (size_t)first->capacity / first->line / WRITTEN;
    const size_t most = MOST_RUNS * (run + 1);
    struct runs runs = {.range = {.lines = lines < most ? lines : most, .unit = first->line},
                        .run = run};
    struct fm_taken taken[WAYS];
    struct fm_trial trial = {.name = "runs",
                             .build = build,
                             .data = &runs,
                             .alternatives = WAYS,
                             .group = {.unit = first->line, .span = first->line},
                             .beside = lines * first->line,
                             .served = true};
    fm_trial_plan(lab, &trial);
    trial.rounds = fm_levels_are_counted(lab) ? trial.rounds : ROUNDS;
    trial.group.count = 1;
    runs.range.from = fm_trial_beside(&trial);
    if (!fm_lab_go_on(lab, 0.5, err) || !fm_trial_run(lab, &trial, taken, err))
        return false;
    *missing = (taken[STORED].ns - taken[LOADED].ns) / (first[1].height_ns - first->height_ns);
    return true;
}

/* The shortest run whose end is missing; 0: none up to the longest, *clear false: not told. */
static bool search(struct fm_lab *lab, size_t longest, size_t *shortest, bool *clear,
                   struct fm_error *err)
{
    size_t here = 1, gone = 0;
    double missing;
    *clear = true;
    *shortest = 0;
    for (size_t run = 2; run <= longest && !gone && *clear; run *= 2) {
        if (!ask(lab, run, &missing, err))
            return false;
        *clear = missing < NONE_OF || missing > ALL_OF;
        here = missing < NONE_OF ? run : here;
        gone = missing > ALL_OF ? run : 0;
    }
    while (gone > here + 1 && *clear) {
        const size_t run = (here + gone) / 2;
        if (!ask(lab, run, &missing, err))
            return false;
        *clear = missing < NONE_OF || missing > ALL_OF;
        if (missing < NONE_OF)
            here = run;
        else
            gone = run;
    }
    *shortest = gone;
    return true;
}

static bool is_true(const struct fm_lab *lab, const char *property)
{
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED && finding->value.truth;
}

static bool is_false(const struct fm_lab *lab, const char *property)
{
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED && !finding->value.truth;
}

static const char *const properties[] = {"l1d.streaming_stores", NULL};

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const bool possible = is_true(lab, "l1d.write_allocate") && first->line && first->capacity > 0;
    const bool seen = is_false(lab, "prefetch.next_line") && is_false(lab, "prefetch.stride");
    size_t shortest = 0;
    bool clear = false;
    if (possible && seen) {
        const size_t lines = (size_t)first->capacity / first->line / WRITTEN;
        if (!search(lab, lines - 1, &shortest, &clear, err))
            return false;
    }
    struct fm_finding *finding = fm_result_finding(lab->result, properties[0], "");
    if (!finding)
        return true;
    if (is_false(lab, "l1d.write_allocate")) {
        finding->status = FM_UNSUPPORTED;
        snprintf(finding->note, sizeof finding->note, "stores never allocate in this level");
    } else if (!possible)
        fm_undetermined(finding, "whether stores allocate at all is not known");
    else if (!seen)
        fm_undetermined(finding, "a prefetcher may bring the lines in that stores go past");
    else if (!clear)
        fm_undetermined(finding, "some lines that were written were there and some were not");
    else if (shortest)
        fm_decided(finding, fm_number((double)shortest - 1), 0.9, fm_served_meter(lab), "runs");
    else {
        finding->status = FM_ABSENT;
        snprintf(finding->note, sizeof finding->note,
                 "runs of stores as long as half of the level still allocate");
    }
    return true;
}

const struct fm_probe fm_probe_streaming = {
    .name = "streaming",
    .finds = "from what length on stores in a row stop allocating",
    .needs = "levels,gap,prefetch,writes",
    .share = 0.03,
    .detail = true,
    .run = run,
    .properties = properties,
};
