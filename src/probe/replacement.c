/* Which line a full set gives up: laps over blocks of a few sets are run round and round, so that a
 * miss in each lap becomes thousands, and a clock can count them. */
#include <math.h>
#include <stdio.h>

#include "probe/contest.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define SETS 12
/* Fresh placements from which one is taken on which the level behind holds all blocks, and how
   close to the best of them is as good. */
#define FEWEST_PLACEMENTS 3
#define MOST_PLACEMENTS   12
#define AS_GOOD           1.03

struct first_level {
    unsigned ways;
    size_t line, stride;
    double hit_ns, cost_ns; /* of a miss */
};

static bool time_string(struct fm_lab *lab, const struct fm_lap_plan *plan, double *ns,
                        struct fm_error *err)
{
    struct fm_string string;
    return fm_lap_string(&string, plan, err) &&
           fm_time_laps(lab, &string, FM_LAPS_TO_SETTLE, ns, err);
}

static bool count_lap(struct fm_lab *lab, const struct first_level *level,
                      const struct fm_lap_plan *plan, const struct fm_lap *lap,
                      struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct fm_lap_count how = {
        .bit = 0, .settle = FM_LAPS_TO_SETTLE, .hit_ns = level->hit_ns, .cost_ns = level->cost_ns};
    struct fm_string string;
    return fm_lap_string(&string, plan, err) &&
           fm_count_laps(lab, &string, &how, lap, reading, err);
}

static bool time_lap(struct fm_lab *lab, void *data, const struct fm_lap *lap,
                     struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct first_level *level = data;
    struct fm_lap_plan plan = {.block = lap->block,
                               .length = lap->length,
                               .blocks = lap->blocks,
                               .sets = SETS,
                               .line = level->line,
                               .stride = level->stride,
                               .page = lab->machine->info.page_size,
                               .seed = fm_lab_seed(lab)};
    double with, without;
    if (fm_laps_are_counted(lab, 0))
        return count_lap(lab, level, &plan, lap, reading, err);
    if (!time_string(lab, &plan, &with, err))
        return false;
    plan.companion = true;
    if (!time_string(lab, &plan, &without, err))
        return false;
    reading->misses_ns = (with - without) * lap->length;
    reading->lap_ns = with * lap->length;
    return true;
}

/* Blocks that meet in one set of the first level may meet in one of the second too, if that has few
   ways or the pages lie so. Then a miss takes longer than it should, on some pages; but it is still
   one. */
static bool choose_placement(struct fm_lab *lab, struct first_level *level, struct fm_error *err)
{
    struct fm_lap lap;
    struct fm_lap_reading reading;
    double best = INFINITY;
    fm_lap_cycle(&lap, level->ways + level->ways / 2 + 2);
    const size_t bytes = (lap.blocks + 1) * level->stride + 2 * lab->machine->info.page_size;
    for (int i = 0; i < MOST_PLACEMENTS; i++) {
        if (!fm_lab_place(lab, bytes, err) || !time_lap(lab, level, &lap, &reading, err))
            return false;
        best = fmin(best, reading.misses_ns);
        if (fm_laps_are_counted(lab, 0))
            break;
        if (i + 1 >= FEWEST_PLACEMENTS && reading.misses_ns < AS_GOOD * best)
            break;
    }
    return true;
}

/* What earlier probes found of the first level; false: not all that is needed. */
static bool recall(const struct fm_lab *lab, struct first_level *level)
{
    const struct fm_finding *ways = fm_result_find(lab->result, "l1d.ways");
    const struct fm_finding *capacity = fm_result_find(lab->result, "l1d.capacity");
    const struct fm_finding *line = fm_result_find(lab->result, "l1d.line");
    if (!ways || ways->status != FM_MEASURED || !capacity || capacity->status != FM_MEASURED ||
        !line || line->status != FM_MEASURED)
        return false;
    const bool full = ways->value.kind == FM_VALUE_TEXT;
    level->line = (size_t)line->value.number;
    level->ways = full ? (unsigned)(capacity->value.number / line->value.number)
                       : (unsigned)ways->value.number;
    level->stride = (size_t)(capacity->value.number / level->ways);
    return level->stride % level->line == 0 && level->stride > 0;
}

static bool ask_first_level(struct fm_lab *lab, struct first_level *level, struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    level->hit_ns = first->height_ns;
    level->cost_ns = first[1].height_ns - first->height_ns;
    const struct fm_contest contest = {
        .property = "l1d.replacement",
        .curve = "laps-l1d",
        .ways = level->ways,
        .visits = (unsigned)(level->line / FM_WORD),
        .hit_ns = level->hit_ns,
        .cost_ns = level->cost_ns,
        .meter = fm_lap_meter(lab, 0),
        .time = time_lap,
        .data = level,
    };
    return choose_placement(lab, level, err) && fm_contest(lab, &contest, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct first_level level;
    struct fm_finding *finding = fm_result_finding(lab->result, "l1d.replacement", "");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (!recall(lab, &level) || lab->known.count < 2) {
        fm_undetermined(finding,
                        "its ways are not known, so that no lines can be steered to a set");
        return true;
    }
    if (level.ways == 1) {
        fm_undetermined(finding, "each line has but one place: there is nothing to choose");
        finding->status = FM_ABSENT;
        return true;
    }
    if (level.ways > FM_LAP_WAYS) {
        char reason[sizeof finding->note];
        snprintf(reason, sizeof reason, "laps are not made for sets of more than %d ways",
                 FM_LAP_WAYS);
        fm_undetermined(finding, reason);
        return true;
    }
    if (!(lab->known.levels[1].height_ns > lab->known.levels[0].height_ns)) {
        fm_undetermined(finding, "what a miss adds is not known");
        return true;
    }
    return ask_first_level(lab, &level, err);
}

static const char *const properties[] = {"l1d.replacement", NULL};

const struct fm_probe fm_probe_replacement = {
    .name = "replacement",
    .finds = "which line a full set of the first data cache gives up",
    .needs = "gap",
    .curve = "laps-l1d",
    .share = 0.05,
    .detail = true,
    .run = run,
    .properties = properties,
};
