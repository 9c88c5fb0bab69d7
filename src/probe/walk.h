/* The walk: latency over footprint, with neither the prefetcher nor the TLB in it.
 *
 * Each point is a swept string over all units of the footprint. What the TLB adds to it is found
 * with two companions that touch equally many lines, and so get the same answer from any cache:
 * one spreads them over all the pages of the footprint, a few units to a page, the other packs
 * them into a few pages. A swept string shows a TLB the same cycle of pages however many units it
 * touches in each, so the difference of the two is the TLB's share, and is taken out. */
#ifndef FM_PROBE_WALK_H
#define FM_PROBE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_lab;

struct fm_walk_point {
    size_t bytes;
    unsigned placements; /* how many placements were measured */
    double sum, sum_of_squares;
    double low, high;    /* across placements */
    double tlb_sum;      /* the TLB's share that was taken out */
};

#define FM_WALK_POINTS 512

struct fm_walk {
    size_t unit;
    struct fm_walk_point points[FM_WALK_POINTS]; /* ascending */
    size_t count;
};

/* Latency at one footprint in the current placement; adds it to the points of the walk. The
   footprint is rounded to whole units. ns and tlb_ns may be NULL. */
bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, double *tlb_ns,
                     struct fm_error *err);

/* The mean latency of a point across placements, and its relative standard error. */
double fm_walk_mean(const struct fm_walk_point *point);
double fm_walk_error(const struct fm_walk_point *point);

/* Latency at any footprint, interpolated between points (log-log), flat beyond the ends. */
double fm_walk_at(const struct fm_walk *walk, double bytes);

/* Forgets the points above a footprint. */
void fm_walk_cut(struct fm_walk *walk, double bytes);

#endif
