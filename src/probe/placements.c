#include "probe/placements.h"

#include <math.h>

#include "probe/fit.h"
#include "probe/lab.h"
#include "probe/walk_ways.h"

/* Changes of latency between neighbouring points that make a rise. */
#define RISE 0.05
/* What placements change of most points of a rise that they move; of many readings all but few lie
   within so many standard deviations. */
#define MOVED      0.06
#define DEVIATIONS 3
/* … and changes of latency between the two halves of a rise that do not meet. */
#define APART 0.1
/* Footprints beyond this are so many pages that luck evens out, or cost too much. */
static const double largest[] = {[FM_QUICK] = 0x1p21, [FM_NORMAL] = 0x1p24, [FM_THOROUGH] = 0x1p25};
/* How far beyond the last rise that shows itself its end may lie. */
#define AFTER 1.5
/* References and time spent at the most, in each effort: on all rises, and on the beginning of
   each. */
static const struct spend {
    double references, seconds;
} spend_on_all[] = {[FM_QUICK] = {1e6, 0.1}, [FM_NORMAL] = {6e6, 1.0}, [FM_THOROUGH] = {3e7, 3}},
  spend_on_each[] = {[FM_QUICK] = {1e6, 0.1}, [FM_NORMAL] = {6e6, 0.5}, [FM_THOROUGH] = {2e7, 2}};
/* Pages of which luck is large, and placements that show it. */
#define FEW_PAGES  128
#define PLACEMENTS 6
/* Pages drawn that show the shape of a rise. */
#define ENOUGH_PAGES 12000
/* How far luck may still have moved the beginning of a rise when the others are looked at. */
#define CLOSE_ENOUGH 0.02
/* Passes at the most. */
#define MOST_PASSES 200
/* Around where misses begin, by the contract's measure of it. */
#define MISS_RATIO 0.05
#define AROUND     1.5
#define SAME_PLACE 1.15
/* Points beside where they begin are no further apart, or one more comes between, a few times; of
   which so many placements tell. */
#define BESIDE       1.12
#define MOST_MORE    3
#define LEAST_PASSES 100

/* The points to measure again. */
struct rises {
    size_t index[FM_WALK_POINTS];      /* from large to small */
    struct fm_way way[FM_WALK_POINTS]; /* that each is sampled in */
    double last[FM_WALK_POINTS];       /* readings, while placements are compared */
    size_t count;
    uint64_t order;  /* seed of that in which pages are compared */
    double smallest; /* footprint that placements make a difference to; 0: none */
    double begun;    /* references that samples had cost before */
    double since;    /* … and when */
};

static bool differ(double a, double b, double by)
{
    return fabs(log(a / b)) > by;
}

/* Where pages are scattered, a lucky placement hides where a rise begins, or that placements move
   it at all. So all between the second level, or the first rise that they move, and the end of the
   last are measured again. */
static void widen(const struct fm_lab *lab, struct rises *rises, double to)
{
    const struct fm_walk *walk = &lab->walk;
    const double second = lab->known.count > 1 ? lab->known.levels[1].flat_from : INFINITY;
    const double from = fmin(rises->smallest / FM_BEFORE_A_RISE, second);
    rises->count = 0;
    for (size_t i = walk->count; i-- > 0;) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes >= from && bytes <= to)
            rises->index[rises->count++] = i;
    }
}

static bool is_on_a_rise(const struct fm_walk *walk, size_t i)
{
    const double here = fm_walk_mean(&walk->points[i]);
    return (i > 0 && differ(here, fm_walk_mean(&walk->points[i - 1]), RISE)) ||
           (i + 1 < walk->count && differ(here, fm_walk_mean(&walk->points[i + 1]), RISE));
}

static void find_rises(const struct fm_walk *walk, struct rises *rises, double most)
{
    rises->count = 0;
    for (size_t i = walk->count; i-- > 0;)
        if (is_on_a_rise(walk, i) && (double)walk->points[i].bytes <= most)
            rises->index[rises->count++] = i;
}

/* Fresh pages, with the order of the first ones but for those. */
static bool place_to_compare(struct fm_lab *lab, struct rises *rises, size_t bytes, bool first,
                             struct fm_error *err)
{
    if (!fm_lab_place(lab, bytes, err))
        return false;
    if (first)
        rises->order = lab->placement_seed;
    lab->placement_seed = rises->order;
    return true;
}

/* The points that have not been compared yet, in full and then in the other ways. */
static bool compare_new(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    struct fm_way_readings readings[FM_WALK_POINTS];
    bool fresh = true;
    for (size_t i = 0; i < rises->count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[rises->index[i]];
        double ns;
        if (point->compared)
            continue;
        if ((fresh && !fm_lab_place(lab, point->bytes, err)) ||
            !fm_sample_in(lab, rises->index[i], fm_in_full, fresh, false, &ns, err))
            return false;
        readings[i] = fm_read_in_full(lab, point, ns);
        fresh = false;
    }
    if (!fm_compare_ways(lab, rises->index, rises->count, readings, err))
        return false;
    fm_judge_ways(lab, rises->index, rises->count, rises->way);
    return true;
}

/* A pass over the points on a first placement, from large to small. A cache that evicts what came
   first keeps the order in which lines came. On the way up new lines came between old ones, and it
   then hits where on fresh pages it would miss; on the way down lines only leave. So what was read
   on the way up is forgotten. */
static bool read_downward(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    for (size_t i = 0; i < rises->count; i++) {
        struct fm_walk_point *point = &lab->walk.points[rises->index[i]];
        if (i == 0 && !place_to_compare(lab, rises, point->bytes, true, err))
            return false;
        fm_walk_forget(point);
        if (!fm_sample_in(lab, rises->index[i], fm_in_full, i == 0, false, &rises->last[i], err))
            return false;
    }
    return true;
}

/* The first placement that others are compared to, and the ways that will do to compare them. */
static bool read_first(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    struct fm_way_readings readings[FM_WALK_POINTS];
    if (!read_downward(lab, rises, err))
        return false;
    for (size_t i = 0; i < rises->count; i++)
        readings[i] = fm_read_in_full(lab, &lab->walk.points[rises->index[i]], rises->last[i]);
    if (!fm_compare_ways(lab, rises->index, rises->count, readings, err))
        return false;
    fm_judge_ways(lab, rises->index, rises->count, rises->way);
    for (size_t i = 0; i < rises->count; i++)
        rises->last[i] = fm_reading_in(&readings[i], rises->way[i]);
    return true;
}

/* Another placement of the points from one on, and whether it finds what the last one did. Some
   policies answer each order with other misses, wherever pages lie: so these are compared in one
   order. */
static bool compare_placement(struct fm_lab *lab, struct rises *rises, size_t from, bool compare,
                              bool drop, struct fm_error *err)
{
    bool differed = false;
    for (size_t i = from; i < rises->count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[rises->index[i]];
        double ns;
        if ((i == from && !place_to_compare(lab, rises, point->bytes, false, err)) ||
            !fm_sample_in(lab, rises->index[i], rises->way[i], i == from, drop, &ns, err))
            return false;
        /* Twice in a row: once is noise, but where time did not suffice to set points close
           together a rise may have no more than one. */
        const bool differs = compare && differ(rises->last[i], ns, FM_DIFFERENT);
        if (differs && (differed || lab->known.hasty))
            rises->smallest = (double)point->bytes;
        differed = differs;
        rises->last[i] = ns;
    }
    return true;
}

/* What a rise still has beyond the largest footprint was read on the way up alone. Where its first
   point reads otherwise on fresh pages, all of it is read again: two halves of a rise that do not
   meet look like two rises. */
static bool go_on_with_rise(struct fm_lab *lab, double most, struct fm_error *err)
{
    const struct fm_walk *walk = &lab->walk;
    struct rises beyond = {.smallest = 0};
    size_t first = 0, end;
    double ns;
    while (first < walk->count && (double)walk->points[first].bytes <= most)
        first++;
    for (end = first; end < walk->count && is_on_a_rise(walk, end);)
        end++;
    if (first == end || first == 0 || !is_on_a_rise(walk, first - 1))
        return true;
    if (!fm_lab_place(lab, walk->points[first].bytes, err) ||
        !fm_sample_in(lab, first, fm_in_full, true, true, &ns, err))
        return false;
    if (!differ(ns, fm_walk_mean(&walk->points[first]), APART))
        return true;
    for (size_t i = end; i-- > first;)
        beyond.index[beyond.count++] = i;
    return read_downward(lab, &beyond, err);
}

/* Two placements tell where there are many pages; of few, several may be as lucky as each other. */
static bool compare_placements(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    const double few = FEW_PAGES * (double)lab->machine->info.page_size;
    size_t small = 0;
    if (!read_first(lab, rises, err) || !compare_placement(lab, rises, 0, true, false, err))
        return false;
    while (small < rises->count && (double)lab->walk.points[rises->index[small]].bytes > few)
        small++;
    for (unsigned i = 0; i < PLACEMENTS && rises->smallest == 0; i++)
        if (!compare_placement(lab, rises, small, i > 0, true, err))
            return false;
    return true;
}

/* One more pass, over the points of a range. */
static bool pass(struct fm_lab *lab, struct rises *rises, double from, double to,
                 struct fm_error *err)
{
    bool fresh = true;
    for (size_t i = 0; i < rises->count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[rises->index[i]];
        double ns;
        if ((double)point->bytes < from || (double)point->bytes > to)
            continue;
        if ((fresh && !fm_lab_place(lab, point->bytes, err)) ||
            !fm_sample_in(lab, rises->index[i], rises->way[i], fresh, false, &ns, err))
            return false;
        fresh = false;
    }
    return true;
}

static void begin_spending(const struct fm_lab *lab, struct rises *rises)
{
    rises->begun = lab->walk.references;
    rises->since = lab->machine->ops->elapsed(lab->machine);
}

static bool is_spent(const struct fm_lab *lab, const struct rises *rises, const struct spend *most)
{
    return lab->walk.references - rises->begun > most->references || fm_lab_is_late(lab) ||
           lab->machine->ops->elapsed(lab->machine) - rises->since > most->seconds;
}

/* All at first, since placements that neighbours do not share show steps between them. Then the
   smaller the more often: a small footprint is cheap, and its luck varies most. Every pass takes
   the smallest, every second those twice as large, and so on. */
static bool sample_all(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    const double page = (double)lab->machine->info.page_size;
    if (!pass(lab, rises, 0, INFINITY, err))
        return false;
    begin_spending(lab, rises);
    for (unsigned number = 2; number < MOST_PASSES; number++) {
        const double to = AROUND * rises->smallest * (double)(number & -number);
        if (!pass(lab, rises, 0, to, err))
            return false;
        const double drawn = number * AROUND * rises->smallest / page;
        if (drawn > ENOUGH_PAGES || is_spent(lab, rises, &spend_on_all[lab->options->effort]))
            break;
    }
    return true;
}

/* One more point between one of a rise and the next smaller, which is added to the rise. */
static bool insert(struct fm_lab *lab, struct rises *rises, size_t larger, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    const size_t smaller = larger + 1, before = walk->count, index = rises->index[smaller];
    const double middle =
        sqrt((double)walk->points[index].bytes * (double)walk->points[index + 1].bytes);
    if (!fm_lab_place(lab, walk->points[index + 1].bytes, err) ||
        !fm_walk_measure(lab, (size_t)middle, NULL, err))
        return false;
    if (walk->count == before)
        return true;
    for (size_t i = 0; i <= larger; i++)
        rises->index[i]++;
    for (size_t i = rises->count++; i > smaller; i--)
        rises->index[i] = rises->index[i - 1];
    rises->index[smaller] = index + 1;
    fm_judge_ways(lab, rises->index, rises->count, rises->way);
    return true;
}

/* Sees to it that points lie close on both sides of a footprint. */
static bool come_closer(struct fm_lab *lab, struct rises *rises, double at, struct fm_error *err)
{
    const struct fm_walk *walk = &lab->walk;
    for (int more = 0; more < MOST_MORE && rises->count < FM_WALK_POINTS; more++) {
        size_t larger = 0;
        while (larger + 2 < rises->count &&
               (double)walk->points[rises->index[larger + 1]].bytes > at)
            larger++;
        if (larger + 1 >= rises->count || rises->index[larger] != rises->index[larger + 1] + 1 ||
            (double)walk->points[rises->index[larger]].bytes <
                BESIDE * (double)walk->points[rises->index[larger + 1]].bytes)
            return true;
        if (!insert(lab, rises, larger, err))
            return false;
    }
    return true;
}

/* Whether it was looked at before where a level begins to miss about there; it is now. */
static bool was_sampled(struct fm_walk *walk, double at)
{
    for (size_t i = 0; i < walk->sampled_count; i++)
        if (fabs(log(walk->sampled[i] / at)) < log(SAME_PLACE))
            return true;
    if (walk->sampled_count < FM_KNEES)
        walk->sampled[walk->sampled_count++] = at;
    return false;
}

/* Where the misses of a level begin decides its capacity; there luck is rare and large. */
static bool sample_beginnings(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    fm_fit_walk(lab);
    const struct fm_knee_fit fit = lab->known.fit;
    struct fm_fitted fitted;
    for (size_t i = 1; i < fit.count; i++) {
        const double at = fm_fit_crossing(&fit, i, MISS_RATIO);
        begin_spending(lab, rises);
        const bool moves = fit.knees[i].shape != FM_KNEE_CONTIGUOUS &&
                           fit.knees[i].shape != FM_KNEE_CONTIGUOUS_RANDOM;
        if (!moves || was_sampled(&lab->walk, at))
            continue;
        const size_t points = rises->count;
        if (!come_closer(lab, rises, at, err))
            return false;
        const unsigned least = rises->count > points ? LEAST_PASSES : 0;
        for (unsigned number = 0; number < MOST_PASSES; number++) {
            if (!pass(lab, rises, at / AROUND, at * AROUND, err))
                return false;
            fm_lab_fitted(lab, &fitted);
            const bool close = fm_luck(&fitted, i, at, MISS_RATIO) < CLOSE_ENOUGH;
            if (lab->walk.references == rises->begun || (close && number >= least) ||
                is_spent(lab, rises, &spend_on_each[lab->options->effort]))
                break;
        }
    }
    return true;
}

static bool has_counters(const struct fm_lab *lab)
{
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS; bit++)
        if (fm_lab_counted(lab, bit))
            return true;
    return false;
}

/* Whether counters have seen all levels begin to miss at the same footprint on fresh pages. */
static bool all_are_sharp(const struct fm_lab *lab)
{
    for (size_t level = 0; level + 1 < lab->known.count; level++) {
        const struct fm_counted *found = fm_lab_counted(lab, (unsigned)level);
        if (!found || !found->sharp)
            return false;
    }
    return lab->known.count > 1;
}

bool fm_repeat_on_fresh_pages(struct fm_lab *lab, struct fm_error *err)
{
    struct rises rises = {.smallest = 0};
    lab->known.hasty = fm_lab_is_late(lab);
    /* What counters have looked at on many placements the clock sees on two, or on one where it is
       large: a second witness, and the less sure one. */
    const bool counted = has_counters(lab);
    const double most = largest[counted ? FM_QUICK : lab->options->effort];
    find_rises(&lab->walk, &rises, most);
    if (!go_on_with_rise(lab, most, err))
        return false;
    if (all_are_sharp(lab))
        return read_downward(lab, &rises, err);
    if (!compare_placements(lab, &rises, err))
        return false;
    lab->known.scattered = rises.smallest > 0 || lab->known.hasty;
    if (!(rises.smallest > 0) || counted)
        return true;
    /* On other pages a rise may begin where the first showed none. */
    const double end = AFTER * (double)lab->walk.points[rises.index[0]].bytes;
    if (!fm_lab_place(lab, (size_t)end, err) ||
        !fm_walk_refine(lab, rises.smallest / FM_BEFORE_A_RISE, fmin(end, most), err))
        return false;
    widen(lab, &rises, fmin(end, most));
    return compare_new(lab, &rises, err) && sample_all(lab, &rises, err) &&
           sample_beginnings(lab, &rises, err);
}

bool fm_sample_new_beginnings(struct fm_lab *lab, struct fm_error *err)
{
    const double second = lab->known.count > 1 ? lab->known.levels[1].flat_from : INFINITY;
    struct rises rises = {.smallest = second};
    if (lab->options->effort == FM_QUICK || !lab->known.scattered || has_counters(lab))
        return true;
    widen(lab, &rises, largest[lab->options->effort]);
    fm_judge_ways(lab, rises.index, rises.count, rises.way);
    return sample_beginnings(lab, &rises, err);
}

/* Whether placements move a point by more than clocks do: these are off by a part of the whole
   reading, and once in many readings by much. */
static bool is_moved(const struct fm_walk_point *point)
{
    const double mean = fm_walk_mean(point);
    const double deviation = fm_walk_error(point) * mean * sqrt(point->placements);
    const double spread = fmin(point->high - point->low, DEVIATIONS * deviation);
    return spread > MOVED * (mean + point->tlb_ns);
}

/* Points of the rise after a level that were read on several placements, and how many of these they
   move. */
static void count_moved(const struct fm_lab *lab, size_t level, size_t *moved, size_t *all)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_known_level *here = &lab->known.levels[level], *next = here + 1;
    *moved = *all = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        const double bytes = (double)point->bytes;
        if (bytes < here->flat_to || bytes > next->flat_from || point->placements < 2)
            continue;
        ++*all;
        *moved += is_moved(point);
    }
}

bool fm_rise_is_soft(const struct fm_lab *lab, size_t level)
{
    size_t moved, all;
    count_moved(lab, level, &moved, &all);
    return 2 * moved > all;
}

bool fm_rise_stays(const struct fm_lab *lab, size_t level)
{
    size_t moved, all;
    count_moved(lab, level, &moved, &all);
    return all > 0 && 2 * moved <= all;
}
