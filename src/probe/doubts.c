#include "probe/doubts.h"

#include <math.h>

#include "analysis/blend.h"
#include "probe/lab.h"
#include "probe/walk_parts.h"
#include "refstring/refstring.h"

/* Times that a last level which is little slower than the one inside it is looked at again. */
#define TURNS 4
/* … how long its plateau must be, and what part of what translation takes it must be faster by. */
#define LEAST_PLATEAU 2
#define TLB_PART      0.5
/* Times that a ledge before memory is looked at again, and changes that make it another. */
#define AGAIN   3
#define ANOTHER 0.15
/* Short runs that tell a blend, references in each at the least and at the most, part of the pages
   they are to, since another visit to a page may find what the first one did, and laps before. */
#define RUNS    512
#define FEWEST  8
#define MOST    64
#define OF_THEM 4
#define LAPS    3
/* Readings of which what is left tells how they differ. */
#define ENOUGH 128
/* Part of a blend's variance that is enough to take a level for one, and that no blend exceeds; and
   what clock and TLB may make of it. */
#define A_BLEND 0.8
#define NO_MORE 1.25
#define IN_IT   0.3
/* Part of the step between the levels around it by which short runs may differ from the walk's. */
#define AS_WALKED 0.1

/* Index of the point in the middle of a level's plateau. */
static size_t middle_of(const struct fm_lab *lab, const struct fm_known_level *level)
{
    const size_t at = fm_walk_position(&lab->walk, sqrt(level->flat_from * level->flat_to));
    return at < lab->walk.count ? at : lab->walk.count - 1;
}

/* A last level that is little faster than memory may be memory on a better moment, since others use
   it too and the walk takes its time over large footprints; or the long end of a rise; or it is the
   page tables that leave the caches as footprints grow, since the TLB's part is known by its
   sibling alone. It must have a plateau, cost more than a good part of that, and is read again in
   turn with memory: where they are once alike it is taken away. */
static bool doubt_last(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_known *known = &lab->known;
    if (known->count < 3)
        return true;
    const struct fm_known_level *level = &known->levels[known->count - 2];
    const struct fm_walk_point *last = &lab->walk.points[lab->walk.count - 1];
    const double step = level[1].height_ns / level->height_ns;
    const struct fm_walk_sampling how = {.fresh = true, .drop = true};
    const size_t index[] = {middle_of(lab, level), lab->walk.count - 1};
    for (int turn = 0; turn < TURNS && step < FM_LEAST_STEP && !(turn && fm_lab_is_late(lab));
         turn++) {
        double ns[2];
        for (int i = 0; i < 2; i++)
            if (!fm_lab_place(lab, lab->walk.points[index[i]].bytes, err) ||
                !fm_lab_go_on(lab, 0.95, err) || !fm_walk_sample(lab, index[i], &how, &ns[i], err))
                return false;
        if (ns[1] < ns[0] * sqrt(step) || level->flat_to < LEAST_PLATEAU * level->flat_from ||
            level[1].height_ns - level->height_ns < TLB_PART * last->tlb_ns) {
            fm_take_level_away(known, known->count - 2);
            return true;
        }
    }
    return true;
}

/* A ledge on the rise to memory may be a moment in which others used less of the last level. A
   cache is there again on fresh pages. */
static bool doubt_ledge(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_known *known = &lab->known;
    if (known->count < 3 || fm_lab_counted(lab, (unsigned)known->count - 2))
        return true;
    const struct fm_known_level *level = &known->levels[known->count - 2];
    const size_t index = middle_of(lab, level);
    const struct fm_walk_sampling how = {.fresh = true, .drop = true};
    const double height = fm_walk_mean(&lab->walk.points[index]);
    for (int again = 0; again < AGAIN && level[1].height_ns < FM_LEDGE * level->height_ns;
         again++) {
        double ns;
        if (!fm_lab_place(lab, lab->walk.points[index].bytes, err) ||
            !fm_lab_go_on(lab, 0.95, err) || !fm_walk_sample(lab, index, &how, &ns, err))
            return false;
        if (fabs(log(ns / height)) > ANOTHER) {
            fm_take_level_away(known, known->count - 2);
            return true;
        }
    }
    return true;
}

/* Short runs over a footprint, one after the other: how what they take differs. */
struct runs {
    size_t bytes, unit;
    unsigned references;
    struct fm_spread spread; /* per reference; the mean is 0 where too many were disturbed */
};

static bool time_runs(struct fm_lab *lab, struct runs *runs, struct fm_error *err)
{
    /* One unit at each visit of a page: what two units of a page do may be alike. */
    const struct fm_swept_plan plan = {.bytes = runs->bytes / runs->unit * runs->unit,
                                       .unit = runs->unit,
                                       .page = lab->machine->info.page_size,
                                       .burst = 1,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    struct fm_sample samples[RUNS];
    double ns[RUNS];
    size_t count = 0;
    if (!fm_swept_string(&string, &plan, err))
        return false;
    fm_string_prime(&string, LAPS);
    fm_string_time(&string, runs->references);
    const bool good = fm_lab_go_on(lab, 0.95, err) &&
                      lab->machine->ops->run(lab->machine, &string, RUNS, samples, err);
    fm_string_free(&string);
    for (size_t i = 0; i < RUNS && good; i++)
        if (!samples[i].disturbed)
            ns[count++] = samples[i].ns / (double)samples[i].references;
    runs->spread = (struct fm_spread){0, 0};
    if (count >= ENOUGH)
        runs->spread = fm_spread_of(ns, count);
    return good;
}

/* The variance of runs that take as long as those, by the clock alone: hits of the first level. */
static bool by_clock(struct fm_lab *lab, const struct runs *like, double *variance,
                     struct fm_error *err)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const struct fm_walk_point *point = &lab->walk.points[middle_of(lab, first)];
    const double times = like->spread.mean / first->height_ns;
    struct runs runs = {.bytes = point->bytes,
                        .unit = point->unit,
                        .references = (unsigned)ceil(times * like->references)};
    if (!time_runs(lab, &runs, err))
        return false;
    *variance = runs.spread.mean > 0 ? times * times * runs.spread.variance : INFINITY;
    return true;
}

/* … and pages of which some miss a TLB and some do not. Translation takes of each visit what it
   takes of two units in the walk. */
static double by_tlb(const struct fm_lab *lab, const struct fm_walk_point *point,
                     unsigned references)
{
    const double all = 2 * lab->walk.points[lab->walk.count - 1].tlb_ns;
    return fm_blend_variance(2 * point->tlb_ns, 0, all, references);
}

/* Whether a level is but a blend of those around it. Runs so short that the pages of their own
   readings cost more than the level does say nothing of it. */
static bool is_blend(struct fm_lab *lab, size_t index, bool *blend, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_walk_point *point = &lab->walk.points[middle_of(lab, level)];
    const double pages = (double)point->bytes / (double)lab->machine->info.page_size;
    struct runs runs = {.bytes = point->bytes,
                        .unit = point->unit,
                        .references = (unsigned)fmin(MOST, fmax(FEWEST, pages / OF_THEM))};
    double clock;
    if (!fm_lab_place(lab, point->bytes, err) || !time_runs(lab, &runs, err) ||
        !by_clock(lab, &runs, &clock, err))
        return false;
    const double low = level[-1].height_ns, high = level[1].height_ns;
    const double mean = runs.spread.mean - 2 * point->tlb_ns;
    const double whole = fm_blend_variance(mean, low, high, runs.references);
    const double noise = clock + by_tlb(lab, point, runs.references);
    const double left = runs.spread.variance - noise;
    *blend = fabs(mean - fm_walk_mean(point)) < AS_WALKED * (high - low) && noise < IN_IT * whole &&
             left > A_BLEND * whole && left < NO_MORE * whole;
    return true;
}

/* On the long rise after a level of few ways one reference hits and another misses. Where that is
   read as a level between, none takes what it is said to take. */
static bool doubt_blends(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_known *known = &lab->known;
    for (size_t i = 1; i + 1 < known->count;) {
        const struct fm_known_level *level = &known->levels[i];
        bool blend = false;
        if (level->flat_to < LEAST_PLATEAU * level->flat_from &&
            !fm_lab_counted(lab, (unsigned)i) && !fm_lab_is_late(lab) &&
            !is_blend(lab, i, &blend, err))
            return false;
        if (blend)
            fm_take_level_away(known, i);
        else
            i++;
    }
    return true;
}

bool fm_doubt_levels(struct fm_lab *lab, struct fm_error *err)
{
    return doubt_last(lab, err) && doubt_ledge(lab, err) && doubt_blends(lab, err);
}
