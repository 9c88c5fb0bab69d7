/* Which line a full set gives up: laps over blocks of a few sets are run round and round, so that a
 * miss in each lap becomes thousands, and a clock can count them. */
#include <math.h>
#include <stdio.h>

#include "probe/contest.h"
#include "probe/first_level.h"
#include "probe/probe.h"

/* Fresh placements from which one is taken on which the level behind holds all blocks, and how
   close to the best of them is as good. */
#define FEWEST_PLACEMENTS 3
#define MOST_PLACEMENTS   12
#define AS_GOOD           1.03

struct first_level {
    struct fm_first_level is;
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
    struct fm_lap_plan plan = fm_first_level_lap(lab, &level->is, lap);
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
    fm_lap_cycle(&lap, level->is.ways + level->is.ways / 2 + 2);
    const size_t bytes = (lap.blocks + 1) * level->is.stride + 2 * lab->machine->info.page_size;
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

static bool ask_first_level(struct fm_lab *lab, struct first_level *level, struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    level->hit_ns = first->height_ns;
    level->cost_ns = first[1].height_ns - first->height_ns;
    const struct fm_contest contest = {
        .property = "l1d.replacement",
        .curve = "laps-l1d",
        .ways = level->is.ways,
        .visits = (unsigned)(level->is.line / FM_WORD),
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
    if (!fm_recall_first_level(lab, &level.is) || lab->known.count < 2) {
        fm_undetermined(finding,
                        "its ways are not known, so that no lines can be steered to a set");
        return true;
    }
    if (level.is.ways == 1) {
        fm_undetermined(finding, "each line has but one place: there is nothing to choose");
        finding->status = FM_ABSENT;
        return true;
    }
    if (level.is.ways > FM_LAP_WAYS) {
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
    .share = 0.12,
    .detail = true,
    .run = run,
    .properties = properties,
};
