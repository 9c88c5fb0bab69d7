#include "probe/walk.h"

#include <math.h>
#include <string.h>

#include "analysis/isotonic.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* So few pages fit every TLB there is. */
#define PAGES_IN_ANY_TLB 2
/* Part of a latency that makes no difference. */
#define GRAIN 0.01
/* Changes of latency from one point to the next that a plateau may show. */
#define STEADY 0.03
/* Footprints that a TLB can hardly tell apart. */
#define NEAR 1.25

double fm_walk_mean(const struct fm_walk_point *point)
{
    return point->sum / point->placements - point->tlb_ns;
}

double fm_walk_error(const struct fm_walk_point *point)
{
    if (point->placements < 2)
        return 0;
    const double n = point->placements, whole = point->sum / n;
    const double variance = (point->sum_of_squares - n * whole * whole) / (n - 1);
    return variance > 0 ? sqrt(variance / n) / fm_walk_mean(point) : 0;
}

/* Index of the first point not below bytes. */
static size_t position(const struct fm_walk *walk, double bytes)
{
    size_t low = 0, high = walk->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((double)walk->points[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The points on both sides of a footprint and how far between them it lies, on a log scale. */
static double between(const struct fm_walk *walk, double bytes, const struct fm_walk_point **a,
                      const struct fm_walk_point **b)
{
    const size_t at = position(walk, bytes);
    *b = &walk->points[at < walk->count ? at : walk->count - 1];
    *a = &walk->points[at > 0 ? at - 1 : 0];
    if (*a == *b)
        return 0;
    return log(bytes / (double)(*a)->bytes) / log((double)(*b)->bytes / (double)(*a)->bytes);
}

double fm_walk_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = between(walk, bytes, &a, &b);
    return exp(log(fm_walk_mean(a)) * (1 - part) + log(fm_walk_mean(b)) * part);
}

double fm_walk_tlb_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = between(walk, bytes, &a, &b);
    return a->tlb_ns * (1 - part) + b->tlb_ns * part;
}

void fm_walk_cut(struct fm_walk *walk, double bytes)
{
    walk->count = position(walk, nextafter(bytes, INFINITY));
}

/* The point at a footprint, a new one where there was none; NULL when there is no room for it. */
static struct fm_walk_point *point_at(struct fm_walk *walk, size_t bytes)
{
    const size_t i = position(walk, (double)bytes);
    struct fm_walk_point *point = &walk->points[i];
    if (i < walk->count && point->bytes == bytes)
        return point;
    if (walk->count == FM_WALK_POINTS)
        return NULL;
    memmove(point + 1, point, (walk->count - i) * sizeof *point);
    walk->count++;
    *point = (struct fm_walk_point){.bytes = bytes, .low = INFINITY};
    return point;
}

static void add_reading(struct fm_walk_point *point, double whole)
{
    point->placements++;
    point->sum += whole;
    point->sum_of_squares += whole * whole;
    point->low = fmin(point->low, whole);
    point->high = fmax(point->high, whole);
}

static bool time_swept(struct fm_lab *lab, size_t bytes, unsigned burst, double *ns,
                       struct fm_error *err)
{
    const struct fm_swept_plan plan = {.bytes = bytes,
                                       .unit = lab->walk.unit,
                                       .page = lab->machine->info.page_size,
                                       .burst = burst,
                                       .seed = lab->placement_seed};
    const struct fm_care care = {.repeats = 2};
    struct fm_string string;
    return fm_swept_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* Whether the TLB's part at a footprint is known without the sibling: nothing is asked of a TLB yet,
   or it was measured on another placement (which changes nothing for a TLB), or it is the same on
   both sides and these are near. */
static bool tlb_is_known(const struct fm_lab *lab, size_t bytes)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_walk_point *a, *b;
    if (bytes <= PAGES_IN_ANY_TLB * lab->machine->info.page_size)
        return true;
    const size_t at = position(walk, (double)bytes);
    if (at == walk->count)
        return false;
    between(walk, (double)bytes, &a, &b);
    if (b->bytes == bytes && b->tlb_count)
        return true;
    return (double)b->bytes < NEAR * (double)a->bytes &&
           b->tlb_ns - a->tlb_ns < GRAIN * fm_walk_mean(a);
}

/* How much the walk changes from one point to the next. */
static double change(const struct fm_walk *walk, size_t from, size_t to)
{
    const struct fm_walk_point *a = &walk->points[from], *b = &walk->points[to];
    return fabs(log(b->sum / b->placements / (a->sum / a->placements)));
}

/* How far the difference of two readings can be relied on. What the clock adds grows with the
   reading. And in the midst of a rise some policies answer one order with more misses than another,
   or take long to come to rest: there the difference is of caches too. */
static double reliability(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *point = &walk->points[i];
    const double before = i > 0 ? change(walk, i - 1, i) : 0;
    const double after = i + 1 < walk->count ? change(walk, i, i + 1) : 0;
    const double steep = fmax(before, after) / STEADY;
    return point->placements / point->sum / (1 + steep * steep);
}

/* Fits the TLB's part along the walk. It never falls as pages are added, so a reading that something
   disturbed is outvoted by its neighbours. */
static bool fit_tlb(struct fm_walk *walk, struct fm_error *err)
{
    double measured[FM_WALK_POINTS], weight[FM_WALK_POINTS], fitted[FM_WALK_POINTS];
    size_t used = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        if (point->tlb_count == 0)
            continue;
        measured[used] = point->tlb_sum / point->tlb_count;
        weight[used++] = reliability(walk, i) * point->tlb_count;
    }
    if (used && !fm_isotonic_median(measured, weight, used, fitted))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the walk");
    /* Where it was not measured, half way between the measured neighbours. */
    double before = 0;
    for (size_t i = 0, next = 0; i < walk->count; i++) {
        struct fm_walk_point *point = &walk->points[i];
        const double after = next < used ? fmax(0, fitted[next]) : before;
        if (point->tlb_count) {
            before = after;
            next++;
        }
        point->tlb_ns = point->tlb_count ? after : (before + after) / 2;
    }
    return true;
}

bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    const size_t page = lab->machine->info.page_size;
    const bool bursts = fm_swept_has_bursts(page, walk->unit);
    bytes = bytes < walk->unit ? walk->unit : bytes / walk->unit * walk->unit;
    const bool known = !bursts || tlb_is_known(lab, bytes);
    double whole, single = 0;
    if (!time_swept(lab, bytes, bursts ? 2 : 1, &whole, err) ||
        (!known && !time_swept(lab, bytes, 1, &single, err)))
        return false;
    struct fm_walk_point *point = point_at(walk, bytes);
    if (point) {
        add_reading(point, whole);
        point->tlb_sum += known ? 0 : single - whole;
        point->tlb_count += !known;
        if (!fit_tlb(walk, err))
            return false;
    }
    if (ns)
        *ns = whole - fm_walk_tlb_at(walk, (double)bytes);
    return true;
}

bool fm_walk_mend(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, lab->walk.unit);
    double whole, single = 0;
    if (!time_swept(lab, point->bytes, bursts ? 2 : 1, &whole, err) ||
        (point->tlb_count && !time_swept(lab, point->bytes, 1, &single, err)))
        return false;
    if (whole < point->sum / point->placements) {
        *point = (struct fm_walk_point){.bytes = point->bytes,
                                        .low = whole,
                                        .tlb_sum = point->tlb_count ? single - whole : 0,
                                        .tlb_count = point->tlb_count > 0};
        add_reading(point, whole);
    }
    return fit_tlb(&lab->walk, err);
}
