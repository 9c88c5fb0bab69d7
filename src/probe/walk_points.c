/* The points of a walk: kept in order, read between. */
#include <math.h>
#include <string.h>

#include "probe/lab.h"
#include "probe/walk_parts.h"

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

double fm_walk_tlb_error(const struct fm_walk_point *point)
{
    return point->tlb_error / fm_walk_mean(point);
}

size_t fm_walk_position(const struct fm_walk *walk, double bytes)
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

double fm_walk_between(const struct fm_walk *walk, double bytes, const struct fm_walk_point **a,
                       const struct fm_walk_point **b)
{
    const size_t at = fm_walk_position(walk, bytes);
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
    const double part = fm_walk_between(walk, bytes, &a, &b);
    return exp(log(fm_walk_mean(a)) * (1 - part) + log(fm_walk_mean(b)) * part);
}

double fm_walk_tlb_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = fm_walk_between(walk, bytes, &a, &b);
    return a->tlb_ns * (1 - part) + b->tlb_ns * part;
}

size_t fm_walk_unpack(const struct fm_walk *walk, double *bytes, double *latency, double *error)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        bytes[i] = (double)point->bytes;
        latency[i] = fm_walk_mean(point);
        if (error)
            error[i] = hypot(fm_walk_error(point), fm_walk_tlb_error(point));
    }
    return walk->count;
}

bool fm_walk_is_spoilt(const struct fm_walk *walk, double from, double to)
{
    unsigned spoilt = 0, all = 0;
    for (size_t i = fm_walk_position(walk, from); i < walk->count; i++) {
        if ((double)walk->points[i].bytes > to)
            break;
        spoilt += walk->points[i].spoilt;
        all += walk->points[i].placements;
    }
    return 2 * spoilt > all;
}

void fm_walk_cut(struct fm_walk *walk, double bytes)
{
    walk->count = fm_walk_position(walk, nextafter(bytes, INFINITY));
}

struct fm_walk_point *fm_walk_point_at(struct fm_walk *walk, size_t bytes, size_t unit)
{
    const size_t i = fm_walk_position(walk, (double)bytes);
    struct fm_walk_point *point = &walk->points[i];
    if (i < walk->count && point->bytes == bytes)
        return point;
    if (walk->count == FM_WALK_POINTS)
        return NULL;
    memmove(point + 1, point, (walk->count - i) * sizeof *point);
    walk->count++;
    *point = (struct fm_walk_point){.bytes = bytes, .unit = unit, .low = INFINITY};
    return point;
}

void fm_walk_add_reading(const struct fm_lab *lab, struct fm_walk_point *point, double whole)
{
    point->placements++;
    point->spoilt += lab->spoilt;
    point->sum += whole;
    point->sum_of_squares += whole * whole;
    point->low = fmin(point->low, whole);
    point->high = fmax(point->high, whole);
}

void fm_walk_add_tlb_reading(struct fm_walk_point *point, double longer, unsigned weight)
{
    point->tlb_count += weight;
    point->tlb_sum += weight * longer;
    point->tlb_sum_of_squares += weight * longer * longer;
}

void fm_walk_forget(struct fm_walk_point *point)
{
    point->placements = point->spoilt = 0;
    point->sum = point->sum_of_squares = point->high = 0;
    point->low = INFINITY;
}
