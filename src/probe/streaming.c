/* Stores that stop allocating: whole lines are written one after the other, and the last of each
 * run is timed. In the first level it was brought in; beyond, the stores went past. The shortest
 * run whose last line is not there says how many lines in a row it takes.
 *
 * A prefetcher brings the next lines of a run in before they are stored to. Where one may be awake,
 * runs end in the first line of a page, which it leaves alone; that it does is seen by runs that
 * are not written to their end. */
#include <math.h>
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
/* … and standard errors that either must be from the middle. */
#define HALF 0.5
#define SURE 2
/* First lines of pages share few sets: part of the level that pages may take. */
#define OF_LEVEL 4
/* How often a run is asked at the most. */
#define MOST_TIMES 32

enum { ENDS, LINES, WORDS, BEFORE };
/* Ends that were loaded; runs that were stored to, and all but the end of which were. */
enum { LOADED, STORED, UNTIL, WAYS };

static bool build(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err)
{
    const struct fm_runs *runs = trial->data;
    (void)group;
    if (!fm_string_add_runs(string, runs, FM_RUN_ENDS, err) ||
        !fm_string_add_runs(string, runs, FM_RUN_LINES, err) ||
        !fm_string_add_runs(string, runs, FM_RUN_WORDS, err) ||
        !fm_string_add_runs(string, runs, FM_RUN_BEFORE, err))
        return false;
    fm_string_add_pass(string, LINES, FM_OP_FLUSH);
    if (alternative == LOADED)
        fm_string_add_pass(string, ENDS, FM_OP_LOAD);
    else
        fm_string_add_pass(string, alternative == STORED ? WORDS : BEFORE, FM_OP_STORE);
    fm_string_time(string, string->orders[ENDS].count);
    return true;
}

/* Runs close to each other, as many as fit a part of the level. */
static struct fm_runs runs_anywhere(const struct fm_known_level *first, size_t run)
{
    const size_t lines = (size_t)first->capacity / first->line / WRITTEN;
    const size_t most = MOST_RUNS * (run + 1);
    return (struct fm_runs){.range = {.lines = lines < most ? lines : most, .unit = first->line},
                            .run = run,
                            .apart = run + 1};
}

/* Runs that end with the first line of a page, an odd number of pages from one to the next. */
static struct fm_runs runs_into_pages(const struct fm_known_level *first, size_t page, size_t run)
{
    const size_t lines = page / first->line, pages = (run + lines) / lines | 1;
    size_t count = (size_t)first->capacity / (OF_LEVEL * pages * page);
    count = count < 1 ? 1 : count > MOST_RUNS ? MOST_RUNS : count;
    return (struct fm_runs){.range = {.from = (lines - (run - 1) % lines) % lines * first->line,
                                      .lines = count * pages * lines,
                                      .unit = first->line},
                            .run = run,
                            .apart = pages * lines};
}

/* Which part of the last lines of runs are not in the first level when they were stored to, and
   when all but they were; and the standard error of either. */
struct missing {
    double stored, until, error;
};

static bool ask(struct fm_lab *lab, size_t run, bool into_pages, struct missing *missing,
                struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const size_t page = lab->machine->info.page_size;
    struct fm_runs runs =
        into_pages ? runs_into_pages(first, page, run) : runs_anywhere(first, run);
    struct fm_taken taken[WAYS];
    struct fm_trial trial = {.name = "runs",
                             .build = build,
                             .data = &runs,
                             .alternatives = into_pages ? WAYS : UNTIL,
                             .group = {.unit = first->line, .span = first->line},
                             .beside = page + runs.range.lines * first->line,
                             .served = true};
    const double step = first[1].height_ns - first->height_ns;
    const size_t ends = runs.range.lines / runs.apart;
    const bool coarse = lab->machine->info.clock.resolution_ns > (double)ends * step;
    fm_trial_plan(lab, &trial);
    /* As many as can be where that leaves few runs, or where the clock's step is longer than what
       all that a round times can take more. */
    if (!fm_levels_are_counted(lab))
        trial.rounds = into_pages || coarse ? FM_TRIAL_ROUNDS : ROUNDS;
    trial.group.count = 1;
    runs.range.from += fm_trial_beside(&trial);
    if (!fm_lab_go_on(lab, 0.5, err) || !fm_trial_run(lab, &trial, taken, err))
        return false;
    missing->stored = (taken[STORED].ns - taken[LOADED].ns) / step;
    missing->until = into_pages ? (taken[UNTIL].ns - taken[LOADED].ns) / step : 1;
    const double stored = taken[STORED].error, until = into_pages ? taken[UNTIL].error : 0;
    missing->error = hypot(fmax(stored, until), taken[LOADED].error) / step;
    return true;
}

/* Whether what is missing is clear: all of it or nothing, and all where nothing was stored. */
static bool is_clear(const struct missing *missing)
{
    const double off = SURE * missing->error;
    return missing->until > fmax(ALL_OF, HALF + off) &&
           (missing->stored < fmin(NONE_OF, HALF - off) ||
            missing->stored > fmax(ALL_OF, HALF + off));
}

/* Asks again, and takes the average, while that is not clear but may become so: the end of a single
   run is little for a coarse clock. */
static bool ask_well(struct fm_lab *lab, size_t run, bool into_pages, struct missing *missing,
                     bool *clear, struct fm_error *err)
{
    struct missing sum = {0, 0, 0};
    bool may_be = true;
    *clear = false;
    for (unsigned times = 1; times <= MOST_TIMES && may_be && !*clear; times++) {
        struct missing once;
        if (!ask(lab, run, into_pages, &once, err))
            return false;
        sum = (struct missing){sum.stored + once.stored, sum.until + once.until,
                               hypot(sum.error, once.error)};
        *missing = (struct missing){sum.stored / times, sum.until / times, sum.error / times};
        *clear = is_clear(missing);
        may_be = SURE * missing->error > HALF - NONE_OF;
    }
    return true;
}

/* The shortest run whose end is missing; 0: none up to the longest, *clear false: not told. */
static bool search(struct fm_lab *lab, size_t longest, bool into_pages, size_t *shortest,
                   bool *clear, struct fm_error *err)
{
    size_t here = 1, gone = 0;
    struct missing missing;
    *clear = true;
    *shortest = 0;
    for (size_t run = 2; run <= longest && !gone && *clear; run *= 2) {
        if (!ask_well(lab, run, into_pages, &missing, clear, err))
            return false;
        here = missing.stored < NONE_OF ? run : here;
        gone = missing.stored > ALL_OF ? run : 0;
    }
    while (gone > here + 1 && *clear) {
        const size_t run = (here + gone) / 2;
        if (!ask_well(lab, run, into_pages, &missing, clear, err))
            return false;
        if (missing.stored < NONE_OF)
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
    const bool asleep = is_false(lab, "prefetch.next_line") && is_false(lab, "prefetch.stride");
    size_t shortest = 0;
    bool clear = false;
    if (possible) {
        const size_t lines = (size_t)first->capacity / first->line / WRITTEN;
        if (!search(lab, lines - 1, !asleep, &shortest, &clear, err))
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
    else if (!clear && !asleep)
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
