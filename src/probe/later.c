/* Whether the last cache and memory are, when a survey ends, what they were at its beginning. Both
 * may be shared with strangers who come and go; a range must tell what one survey could see of
 * that. Points of the walk are read once more: the factor by which the last rise has moved, and the
 * one by which memory is slower or faster. */
#include <math.h>
#include <stdio.h>

#include "analysis/median.h"
#include "core/units.h"
#include "probe/probe.h"

/* Points of the rise that are read again, at the most. */
#define MOST_POINTS 5
/* … and where counters know the edge: by one point, unless it lies elsewhere on each placement. */
#define FEW_POINTS 1
/* Parts of the rise between which a reading tells where it is. */
#define LOW_PART  0.1
#define HIGH_PART 0.9
/* Times the footprint at which a plateau seems to begin. */
#define WELL_WITHIN 4
/* Less than this is what two readings differ by. */
#define MOVED 1.03

struct look {
    size_t index[MOST_POINTS]; /* of the walk, from large to small */
    size_t count;
    double base_ns, top_ns; /* plateaus before and after the rise */
};

static void choose_points(const struct fm_lab *lab, struct look *look)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_known_level *level = &lab->known.levels[lab->known.count - 2];
    size_t all[FM_WALK_POINTS] = {0}, n = 0;
    *look = (struct look){.base_ns = level->height_ns, .top_ns = level[1].height_ns};
    for (size_t i = walk->count; i-- > 0;) {
        const double part =
            (fm_walk_mean(&walk->points[i]) - look->base_ns) / (look->top_ns - look->base_ns);
        const double bytes = (double)walk->points[i].bytes;
        if (bytes > level->flat_from && bytes < level[1].flat_to && part > LOW_PART &&
            part < HIGH_PART)
            all[n++] = i;
    }
    const struct fm_counted *counted = fm_lab_counted(lab, (unsigned)lab->known.count - 2);
    const size_t few = counted && !counted->sharp && lab->known.scattered ? 0 : FEW_POINTS;
    const size_t most = counted ? few : MOST_POINTS;
    look->count = n < most ? n : most;
    for (size_t i = 0; i < look->count; i++)
        look->index[i] = all[i * n / look->count];
}

/* The footprint at which the walk showed a latency, within a rise. */
static double footprint_of(const struct fm_walk *walk, double from, double to, double ns)
{
    while (to > from * (MOVED + 1) / 2) {
        const double middle = sqrt(from * to);
        if (fm_walk_at(walk, middle) < ns)
            from = middle;
        else
            to = middle;
    }
    return sqrt(from * to);
}

/* A point of the walk that was read again, on a placement as large as it. */
struct reading {
    size_t index;
    double ns;
};

/* Reads another, on the placement of the last one if that is large enough. */
static bool read_again(struct fm_lab *lab, size_t index, struct reading *last, struct fm_error *err)
{
    const bool fresh = !last->ns || index > last->index;
    const struct fm_walk_sampling how = {.fresh = fresh, .drop = true};
    if (last->ns > 0 && index == last->index)
        return true;
    last->index = index;
    return (!fresh || fm_lab_place(lab, lab->walk.points[index].bytes, err)) &&
           fm_lab_go_on(lab, 0.5, err) && fm_walk_sample(lab, index, &how, &last->ns, err);
}

/* Whether placements showed this before. */
static bool was_seen(const struct fm_walk_point *point, double ns)
{
    return ns + point->tlb_ns >= point->low && ns + point->tlb_ns <= point->high;
}

/* Times further that footprints reach now for the same latency; 1: no rise to tell it by. */
static bool find_move(struct fm_lab *lab, struct reading *last, double *move, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[lab->known.count - 2];
    struct look look;
    double moves[MOST_POINTS];
    choose_points(lab, &look);
    for (size_t i = 0; i < look.count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[look.index[i]];
        if (!read_again(lab, look.index[i], last, err))
            return false;
        /* One alone that is on a plateau now tells that the rise is elsewhere, but not how far. */
        const double part = LOW_PART * (look.top_ns - look.base_ns);
        const double near = fmin(fmax(last->ns, look.base_ns + part), look.top_ns - part);
        const double was = footprint_of(&lab->walk, level->flat_from, level[1].flat_to,
                                        look.count > 1 ? last->ns : near);
        moves[i] = was_seen(point, last->ns) ? 1 : (double)point->bytes / was;
    }
    *move = look.count ? fm_median(moves, look.count) : 1;
    return true;
}

/* Where memory is read again: no further within its plateau than need be, since that takes long,
   and far from its beginning, which is another moment by moment where strangers share the last
   level. */
static double within_memory(const struct fm_known_level *memory)
{
    return fmin(WELL_WITHIN * memory->flat_from, sqrt(memory->flat_from * memory->flat_to));
}

/* Times slower that memory is now. */
static bool find_slower(struct fm_lab *lab, struct reading *last, double *slower,
                        struct fm_error *err)
{
    const struct fm_known_level *memory = &lab->known.levels[lab->known.count - 1];
    size_t index = 0;
    const double bytes = within_memory(memory);
    while (index + 1 < lab->walk.count && (double)lab->walk.points[index].bytes < bytes)
        index++;
    if (!read_again(lab, index, last, err))
        return false;
    *slower = last->ns / fm_walk_mean(&lab->walk.points[index]);
    return true;
}

/* Lets a range reach to where a factor takes it, and says so where that lies outside it. */
static void widen(struct fm_result *result, const char *property, double times, bool say)
{
    const struct fm_finding *known = fm_result_find(result, property);
    if (!known || known->status != FM_MEASURED || (times < MOVED && times > 1 / MOVED))
        return;
    struct fm_finding *finding = &result->findings[known - result->findings];
    const double now = finding->value.number * times;
    char size[FM_SIZE_TEXT];
    const bool bytes = finding->unit[0] == 'B';
    say = say && (now < finding->low.number || now > finding->high.number);
    const double low = finding->low.number * fmin(1, times);
    const double high = finding->high.number * fmax(1, times);
    finding->low.number = bytes ? floor(low) : low;
    finding->high.number = bytes ? ceil(high) : high;
    if (!say || finding->note[0])
        return;
    if (bytes)
        snprintf(finding->note, sizeof finding->note, "at the end of the survey it was %s",
                 fm_format_size((uint64_t)now, size));
    else
        snprintf(finding->note, sizeof finding->note, "at the end of the survey it was %.3g %s",
                 now, finding->unit);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const size_t count = lab->known.count;
    char property[FM_PROPERTY_TEXT];
    struct reading last = {0};
    double move, slower;
    /* Of a first level alone the gap test knows all, and strangers do not share it. */
    if (count < 3 || !lab->known.memory_seen)
        return true;
    if (!find_slower(lab, &last, &slower, err) || !find_move(lab, &last, &move, err))
        return false;
    snprintf(property, sizeof property, "l%zu.capacity", count - 1);
    widen(lab->result, property, move, true);
    widen(lab->result, "memory.latency", slower, true);
    widen(lab->result, "memory.latency_cycles", slower, false);
    snprintf(property, sizeof property, "l%zu.miss_latency", count - 1);
    widen(lab->result, property, slower, false);
    return true;
}

const struct fm_probe fm_probe_later = {
    .name = "later",
    .finds = "whether the last cache and memory are still the same when the survey ends",
    .needs = "levels,capacity,latency",
    .share = 0.05,
    .detail = true,
    .run = run,
};
