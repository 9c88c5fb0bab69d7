#include "probe/ways_verdict.h"

#include <math.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "analysis/occupancy_fit.h"
#include "probe/ways_inside.h"

/* What lies outside of this is not what the walk saw; and what it and a filling may differ by. */
#define BELOW 0.85
#define FAR   2.5
#define AGREE 0.05
/* Times what a level takes that is more than it can take. */
#define FURTHER 2
/* Part of a class with one page too many that misses which is so small that it may be the level
   inside that misses, if that has as many ways; and the most that it may seem to be. */
#define CHEAP   0.3
#define NO_MORE 1.35
/* Times the price of a miss inside that is surely more. */
#define DEARER 1.5

bool fm_ways_one_class(struct fm_lab *lab, size_t index, enum fm_ways_choice choice)
{
    return index == 1 &&
           (choice == FM_SPARSE || (choice == FM_ONE_EACH && fm_classes_of(lab, 0) == 1));
}

/* More than a miss of the level inside can take, in misses of this one. */
static double inner_price(const struct fm_lab *lab, size_t index)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    return DEARER * (level->height_ns - level[-1].height_ns) /
           (level[1].height_ns - level->height_ns);
}

bool fm_ways_are_odd(struct fm_lab *lab, size_t index, double bytes, size_t ways)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_finding *capacity = fm_lab_measured(lab, index, "capacity");
    const double held = fm_held_of(level);
    if (fm_edge_is_sharp(capacity))
        return bytes < capacity->low.number * (1 - AGREE) ||
               bytes > capacity->high.number * (1 + AGREE);
    const double by_chance = held / fm_occupancy_load(FM_CAPACITY_MISSES, (uint32_t)ways);
    return bytes < BELOW * held || bytes > FM_WAYS_ABOVE * fmax(level->rise_to, by_chance) ||
           bytes > FAR * by_chance;
}

const char *const fm_ways_not_as_walked = "what it holds when filled is not what the walk shows";

const char *fm_ways_doubt(struct fm_lab *lab, size_t index, const struct fm_crowded *shown,
                          enum fm_ways_choice choice, size_t granule)
{
    const bool overrun = fm_ways_one_class(lab, index, choice);
    const double bytes = (double)(shown->held * granule);
    const char *reason = fm_crowd_ways_doubt(lab, shown);
    if (reason)
        return reason;
    if (shown->full && fm_ways_are_odd(lab, index, bytes, shown->ways))
        return fm_ways_not_as_walked;
    if (index == 0)
        return NULL;
    const double inner = inner_price(lab, index);
    const bool alike = (double)shown->ways == fm_ways_of(lab, index - 1);
    if ((alike && (shown->misses < CHEAP || (!shown->full && inner > FM_WAYS_ALL))) ||
        (((!shown->full && !overrun) || choice == FM_MANY_EACH) &&
         (shown->misses < fmin(FM_WAYS_ALL, inner) || shown->misses > NO_MORE)))
        return "the groups of lines that collide may be those of the level inside";
    return NULL;
}

bool fm_ways_keeps_one_each(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *physical = fm_lab_measured(lab, index - 1, "physical_capacity");
    return !physical || strcmp(physical->method, "occupancy") == 0 ||
           strcmp(physical->method, "edge") == 0 || strcmp(physical->method, "knees") == 0;
}

void fm_ways_judge(struct fm_lab *lab, size_t index, const struct fm_crowd *crowd,
                   struct fm_ways_outcome *outcome)
{
    const struct fm_crowded *shown = &outcome->shown;
    /* Of one class inside all would have been refused; but what it holds of that class it shows
       nothing of. */
    const bool one_class =
        index == 0 || outcome->choice == FM_SPARSE || fm_classes_of(lab, index - 1) == 1;
    outcome->why_ways = fm_ways_doubt(lab, index, shown, outcome->choice, outcome->granule);
    if (!outcome->why_ways && index > 0 && one_class &&
        (double)shown->held <= fm_ways_of(lab, index - 1))
        outcome->why_ways =
            "the level inside holds all lines that share a set of it and of this one";
    if (!outcome->why_ways && !one_class && shown->full && shown->held < crowd->shallow)
        outcome->why_ways = "the level inside holds a part of what this one seems to hold";
    /* Of the first classes of few lines it may have a part in each. */
    if (!outcome->why_ways && index > 1 && crowd->anew && outcome->choice == FM_ONE_EACH &&
        fm_ways_keeps_one_each(lab, index))
        outcome->why_ways = "the level inside may hold a part of what this one seems to hold";
    outcome->behind =
        !crowd->tell && crowd->count > crowd->shallow && crowd->base_ns > FURTHER * crowd->hit_ns;
    if (!outcome->why_ways && outcome->behind)
        outcome->why_ways = "what is held takes longer than this level does: it is in one behind";
    outcome->why_held = outcome->why_ways ? outcome->why_ways : fm_crowd_doubt(lab, shown);
    const double line = (double)lab->known.levels[index].line;
    const size_t groups = outcome->why_held ? 0 : shown->held / shown->ways;
    const double sets = line > 0 ? (double)groups * (double)outcome->granule / line : 0;
    if (sets > 0 && fm_round_sets(sets, sets) == 0)
        outcome->why_held = "it seems to have a number of sets that no address bits choose";
    if (!outcome->why_held && shown->shallow && !one_class)
        outcome->why_held = "some of the level inside may have refused pages that fit into this "
                            "one";
}
