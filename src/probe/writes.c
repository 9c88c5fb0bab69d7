/* What a store does: whether it brings its line in, and where what it writes stays.
 *
 * - write_allocate: lines that are in no cache are stored to, then timed. Where they are served
 * from is where the stores brought them. A level that the first one hides is asked after the lines
 * were driven out of those inside it, beside lines that were loaded.
 * - write_policy of the first level: lines are driven out of it, clean or just written. If that
 * makes a difference, what was written was still there alone: back. If stores take no longer when
 * their lines are not there than when they are, or longer than the level itself needs, they go
 * through. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"
#include "probe/served.h"
#include "probe/trial.h"

/* Parts of a step between two levels: so little is none of it, so much all of it. */
#define NONE_OF 0.35
#define ALL_OF  0.65
/* … where a part of the lines may never have left the level inside: what is there as much. */
#define HARDLY_OF 0.15
/* Times the level inside that drives lines out of it, at most this part of the level itself. */
#define SWEEP 3
#define ROOM  0.6
/* Part of a reference to the next level that a write-back must add, and that is nothing. */
#define SEEN    0.08
#define NOTHING 0.04
/* Standard errors that a difference must have. */
#define SURE 5

static double bytes_of(const struct fm_known_level *level)
{
    return level->capacity > 0 ? level->capacity : level->rise_from;
}

enum { SPOTS, RANGE };

/* Flushed, then loaded, stored to or left alone; and perhaps driven out of the inner levels. */
enum { LOADED, LEFT, STORED, FILLS };

static bool build_fill(const struct fm_trial *trial, unsigned alternative,
                       const struct fm_group *group, struct fm_string *string, struct fm_error *err)
{
    const struct fm_range *sweep = trial->data;
    if (!fm_string_add_spots(string, group, 0, err) ||
        (sweep->lines && !fm_string_add_range(string, sweep, 0, sweep->lines, err)))
        return false;
    fm_string_add_pass(string, SPOTS, FM_OP_FLUSH);
    if (alternative != LEFT)
        fm_string_add_pass(string, SPOTS, alternative == STORED ? FM_OP_STORE : FM_OP_LOAD);
    if (sweep->lines)
        fm_string_add_pass(string, RANGE, FM_OP_LOAD);
    fm_string_time(string, group->count);
    return true;
}

/* At the least in so many rounds. */
static bool time_fills(struct fm_lab *lab, size_t sweep_bytes, unsigned rounds,
                       struct fm_taken taken[FILLS], struct fm_error *err)
{
    const size_t line = lab->known.levels[0].line;
    struct fm_range sweep = {.unit = line, .lines = sweep_bytes / line};
    struct fm_trial trial = {.name = "fill",
                             .build = build_fill,
                             .data = &sweep,
                             .alternatives = FILLS,
                             .group = {.unit = line, .span = line},
                             .beside = sweep.lines * line,
                             .served = true};
    fm_trial_plan(lab, &trial);
    trial.rounds = !trial.counted && rounds > trial.rounds ? rounds : trial.rounds;
    sweep.from = fm_trial_beside(&trial);
    return fm_trial_run(lab, &trial, taken, err);
}

static void decide_allocate(struct fm_lab *lab, size_t level, bool allocates)
{
    struct fm_finding *finding = fm_lab_finding(lab, level, "write_allocate", "");
    if (finding)
        fm_decided(finding, fm_bool(allocates), 0.95, fm_served_meter(lab), "prime-then-measure");
}

static void doubt_allocate(struct fm_lab *lab, size_t level, const char *reason)
{
    struct fm_finding *finding = fm_lab_finding(lab, level, "write_allocate", "");
    if (finding)
        fm_undetermined(finding, reason);
}

/* A level behind one that allocates: what was stored must be there like what was loaded. */
static bool ask_behind(struct fm_lab *lab, size_t level, struct fm_error *err)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    if (!(known->capacity > 0)) {
        doubt_allocate(lab, level, "how much it holds is not known");
        return true;
    }
    const double sweep = fmin(SWEEP * bytes_of(known - 1), ROOM * bytes_of(known));
    struct fm_taken taken[FILLS], inner[FILLS];
    if (!time_fills(lab, 0, 0, inner, err) || !time_fills(lab, (size_t)sweep, 0, taken, err))
        return false;
    const double step = known[1].height_ns - known->height_ns;
    const double more = (taken[STORED].ns - taken[LOADED].ns) / step;
    const double out = taken[LOADED].ns - inner[LOADED].ns;
    if (out < ALL_OF * (known->height_ns - known[-1].height_ns))
        doubt_allocate(lab, level, "lines could not be driven out of the level inside it");
    else if (fabs(more) < HARDLY_OF)
        decide_allocate(lab, level, true);
    else if (more > ALL_OF)
        decide_allocate(lab, level, false);
    else
        doubt_allocate(lab, level, "some of what was stored was there and some was not");
    return true;
}

/* Which levels serve what was stored and what was left alone after a flush. What is not clear is
   asked again, in as many rounds as can be: translation may differ by more than a level does. */
static bool see_fills(struct fm_lab *lab, struct fm_served *stored, struct fm_served *left,
                      struct fm_error *err)
{
    static const unsigned rounds[] = {0, FM_TRIAL_ROUNDS, FM_TRIAL_ROUNDS};
    struct fm_taken taken[FILLS];
    *stored = *left = (struct fm_served){.clear = false};
    for (size_t look = 0; look < sizeof rounds / sizeof *rounds; look++) {
        if (!time_fills(lab, 0, rounds[look], taken, err))
            return false;
        *stored = fm_trial_served(lab, taken[STORED], taken[LOADED]);
        *left = fm_trial_served(lab, taken[LEFT], taken[LOADED]);
        if (stored->clear && left->clear)
            break;
    }
    return true;
}

static bool ask_allocate(struct fm_lab *lab, struct fm_error *err)
{
    const size_t levels = lab->known.count - 1;
    struct fm_served stored, left;
    if (!see_fills(lab, &stored, &left, err))
        return false;
    const bool clear = stored.clear && left.clear && left.level > 0;
    for (size_t level = 0; level < levels; level++) {
        if (!clear)
            doubt_allocate(lab, level,
                           left.level > 0 ? "some of what was stored was there and some was not"
                                          : "no instruction takes lines out of the caches here");
        else if (level < stored.level)
            decide_allocate(lab, level, false);
        else if (level == stored.level && level < left.level)
            decide_allocate(lab, level, true);
        else if (stored.level >= left.level)
            doubt_allocate(lab, level, "what is flushed stays in this level, or beyond it");
        else if (!ask_behind(lab, level, err))
            return false;
    }
    return true;
}

/* Two ranges as large as the first level: each drives out the other. */
enum { OURS, OTHERS, CODES };
/* Loads of what was driven out, clean or written; stores to what is in, or is not; loads of what is
   in. */
enum { CLEAN, DIRTY, INSIDE, OUTSIDE, HITS, POLICIES };

static bool build_policy(const struct fm_trial *trial, unsigned alternative,
                         const struct fm_group *group, struct fm_string *string,
                         struct fm_error *err)
{
    const struct fm_range *ranges = trial->data;
    (void)group;
    for (size_t i = 0; i < CODES; i++)
        if (!fm_string_add_range(string, &ranges[i], 0, ranges[i].lines, err))
            return false;
    const bool store = alternative == INSIDE || alternative == OUTSIDE;
    const bool ours = store || alternative == HITS;
    fm_string_add_pass(string, OTHERS, FM_OP_LOAD);
    fm_string_add_pass(string, OURS, FM_OP_LOAD);
    if (alternative == DIRTY || alternative == INSIDE)
        fm_string_add_pass(string, OURS, FM_OP_STORE);
    /* As often as they are used when they are written: of what draws lots more is left else. */
    if (alternative == CLEAN || alternative == HITS)
        fm_string_add_pass(string, OURS, FM_OP_LOAD);
    if (alternative == OUTSIDE)
        fm_string_add_pass(string, OTHERS, FM_OP_LOAD);
    fm_string_time_pass(string, ours ? OURS : OTHERS, store ? FM_OP_STORE : FM_OP_LOAD);
    return true;
}

static bool is_exclusive(const struct fm_lab *lab, const char *property)
{
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED &&
           strcmp(finding->value.text, "exclusive") == 0;
}

/* Stores to lines that are not in the level end beyond it, and that takes longer: so those to lines
   that are in it end there. */
static bool ends_inside(const struct fm_lab *lab, const struct fm_taken taken[POLICIES])
{
    const struct fm_finding *allocates = fm_result_find(lab->result, "l1d.write_allocate");
    return allocates && allocates->status == FM_MEASURED && !allocates->value.truth &&
           taken[OUTSIDE].ns - taken[INSIDE].ns >
               SURE * hypot(taken[OUTSIDE].error, taken[INSIDE].error);
}

/* What lines may take that were written and leave the next level too, since a range of pages is too
   much for some of its sets: as many as were not served by it, twice the way out. */
static double further_out(const struct fm_lab *lab, double clean_ns)
{
    const struct fm_known_level *next = &lab->known.levels[1];
    if (lab->known.count < 3)
        return 0;
    const double missed = (clean_ns - next->height_ns) / (next[1].height_ns - next->height_ns);
    return 2 * fmax(0, missed) * next[1].height_ns;
}

/* The luckier half of the rounds, where most of a range lies in the next level. */
static struct fm_taken with_luck(const struct fm_taken *taken)
{
    const size_t half = FM_RANKS / 2;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < half; i++)
        sum += taken->ranks[i];
    const double mean = sum / (double)half;
    for (size_t i = 0; i < half; i++)
        squares += (taken->ranks[i] - mean) * (taken->ranks[i] - mean);
    return (struct fm_taken){
        .ns = mean,
        .error = hypot(sqrt(squares / (double)(half - 1) / (double)half), taken->grain)};
}

static void report_policy(struct fm_lab *lab, const struct fm_taken taken[POLICIES])
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const struct fm_taken dirty = with_luck(&taken[DIRTY]), clean = with_luck(&taken[CLEAN]);
    const double all_more = dirty.ns - clean.ns;
    const double more = all_more - further_out(lab, clean.ns);
    const double error = hypot(dirty.error, clean.error);
    /* What leaves the level goes into the next, written or not; what stores go past to never does.
     */
    const bool exclusive = is_exclusive(lab, "l2.inclusion");
    const double apart = taken[OUTSIDE].ns - taken[INSIDE].ns;
    const double step = first[1].height_ns - first->height_ns;
    /* Prefetchers may have driven some of it out. */
    const bool slow = taken[INSIDE].ns > taken[HITS].ns + NONE_OF * step;
    struct fm_finding *finding = fm_lab_finding(lab, 0, "write_policy", "");
    if (!finding)
        return;
    if (more > SEEN * clean.ns && more > SURE * error)
        fm_decided(finding, fm_text("back"), 0.95, "clock", "dirty-victims");
    else if (!exclusive && all_more > NOTHING * clean.ns && all_more > SURE * error)
        fm_undetermined(finding, "lines that were written leave the level hardly slower");
    else if (apart < SEEN * taken[INSIDE].ns || slow)
        fm_decided(finding, fm_text("through"), 0.95, "clock", "stores");
    else if (exclusive || ends_inside(lab, taken))
        fm_decided(finding, fm_text("back"), 0.9, "clock", "stores");
    else {
        finding->candidate_count = 2;
        finding->candidates[0] = fm_text("back");
        finding->candidates[1] = fm_text("through");
        fm_undetermined(finding, "that lines were written costs nothing when they leave the level");
    }
}

static bool ask_policy(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const size_t lines = (size_t)bytes_of(first) / first->line;
    struct fm_range ranges[CODES];
    struct fm_taken taken[POLICIES];
    struct fm_trial trial = {.name = "written",
                             .build = build_policy,
                             .data = ranges,
                             .alternatives = POLICIES,
                             .group = {.unit = first->line, .span = first->line},
                             .beside = 2 * lines * first->line};
    fm_trial_plan(lab, &trial);
    trial.group.count = 1;
    for (size_t i = 0; i < CODES; i++)
        ranges[i] = (struct fm_range){.from = fm_trial_beside(&trial) + i * lines * first->line,
                                      .lines = lines,
                                      .unit = first->line};
    if (!fm_trial_run(lab, &trial, taken, err))
        return false;
    report_policy(lab, taken);
    return true;
}

static const char *const properties[] = {"l1d.write_allocate", "l1d.write_policy", NULL};
static const char *const outer_attributes[] = {"write_allocate", NULL};

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known *known = &lab->known;
    if (known->count >= 2 && fm_first_line(lab))
        return ask_allocate(lab, err) && fm_lab_go_on(lab, 0.5, err) && ask_policy(lab, err);
    for (const char *const *property = properties; *property; property++) {
        struct fm_finding *finding = fm_result_finding(lab->result, *property, "");
        if (finding)
            fm_undetermined(finding, "the first level's line is not known");
    }
    return true;
}

const struct fm_probe fm_probe_writes = {
    .name = "writes",
    .finds = "whether stores bring lines in, and where they are kept",
    .needs = "levels,gap,inclusion",
    .share = 0.05,
    .detail = true,
    .run = run,
    .properties = properties,
    .outer = outer_attributes,
};
