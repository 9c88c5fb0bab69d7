/* The TLB's part in a walk: what siblings show of it, fitted along all points. */
#include <math.h>

#include "analysis/monotone_steps.h"
#include "probe/lab.h"
#include "probe/walk_parts.h"

/* So few pages fit every TLB there is. */
#define PAGES_IN_ANY_TLB 2
/* Smaller footprints that no larger one takes but half of, and a part that readings are off by. */
#define SMALLER 3
#define READING 0.1
/* So many times the changes that a plateau may show make no more of a difference. */
#define STEEPEST 3
/* Footprints that a TLB can hardly tell apart. */
#define NEAR 1.25
/* Times a TLB's reach at which all of its pages miss. */
#define TLB_BEHIND 2

bool fm_walk_fits_any_tlb(const struct fm_lab *lab, size_t bytes)
{
    return bytes <= PAGES_IN_ANY_TLB * lab->machine->info.page_size;
}

double fm_walk_behind_tlbs(const struct fm_lab *lab)
{
    double behind = INFINITY;
    for (unsigned level = 0; level < FM_TLB_LEVELS; level++) {
        const struct fm_counted *found = fm_lab_counted(lab, FM_CACHE_LEVELS + level);
        behind = found ? TLB_BEHIND * found->bytes : behind;
    }
    return behind;
}

bool fm_walk_tlb_is_known(const struct fm_lab *lab, size_t bytes, bool closely)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_walk_point *a, *b;
    if (fm_walk_fits_any_tlb(lab, bytes))
        return true;
    const size_t at = fm_walk_position(walk, (double)bytes);
    if (at == walk->count)
        return false;
    fm_walk_between(walk, (double)bytes, &a, &b);
    if (b->bytes == bytes && b->tlb_count)
        return true;
    const bool near = (double)b->bytes < NEAR * (double)a->bytes;
    const double off = closely ? a->tlb_error + b->tlb_error : 0;
    return (near || (double)a->bytes >= fm_walk_behind_tlbs(lab)) &&
           b->tlb_ns - a->tlb_ns + off < FM_WALK_GRAIN * fm_walk_mean(a);
}

/* Latency at a point as its own readings alone have it. */
static double by_itself(const struct fm_walk_point *point)
{
    return point->sum / point->placements - point->tlb_sum / point->tlb_count;
}

/* How much that changes from a point to the next on one side of it which has such readings, for
   each point on the way there: those between have no say, since what is taken for the TLB's part
   there comes of what is to be fitted. */
static double change_beside(const struct fm_walk *walk, size_t i, int side)
{
    const struct fm_walk_point *point = &walk->points[i];
    const size_t all = side < 0 ? i : walk->count - 1 - i;
    for (int away = 1; away <= (int)all; away++) {
        const struct fm_walk_point *other = point + side * away;
        if (other->tlb_count)
            return fabs(by_itself(other) - by_itself(point)) / away;
    }
    return 0;
}

/* How unsure the difference of two readings is. What the clock adds grows with the reading. And in
   the midst of a rise some policies answer one order with more misses than another, or take long to
   come to rest: there the difference is of caches too, by no more than a part of the reading. */
static double unsureness(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *point = &walk->points[i];
    const double change = fmax(change_beside(walk, i, -1), change_beside(walk, i, 1));
    const double steep = fmin(change / (FM_WALK_STEADY * fabs(by_itself(point))), STEEPEST);
    return point->sum / point->placements * (1 + steep * steep) / sqrt(point->tlb_count);
}

/* How far the fitted TLB's part is from the readings of a point, and these from each other. */
static double misfit(const struct fm_walk_point *point)
{
    const double n = point->tlb_count, mean = point->tlb_sum / n;
    const double variance = n > 1 ? (point->tlb_sum_of_squares - n * mean * mean) / (n - 1) : 0;
    return hypot(mean - point->tlb_ns, sqrt(fmax(0, variance) / n));
}

/* What the TLB's part can be: latency does not fall as footprints grow, so what is left is not far
   less than each of a few smaller ones takes, of which something may have disturbed one. A policy
   that answers one order with more misses than the other passes for a TLB otherwise. The parts of
   the smaller ones are known. */
static double possible_tlb(const struct fm_walk *walk, size_t i, double tlb_ns)
{
    const double whole = walk->points[i].sum / walk->points[i].placements;
    double least = INFINITY;
    for (size_t before = i > SMALLER ? i - SMALLER : 0; before < i; before++)
        least = fmin(least, fm_walk_mean(&walk->points[before]));
    const double left = whole - tlb_ns;
    const bool impossible = i > 0 && left < least / 2 && least - left > READING * whole;
    return impossible ? fmax(0, whole - least) : tlb_ns;
}

bool fm_walk_fit_tlb(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    double measured[FM_WALK_POINTS], error[FM_WALK_POINTS], fitted[FM_WALK_POINTS];
    size_t used = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        if (point->tlb_count == 0)
            continue;
        measured[used] = possible_tlb(walk, i, point->tlb_sum / point->tlb_count);
        error[used++] = unsureness(walk, i);
    }
    if (used && !fm_monotone_steps(measured, error, used, fitted))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the walk");
    /* Where it was not measured, half way between the measured neighbours, or none yet. */
    double before = 0;
    for (size_t i = 0, next = 0; i < walk->count; i++) {
        struct fm_walk_point *point = &walk->points[i];
        const double after = next < used ? fmax(0, fitted[next]) : before;
        if (point->tlb_count) {
            before = after;
            next++;
        }
        const double part = fm_walk_fits_any_tlb(lab, point->bytes) ? 0 : 0.5;
        const double fit = point->tlb_count ? after : part * (before + after);
        point->tlb_ns = possible_tlb(walk, i, fit);
        point->tlb_error = point->tlb_count ? misfit(point) : part * (after - before);
    }
    return true;
}

bool fm_walk_is_at_tlb_edge(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *point = &walk->points[i];
    const double before = i > 0 ? point[-1].tlb_ns : point->tlb_ns;
    const double after = i + 1 < walk->count ? point[1].tlb_ns : point->tlb_ns;
    return after - before > FM_WALK_GRAIN * fm_walk_mean(point);
}
