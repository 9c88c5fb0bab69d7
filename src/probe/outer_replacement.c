/* Which line a full set of an outer level gives up, where a program can choose the set: ways and
 * what is built in are known, and pages lie one after the other, or there are larger ones in which
 * the sets of all levels repeat.
 *
 * Laps are those of the first level (replacement.c), but what the levels inside hold the outer one
 * never sees. So each step of a lap goes through several of its sets that all share one set inside:
 * at least as many as that has ways. A block does not come up twice in a row, and when it comes up
 * again, too many others have been there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/contest.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define MOST_SETS 32

struct outer {
    size_t index;
    unsigned ways, sets;
    size_t line, stride, apart;
    size_t page;            /* on pages of this size */
    double beyond_first_ns; /* what a hit takes longer than one in the first level */
};

static bool time_string(struct fm_lab *lab, const struct fm_lap_plan *plan, double *ns,
                        struct fm_error *err)
{
    struct fm_string string;
    return fm_lap_string(&string, plan, err) &&
           fm_time_laps(lab, &string, FM_LAPS_TO_SETTLE, ns, err);
}

static bool count_lap(struct fm_lab *lab, const struct outer *outer, const struct fm_lap_plan *plan,
                      const struct fm_lap *lap, struct fm_lap_reading *reading,
                      struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[outer->index];
    const struct fm_lap_count how = {.bit = (unsigned)outer->index,
                                     .settle = FM_LAPS_TO_SETTLE,
                                     .hit_ns = level->height_ns,
                                     .cost_ns = level[1].height_ns - level->height_ns};
    struct fm_string string;
    return fm_lap_string(&string, plan, err) &&
           fm_count_laps(lab, &string, &how, lap, reading, err);
}

/* The companion visits the same pages and hits the first level. Who counts needs none. */
static bool time_lap(struct fm_lab *lab, void *data, const struct fm_lap *lap,
                     struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct outer *outer = data;
    struct fm_lap_plan plan = {.block = lap->block,
                               .length = lap->length,
                               .blocks = lap->blocks,
                               .sets = outer->sets,
                               .line = outer->line,
                               .stride = outer->stride,
                               .apart = outer->apart,
                               .page = lab->machine->info.page_size,
                               .seed = fm_lab_seed(lab)};
    double with, without;
    const size_t bytes = (lap->blocks + 2) * outer->stride + 2 * plan.page;
    if (!fm_lab_place_on(lab, bytes, outer->page, err))
        return false;
    if (fm_laps_are_counted(lab, (unsigned)outer->index))
        return count_lap(lab, outer, &plan, lap, reading, err);
    if (!time_string(lab, &plan, &with, err))
        return false;
    plan.companion = true;
    if (!time_string(lab, &plan, &without, err))
        return false;
    reading->misses_ns = (with - without - outer->beyond_first_ns) * lap->length;
    reading->lap_ns = with * lap->length;
    return true;
}

/* A measured number of a level; 0: there is none. */
static double number_of(struct fm_lab *lab, size_t index, const char *attribute)
{
    const struct fm_finding *finding = fm_lab_measured(lab, index, attribute);
    return finding && finding->value.kind == FM_VALUE_NUMBER ? finding->value.number : 0;
}

/* Bytes from a line to the next of its set; 0: not known. */
static size_t stride_of(struct fm_lab *lab, size_t index)
{
    const double ways = number_of(lab, index, "ways");
    return ways > 0 ? (size_t)(number_of(lab, index, "physical_capacity") / ways) : 0;
}

/* Whether sets of the outer level that are a stride of the level inside apart share a set in all
   levels inside, and are enough to leave nothing there. */
static bool overruns_inside(struct fm_lab *lab, const struct outer *outer)
{
    for (size_t i = 0; i < outer->index; i++) {
        const size_t stride = stride_of(lab, i);
        if (!stride || outer->apart % stride || outer->sets < number_of(lab, i, "ways"))
            return false;
    }
    return true;
}

/* Whether a page begins anew with the first set of every level up to the outer one. */
static bool repeats_sets(struct fm_lab *lab, const struct outer *outer, size_t page)
{
    for (size_t i = 1; i <= outer->index; i++) {
        const size_t stride = stride_of(lab, i);
        if (!stride || page % stride)
            return false;
    }
    return true;
}

/* The pages on which lines can be steered; 0: none. Such as may be asked for, and are to be had. */
static size_t choose_page(struct fm_lab *lab, const struct outer *outer)
{
    const struct fm_machine_info *info = &lab->machine->info;
    struct fm_error ignored;
    if (!lab->known.scattered)
        return info->page_size;
    for (size_t i = 0; i < info->page_size_count; i++)
        if (repeats_sets(lab, outer, info->page_sizes[i]) &&
            info->page_sizes[i] <= fm_lab_limit(lab) &&
            fm_lab_place_on(lab, outer->stride, info->page_sizes[i], &ignored))
            return info->page_sizes[i];
    return 0;
}

/* Why a level is not asked; NULL: it is. */
static const char *plan_level(struct fm_lab *lab, size_t index, struct outer *outer)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_finding *inclusion = fm_lab_measured(lab, index, "inclusion");
    *outer = (struct outer){.index = index,
                            .ways = (unsigned)number_of(lab, index, "ways"),
                            .line = level->line,
                            .stride = stride_of(lab, index),
                            .apart = stride_of(lab, index - 1),
                            .beyond_first_ns = level->height_ns - lab->known.levels[0].height_ns};
    if (!outer->ways || !outer->stride || !outer->line)
        return "its ways are not known, so that no lines can be steered to a set";
    outer->page = choose_page(lab, outer);
    if (!outer->page)
        return "pages lie anywhere, so that no lines can be steered to a set";
    if (!inclusion || strcmp(inclusion->value.text, "exclusive") == 0)
        return "it may be filled by what leaves the level inside, and not by what is asked for";
    if (outer->ways < 2 || outer->ways > FM_LAP_WAYS)
        return "laps are not made for sets of so many ways";
    const size_t sets = outer->apart ? outer->stride / outer->apart : 0;
    outer->sets = sets < MOST_SETS ? (unsigned)sets : MOST_SETS;
    if (!overruns_inside(lab, outer))
        return "too few of its sets share one of the level inside to keep lines out of that";
    return (double)(2 * outer->ways + 4) * (double)outer->stride > (double)fm_lab_limit(lab)
               ? "there is not memory enough for its sets"
               : NULL;
}

static bool ask(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    struct outer outer;
    char property[FM_PROPERTY_TEXT], curve[FM_PROPERTY_TEXT];
    const char *why = plan_level(lab, index, &outer);
    struct fm_finding *finding = fm_lab_finding(lab, index, "replacement", "");
    if (finding && why)
        fm_undetermined(finding, why);
    if (!finding || why)
        return true;
    snprintf(property, sizeof property, "%s", finding->property);
    snprintf(curve, sizeof curve, "laps-l%zu", index + 1);
    const struct fm_contest contest = {
        .property = property,
        .curve = curve,
        .ways = outer.ways,
        .visits = (unsigned)(outer.line / FM_WORD),
        .hit_ns = level->height_ns,
        .cost_ns = level[1].height_ns - level->height_ns,
        .meter = fm_lap_meter(lab, (unsigned)index),
        .time = time_lap,
        .data = &outer,
    };
    return fm_contest(lab, &contest, err);
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

static const char *const outer_attributes[] = {"replacement", NULL};

const struct fm_probe fm_probe_outer_replacement = {
    .name = "outer-replacement",
    .finds = "which line a full set of an outer cache gives up",
    .needs = "levels,ways,inclusion",
    .share = 0.04,
    .detail = true,
    .run = run,
    .outer = outer_attributes,
    .second = "l2.replacement",
    .no_second = FM_NO_SECOND_CACHE,
};
