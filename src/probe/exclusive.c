/* What fills a level: loads, or the victims of the level inside.
 *
 * The level is filled with lines of ours and with some that fill the level inside. Then other lines
 * are loaded and flushed again, a group at a time, so few that the level inside has room for them
 * beside a part of those. A level that loads fill has to make room too, and loses some of ours
 * whenever more of the others than before fall into a set; one that victims fill does not notice.
 * What it would lose is seen if each group is driven out of the level inside before it is flushed:
 * then it has been in this one, whatever fills it. It takes no policy inside that keeps what is in
 * use, as watching hot lines does. */
#include "probe/exclusive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "probe/served.h"
#include "probe/ways_inside.h"
#include "refstring/refstring.h"

#define GROUPS 12
/* Part of the level inside that a group takes: of levels beyond the first pages share sets by
   chance. */
#define PART_FIRST 0.75
#define PART_OUTER 0.33
/* Times the blocks that are used, to choose from: so they do not lie side by side, where no two
   would share a set. */
#define SPARE 2
/* Lines of ours at the most: more take too long. */
#define MOST_LINES ((size_t)1 << 16)
/* Luck with pages is more of the smaller levels; and by a clock there is more than luck. */
#define PLACEMENTS_SECOND  16
#define PLACEMENTS_OUTER   6
#define PLACEMENTS_COUNTED 4
/* … and of those where these did not tell. */
#define PLACEMENTS_MOST 64
/* Part of ours that is lost at least when groups are driven out. */
#define LOST 0.01
/* Part of that which is lost otherwise, neither by the one kind nor by the other; and the standard
   errors that tell it from that. */
#define BETWEEN 0.5
#define SURE    3.5

/* Ours, those that fill the level inside, and the groups. */
enum { OURS, INSIDE, FIRST_GROUP };
/* No group; each flushed while it is in the level inside; each driven out of that first. */
enum { ALONE, FLUSHED, DRIVEN_OUT, WAYS };

struct plan {
    size_t outer, unit;
    size_t ours, inside;  /* lines */
    size_t block, used;   /* bytes, and lines of it */
    size_t group, blocks; /* blocks of a group, and all to choose from */
    uint32_t *number;     /* of blocks, behind ours */
};

static size_t front_of(const struct plan *plan)
{
    return ((plan->ours + plan->inside) * plan->unit + plan->block - 1) / plan->block;
}

static size_t bytes_of_plan(const struct plan *plan)
{
    return (front_of(plan) + plan->blocks) * plan->block;
}

static bool add_orders(const struct plan *plan, struct fm_string *string, struct fm_error *err)
{
    const struct fm_range front = {.lines = plan->ours + plan->inside, .unit = plan->unit};
    bool good = fm_string_add_range(string, &front, 0, plan->ours, err) &&
                fm_string_add_range(string, &front, plan->ours, plan->inside, err);
    for (size_t i = 0; i < GROUPS && good; i++)
        good = fm_string_add_blocks(string,
                                    &(struct fm_blocks){.number = plan->number + i * plan->group,
                                                        .count = plan->group,
                                                        .bytes = plan->block,
                                                        .lines = plan->used,
                                                        .unit = plan->unit},
                                    err);
    return good;
}

/* What a line of ours takes after that. */
static bool time_ours(struct fm_lab *lab, const struct plan *plan, unsigned way, double *ns,
                      struct fm_error *err)
{
    char label[FM_STRING_LABEL];
    struct fm_string string;
    snprintf(label, sizeof label, "filled(level=%zu,way=%u,ours=%zu,block=%zu,first=%u)",
             plan->outer, way, plan->ours, plan->block, plan->number[0]);
    fm_string_empty(&string, label, bytes_of_plan(plan));
    if (!add_orders(plan, &string, err)) {
        fm_string_free(&string);
        return false;
    }
    /* Their chain was written, which need not have brought them in. */
    fm_string_add_pass(&string, OURS, FM_OP_LOAD);
    fm_string_add_pass(&string, INSIDE, FM_OP_LOAD);
    for (unsigned i = FIRST_GROUP; i < FIRST_GROUP + GROUPS; i++) {
        if (way != ALONE)
            fm_string_add_pass(&string, i, FM_OP_LOAD);
        if (way == FLUSHED)
            fm_string_add_pass(&string, i, FM_OP_FLUSH);
        fm_string_add_pass(&string, INSIDE, FM_OP_LOAD);
        if (way == DRIVEN_OUT)
            fm_string_add_pass(&string, i, FM_OP_FLUSH);
    }
    fm_string_time(&string, plan->ours);
    return fm_served_once(lab, &string, ns, err);
}

/* False: there is no room for it, or the first level is not known. */
static bool make_plan(struct fm_lab *lab, size_t outer, struct plan *plan)
{
    const struct fm_known_level *level = &lab->known.levels[outer];
    const size_t page = lab->machine->info.page_size, way = fm_way_of(lab, 0);
    const size_t unit = level->line ? level->line : lab->walk.unit;
    const double ways = fm_ways_of(lab, 0);
    *plan = (struct plan){
        .outer = outer,
        .unit = unit,
        .ours = (size_t)(fm_held_of(level) / (double)unit),
        .inside = (size_t)(fm_held_of(level - 1) / (double)unit),
    };
    if (outer == 1) {
        /* The same sets of the first level each time, with room in all of them. */
        plan->block = way;
        plan->used = way / unit;
        plan->group = (size_t)fmax(1, PART_FIRST * ways);
    } else {
        plan->block = page;
        plan->used = page / unit;
        plan->group = (size_t)(PART_OUTER * fm_held_of(level - 1) / (double)page);
    }
    plan->blocks = SPARE * GROUPS * plan->group;
    return plan->used > 0 && plan->group > 0 && plan->block % unit == 0 &&
           plan->ours > plan->group * plan->used && plan->ours <= MOST_LINES &&
           bytes_of_plan(plan) <= fm_lab_limit(lab);
}

/* Chooses other blocks, and says what a line of ours takes each way. */
static bool time_placement(struct fm_lab *lab, const struct plan *plan, double ns[WAYS],
                           struct fm_error *err)
{
    struct fm_rng rng;
    if (!fm_lab_place(lab, bytes_of_plan(plan), err))
        return false;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    for (size_t i = 0; i < plan->blocks; i++)
        plan->number[i] = (uint32_t)(front_of(plan) + i);
    fm_rng_shuffle(&rng, plan->number, plan->blocks);
    for (unsigned way = 0; way < WAYS; way++)
        if (!time_ours(lab, plan, way, &ns[way], err))
            return false;
    return true;
}

/* Mean of some differences, and the standard error of it. */
static double mean_of(const double *values, size_t count, double *error)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - sum) * (values[i] - sum);
    *error = sqrt(squares / (double)((count - 1) * count));
    return sum;
}

/* What was lost on some placements: when groups were driven out, and beyond a part of that when
   they were flushed. */
struct losses {
    double most[PLACEMENTS_MOST], above[PLACEMENTS_MOST];
    size_t count;
};

/* Unknown where hardly anything is lost. */
static enum fm_filled judge(const struct losses *losses, double step)
{
    double error, noise;
    if (losses->count < 2)
        return FM_FILLED_UNKNOWN;
    const double all = mean_of(losses->most, losses->count, &error);
    const double part = mean_of(losses->above, losses->count, &noise);
    /* That flushed ones take a place is plain by itself; that they take none is so only where those
       that are driven out do. */
    if (part > SURE * noise && part > LOST * step)
        return FM_FILLED_BY_LOADS;
    if (!(all > LOST * step && all > SURE * error))
        return FM_FILLED_UNKNOWN;
    /* What is lost without the groups, and not with them, is a policy's doing. */
    const bool spared = part < -SURE * noise && part > -2 * BETWEEN * all;
    return spared ? FM_FILLED_BY_VICTIMS : FM_FILLED_UNKNOWN;
}

/* On so many placements, and on as many again until they tell. */
static bool compare(struct fm_lab *lab, const struct plan *plan, size_t few, size_t most,
                    enum fm_filled *filled, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[plan->outer];
    struct losses losses = {.count = 0};
    for (size_t i = 0; i < most && *filled == FM_FILLED_UNKNOWN; i++) {
        double ns[WAYS];
        if (!fm_lab_go_on(lab, lab->part, err) || !time_placement(lab, plan, ns, err))
            return false;
        const double lost = ns[DRIVEN_OUT] - ns[ALONE];
        const double above = ns[FLUSHED] - ns[ALONE] - BETWEEN * lost;
        if (!isnan(above)) {
            losses.most[losses.count] = lost;
            losses.above[losses.count++] = above;
        }
        if ((i + 1) % few == 0)
            *filled = judge(&losses, level[1].height_ns - level->height_ns);
    }
    return true;
}

bool fm_ask_what_fills(struct fm_lab *lab, size_t outer, enum fm_filled *filled,
                       struct fm_error *err)
{
    struct plan plan;
    *filled = FM_FILLED_UNKNOWN;
    if (!make_plan(lab, outer, &plan))
        return true;
    plan.number = malloc(plan.blocks * sizeof *plan.number);
    if (!plan.number)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of blocks");
    const bool counted = fm_levels_are_fairly_counted(lab);
    const size_t few = counted      ? PLACEMENTS_COUNTED
                       : outer == 1 ? PLACEMENTS_SECOND
                                    : PLACEMENTS_OUTER;
    bool good = compare(lab, &plan, few, outer == 1 ? PLACEMENTS_MOST : few, filled, err);
    /* A level inside that draws lots gives up some of a large group before that is flushed. */
    if (good && *filled == FM_FILLED_UNKNOWN && outer == 1 && !counted) {
        plan.group = 1;
        good = compare(lab, &plan, PLACEMENTS_MOST, PLACEMENTS_MOST, filled, err);
    }
    free(plan.number);
    return good;
}
