#include "probe/first_level.h"

#include <math.h>

#define SETS 12
/* Fresh placements, on one of which the level behind may hold all lines. */
#define PLACEMENTS 16
/* What the latency may differ by with more lines to a set, and how many numbers of them must agree.
 */
#define SAME   0.02
#define ENOUGH 3
/* … and by which levels are at least apart. */
#define NEARLY 0.1
/* What a set may have held before, of which so much is tried. */
#define HISTORIES 16
/* References of a run, and laps before it. */
#define RUN  4096
#define LAPS 24

bool fm_recall_first_level(const struct fm_lab *lab, struct fm_first_level *level)
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

struct fm_lap_plan fm_first_level_lap(struct fm_lab *lab, const struct fm_first_level *level,
                                      const struct fm_lap *lap)
{
    return (struct fm_lap_plan){.block = lap->block,
                                .length = lap->length,
                                .blocks = lap->blocks,
                                .sets = SETS,
                                .line = level->line,
                                .stride = level->stride,
                                .page = lab->machine->info.page_size,
                                .seed = fm_lab_seed(lab)};
}

/* What lines of a cycle take longer than if all were in the first level. */
static bool time_cycle(struct fm_lab *lab, const struct fm_first_level *level,
                       const struct fm_lap *cycle, double *longer, struct fm_error *err)
{
    static const struct fm_care care = {
        .repeats = 3, .references = RUN, .least = RUN, .laps = LAPS};
    struct fm_lap_plan plan = fm_first_level_lap(lab, level, cycle);
    double ns[2];
    for (int i = 0; i < 2; i++) {
        struct fm_string string;
        plan.companion = i == 1;
        if (!fm_lap_string(&string, &plan, err) || !fm_lab_time(lab, &string, &care, &ns[i], err))
            return false;
    }
    *longer = ns[0] - ns[1];
    return true;
}

/* The same on the luckiest of some placements: lines that meet in one set of the level behind, as
   pages may have it, only make it longer. */
static bool time_luckiest(struct fm_lab *lab, const struct fm_first_level *level, unsigned blocks,
                          double *longer, struct fm_error *err)
{
    struct fm_lap cycle;
    *longer = INFINITY;
    fm_lap_cycle(&cycle, blocks);
    const size_t bytes = (blocks + 1) * level->stride + 2 * lab->machine->info.page_size;
    for (int i = 0; i < PLACEMENTS; i++) {
        double here;
        if (!fm_lab_go_on(lab, 0.5, err) || !fm_lab_place(lab, bytes, err) ||
            !time_cycle(lab, level, &cycle, &here, err))
            return false;
        *longer = fmin(*longer, here);
    }
    return true;
}

/* The part of a cycle's references that miss where a set draws lots for the line to give up. */
static double misses_by_lot(const struct fm_first_level *level, unsigned blocks)
{
    struct fm_lap cycle;
    fm_lap_cycle(&cycle, blocks);
    const struct fm_lap_misses misses =
        fm_lap_predict(&cycle, FM_REPLACE_RANDOM, level->ways, HISTORIES, 1);
    return (misses.low + misses.high) / 2 / blocks;
}

/* What a miss adds, as one number of lines to a set after the other has it. */
struct agreement {
    double last;
    unsigned times; /* in a row */
};

static bool agrees(struct agreement *agreement, double hit, double miss)
{
    const bool same = fabs(miss - agreement->last) < SAME * (hit + miss);
    agreement->times = same ? agreement->times + 1 : 1;
    agreement->last = miss;
    return agreement->times == ENOUGH;
}

bool fm_second_latency(struct fm_lab *lab, double *ns, struct fm_error *err)
{
    const double hit = lab->known.levels[0].height_ns;
    struct fm_first_level level;
    struct agreement all = {0, 0}, by_lot = {0, 0};
    *ns = 0;
    if (!fm_recall_first_level(lab, &level) || 3 * level.ways + 1 > FM_LAP_MOST)
        return true;
    /* Lots, and policies that keep some lines whatever comes, let hits through: the fewer the more
       lines there are. Where that makes a difference, it is the one that lots make, or it is not
       known what a miss takes. Few lines come first: the level behind holds those most often. */
    const unsigned blocks[] = {level.ways + 1,     level.ways + 2,     level.ways + 3,
                               2 * level.ways + 1, 2 * level.ways + 2, 3 * level.ways + 1};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && *ns == 0; i++) {
        double longer;
        if (!time_luckiest(lab, &level, blocks[i], &longer, err))
            return false;
        const double drawn = longer / misses_by_lot(&level, blocks[i]);
        if (agrees(&all, hit, longer))
            *ns = hit + longer;
        else if (agrees(&by_lot, hit, drawn))
            *ns = hit + drawn;
    }
    return true;
}

bool fm_second_is_third(const struct fm_lab *lab, double ns)
{
    return ns > (1 - NEARLY) * lab->known.levels[2].height_ns;
}
