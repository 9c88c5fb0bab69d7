#include "probe/placements.h"

#include <math.h>

#include "probe/fit.h"
#include "probe/lab.h"

/* Changes of latency between neighbouring points that make a rise. */
#define RISE 0.05
/* Changes of latency between placements that make a difference. */
#define DIFFERENT 0.03
/* … and what they make of most points of a rise that they move. */
#define MOVED 0.06
/* Footprints beyond this are so many pages that luck evens out. */
#define LARGEST 0x1p24
/* How long before a rise shows itself a larger number of placements may find its beginning. */
#define BEFORE 4
/* References and time spent at the most, in each effort: on all rises, and on the beginning of
   each. And the laps that one reading takes, roughly. */
static const struct spend {
    double references, seconds;
} spend_on_all[] = {[FM_QUICK] = {1e6, 0.2}, [FM_NORMAL] = {6e6, 1.2}, [FM_THOROUGH] = {5e7, 15}},
  spend_on_each[] = {[FM_QUICK] = {1e6, 0.2}, [FM_NORMAL] = {6e6, 0.8}, [FM_THOROUGH] = {4e7, 10}};
#define LAPS_EACH 3
/* Pages drawn that show the shape of a rise. */
#define ENOUGH_PAGES 12000
/* How far luck may still have moved the beginning of a rise when the others are looked at. */
#define CLOSE_ENOUGH 0.02
/* Passes at the most. */
#define MOST_PASSES 200
/* Around where misses begin, by the contract's measure of it. */
#define MISS_RATIO 0.05
#define AROUND     1.5

/* The points to measure again. */
struct rises {
    size_t index[FM_WALK_POINTS]; /* from large to small */
    size_t count;
    double smallest; /* footprint that placements make a difference to; 0: none */
    double spent;    /* references */
    double since;    /* when that began */
};

static bool differ(double a, double b, double by)
{
    return fabs(log(a / b)) > by;
}

/* Where pages are scattered, a lucky placement hides where a rise begins. So all between the first
   rise that they move and the end of the last are measured again. */
static void widen(const struct fm_walk *walk, struct rises *rises)
{
    const double end = 1.5 * (double)walk->points[rises->index[0]].bytes;
    rises->count = 0;
    for (size_t i = walk->count; i-- > 0;) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes >= rises->smallest / BEFORE && bytes <= fmin(end, LARGEST))
            rises->index[rises->count++] = i;
    }
}

static void find_rises(const struct fm_walk *walk, struct rises *rises)
{
    rises->count = 0;
    for (size_t i = walk->count; i-- > 0;) {
        const double here = fm_walk_mean(&walk->points[i]);
        const bool rise =
            (i > 0 && differ(here, fm_walk_mean(&walk->points[i - 1]), RISE)) ||
            (i + 1 < walk->count && differ(here, fm_walk_mean(&walk->points[i + 1]), RISE));
        if (rise && (double)walk->points[i].bytes <= LARGEST)
            rises->index[rises->count++] = i;
    }
}

/* One pass over the points of a range, on a fresh placement, from large to small. A cache that
   evicts what came first keeps the order in which lines came. On the way up new lines came between
   old ones, and it then hits where on fresh pages it would miss; on the way down lines only leave.
   So what was read on the way up is forgotten. */
static bool pass(struct fm_lab *lab, struct rises *rises, double from, double to, bool first,
                 struct fm_error *err)
{
    bool placed = false, differed = false;
    for (size_t i = 0; i < rises->count; i++) {
        struct fm_walk_point *point = &lab->walk.points[rises->index[i]];
        const double before = fm_walk_mean(point);
        double ns;
        if ((double)point->bytes < from || (double)point->bytes > to)
            continue;
        if (!placed && !fm_lab_place(lab, point->bytes, err))
            return false;
        if (first)
            fm_walk_forget(point);
        if (!fm_lab_go_on(lab, 0.6, err) ||
            !fm_walk_sample(lab, rises->index[i], !placed, &ns, err))
            return false;
        placed = true;
        rises->spent += LAPS_EACH * (double)point->bytes / (double)point->unit;
        /* Twice in a row: once is noise. */
        const bool differs = differ(before, ns, DIFFERENT);
        if (first && differs && differed)
            rises->smallest = (double)point->bytes;
        differed = differs;
    }
    return true;
}

static void begin_spending(const struct fm_lab *lab, struct rises *rises)
{
    rises->spent = 0;
    rises->since = lab->machine->ops->elapsed(lab->machine);
}

static bool is_spent(const struct fm_lab *lab, const struct rises *rises, const struct spend *most)
{
    return rises->spent > most->references ||
           lab->machine->ops->elapsed(lab->machine) - rises->since > most->seconds;
}

/* The smaller the more often: a small footprint is cheap, and its luck varies most. Every pass
   takes the smallest, every second those twice as large, and so on. */
static bool sample_all(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    const double page = (double)lab->machine->info.page_size;
    begin_spending(lab, rises);
    for (unsigned number = 1; number < MOST_PASSES; number++) {
        const double to = AROUND * rises->smallest * (double)(number & -number);
        if (!pass(lab, rises, 0, fmin(to, LARGEST), false, err))
            return false;
        const double drawn = number * AROUND * rises->smallest / page;
        if (drawn > ENOUGH_PAGES || is_spent(lab, rises, &spend_on_all[lab->options->effort]))
            break;
    }
    return true;
}

/* Where the misses of a level begin decides its capacity; there luck is rare and large. */
static bool sample_beginnings(struct fm_lab *lab, struct rises *rises, struct fm_error *err)
{
    fm_fit_walk(lab);
    const struct fm_knee_fit fit = lab->known.fit;
    for (size_t i = 1; i < fit.count; i++) {
        const double at = fm_knee_crossing(&fit.knees[i], MISS_RATIO);
        begin_spending(lab, rises);
        if (fit.knees[i].shape == FM_KNEE_CONTIGUOUS)
            continue;
        for (unsigned number = 0; number < MOST_PASSES; number++) {
            const double before = rises->spent;
            if (!pass(lab, rises, at / AROUND, at * AROUND, false, err))
                return false;
            if (rises->spent == before || fm_luck(lab, i, at, MISS_RATIO) < CLOSE_ENOUGH ||
                is_spent(lab, rises, &spend_on_each[lab->options->effort]))
                break;
        }
    }
    return true;
}

bool fm_repeat_on_fresh_pages(struct fm_lab *lab, struct fm_error *err)
{
    struct rises rises = {.smallest = 0};
    find_rises(&lab->walk, &rises);
    if (!pass(lab, &rises, 0, LARGEST, true, err))
        return false;
    lab->known.scattered = rises.smallest > 0;
    if (!lab->known.scattered)
        return true;
    widen(&lab->walk, &rises);
    return sample_all(lab, &rises, err) && sample_beginnings(lab, &rises, err);
}

bool fm_rise_is_soft(const struct fm_lab *lab, size_t level)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_known_level *here = &lab->known.levels[level], *next = here + 1;
    size_t moved = 0, all = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        const double bytes = (double)point->bytes;
        if (bytes < here->flat_to || bytes > next->flat_from || point->placements < 2)
            continue;
        all++;
        moved += point->high - point->low > MOVED * fm_walk_mean(point);
    }
    return 2 * moved > all;
}
