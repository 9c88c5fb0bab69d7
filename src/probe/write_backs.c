/* Where outer levels keep what was written: in themselves (back), or in what is behind them too
 * (through).
 *
 * Lines that a level holds are written, read again so that nothing dirty is left further inside,
 * and then driven out by others, beside lines that were only read. If that takes longer the level
 * had to write them: back. If it takes no longer, either that costs nothing, or what was written
 * was passed on at once. Then the stores themselves must have taken longer than the levels up to
 * this one need: through. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"
#include "probe/served.h"
#include "probe/trial.h"

/* Times the level that drives everything out of it; on scattered pages its capacity is what they
   leave of it, about half or more. */
#define TURNS     1.5
#define SCATTERED 3
/* Part of a reference behind the level that writing a line must add, and that is nothing. */
#define SEEN    0.2
#define NOTHING 0.05
#define SURE    5    /* standard errors that a difference must have */
#define ENOUGH  0.35 /* of the step to what is behind the level */
/* Rounds; and what driving out a larger level would take longer than a survey can spend. */
#define ROUNDS        4
#define MOST_BYTES    (4u << 20)
#define MOST_THOROUGH (32u << 20)

enum { OURS, OTHERS, RANGES };
/* Driven out clean, and dirty; and stores to what the level holds, beside loads, which are asked
   where leaving has not told. */
enum { CLEAN, DIRTY, STORES, LOADS, WAYS };
#define PAIR 2

struct question {
    struct fm_range ranges[RANGES];
    unsigned first; /* of the pair of ways */
};

static bool build(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err)
{
    const struct question *question = trial->data;
    const unsigned way = question->first + alternative;
    const bool driven = way == CLEAN || way == DIRTY;
    (void)group;
    for (size_t i = 0; i < RANGES; i++)
        if (!fm_string_add_range(string, &question->ranges[i], 0, question->ranges[i].lines, err))
            return false;
    fm_string_add_pass(string, OTHERS, FM_OP_LOAD);
    fm_string_add_pass(string, OURS, FM_OP_LOAD);
    if (driven) {
        fm_string_add_pass(string, OURS, way == DIRTY ? FM_OP_STORE : FM_OP_LOAD);
        fm_string_add_pass(string, OURS, FM_OP_LOAD);
    }
    fm_string_time_pass(string, driven ? OTHERS : OURS, way == STORES ? FM_OP_STORE : FM_OP_LOAD);
    return true;
}

static double error_of(struct fm_taken a, struct fm_taken b)
{
    return hypot(a.error, b.error);
}

/* What was found of a level's inclusion; NULL: nothing. */
static const char *inclusion_of(const struct fm_lab *lab, size_t index)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "l%zu.inclusion", index + 1);
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED ? finding->value.text : NULL;
}

/* Whether it holds a line that a level inside holds too, so that a store may end there: an
   exclusive level does not, and stores go past it whatever its policy. */
static bool is_met_by_stores(const struct fm_lab *lab, size_t index)
{
    const char *inclusion = inclusion_of(lab, index);
    return inclusion && strcmp(inclusion, "exclusive") != 0;
}

/* Whether the next level takes in what leaves this one, written or not. */
static bool moves_outward(const struct fm_lab *lab, size_t index)
{
    const char *inclusion = inclusion_of(lab, index + 1);
    return inclusion && strcmp(inclusion, "exclusive") == 0;
}

/* What writing a line adds when it leaves the level, and the error of that. */
struct cost {
    double ns, error;
};

static struct cost cost_of(const struct fm_taken taken[WAYS], double lines_driven)
{
    return (struct cost){(taken[DIRTY].ns - taken[CLEAN].ns) * lines_driven,
                         error_of(taken[DIRTY], taken[CLEAN]) * lines_driven};
}

static bool is_seen(struct cost cost, const struct fm_known_level *level)
{
    return cost.ns > SEEN * level[1].height_ns && cost.ns > SURE * cost.error;
}

static void report_through(struct fm_lab *lab, size_t index, const struct fm_taken taken[WAYS],
                           struct cost cost, struct fm_finding *finding)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double step = level[1].height_ns - level->height_ns;
    const double more = taken[STORES].ns - taken[LOADS].ns;
    const double inside = lab->known.levels[0].height_ns + level->height_ns;
    const bool slow = more > inside + ENOUGH * step &&
                      more - inside > SURE * error_of(taken[STORES], taken[LOADS]);
    if (taken[CLEAN].ns - taken[LOADS].ns < ENOUGH * step && !(cost.ns > SEEN * level[1].height_ns))
        fm_undetermined(finding, "lines could not be driven out of it, or that takes no time");
    else if (fabs(cost.ns) < NOTHING * level[1].height_ns + cost.error && slow &&
             is_met_by_stores(lab, index))
        fm_decided(finding, fm_text("through"), 0.9, "clock", "stores");
    else {
        finding->candidate_count = 2;
        finding->candidates[0] = fm_text("back");
        finding->candidates[1] = fm_text("through");
        fm_undetermined(finding, "that lines were written costs nothing when they leave the level");
    }
}

/* Why it is not asked; NULL: it is. */
static const char *obstacle(const struct fm_lab *lab, size_t index, size_t bytes)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const bool thorough = lab->options->effort == FM_THOROUGH;
    if (!(level->capacity > 0))
        return "how much it holds is not known, nor what drives lines out of it";
    if (level->capacity > (thorough ? MOST_THOROUGH : MOST_BYTES))
        return thorough ? "driving lines out of so large a level takes too long"
                        : "driving lines out of so large a level takes long: try --thorough";
    if (moves_outward(lab, index))
        return "the next level takes in what leaves this one, written or not";
    return bytes > fm_lab_limit(lab) ? "there is not memory enough to drive lines out of it" : NULL;
}

/* So many lines are enough. */
#define ENOUGH_LINES 2048

/* Of how many lines one is touched: where counters have shown that the level misses as often then,
   those fill the sets that they use as all lines fill all. They must be more than levels inside
   hold wherever lines lie. */
static size_t thinness(const struct fm_lab *lab, size_t index, size_t unit)
{
    const size_t lines = (size_t)lab->known.levels[index].capacity / unit;
    const size_t page = lab->machine->info.page_size / unit;
    size_t thin = 1, enough = ENOUGH_LINES;
    for (unsigned bit = 0; bit <= index; bit++) {
        const struct fm_counted *counted = fm_lab_counted(lab, bit);
        if (!counted || (bit == index && !counted->thin))
            return 1;
        const size_t inside = bit < index ? 2 * fm_held_anywhere(counted) : 0;
        enough = inside > enough ? inside : enough;
    }
    while (2 * thin <= page && lines / (2 * thin) >= enough)
        thin *= 2;
    return thin;
}

static bool ask(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const size_t line = level->line ? level->line : lab->walk.unit;
    const size_t unit = line * thinness(lab, index, line);
    const size_t ours = (size_t)level->capacity / unit;
    const size_t others = (size_t)((lab->known.scattered ? SCATTERED : TURNS) * (double)ours);
    struct question question = {.first = CLEAN};
    struct fm_taken taken[WAYS];
    struct fm_trial trial = {.name = "write-backs",
                             .build = build,
                             .data = &question,
                             .alternatives = PAIR,
                             .group = {.unit = unit, .span = unit},
                             .beside = (ours + others) * unit};
    fm_trial_plan(lab, &trial);
    /* What is driven out, and what serves it, is about the same each time where that is counted. */
    trial.rounds = fm_levels_are_fairly_counted(lab) ? ROUNDS : ROUNDS * 2;
    trial.group.count = 1;
    const size_t from = fm_trial_beside(&trial);
    const char *why = obstacle(lab, index, from + trial.beside);
    struct fm_finding *finding = fm_lab_finding(lab, index, "write_policy", "");
    if (!finding)
        return true;
    if (why) {
        fm_undetermined(finding, why);
        return true;
    }
    question.ranges[OURS] = (struct fm_range){.from = from, .lines = ours, .unit = unit};
    question.ranges[OTHERS] =
        (struct fm_range){.from = from + ours * unit, .lines = others, .unit = unit};
    if (!fm_lab_go_on(lab, 0.4, err) || !fm_trial_run(lab, &trial, taken, err))
        return false;
    const struct cost cost = cost_of(taken, (double)others / (double)ours);
    if (is_seen(cost, level)) {
        fm_decided(finding, fm_text("back"), 0.95, "clock", "dirty-victims");
        return true;
    }
    question.first = STORES;
    if (!fm_lab_go_on(lab, 0.7, err) || !fm_trial_run(lab, &trial, taken + STORES, err))
        return false;
    report_through(lab, index, taken, cost, finding);
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    if (!lab->known.memory_seen)
        return true;
    for (size_t i = 1; i + 1 < lab->known.count; i++)
        if (!ask(lab, i, err))
            return false;
    return true;
}

static const char *const outer_attributes[] = {"write_policy", NULL};

const struct fm_probe fm_probe_write_backs = {
    .name = "write-backs",
    .finds = "where outer levels keep what was written",
    .needs = "levels,capacity,inclusion",
    .share = 0.04,
    .detail = true,
    .run = run,
    .outer = outer_attributes,
    .second = "l2.write_policy",
    .no_second = FM_NO_SECOND_CACHE,
};
