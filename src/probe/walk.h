/* The walk: latency over footprint, with neither the prefetcher nor the TLB in it.
 *
 * Each point is a pair of swept strings over the same pages. One touches every unit of the
 * footprint; its companion touches only some units of each page, few enough that the caches'
 * answer to them is known from smaller footprints. Both show a TLB the same cycle of pages, so
 * what the companion takes beyond that known answer is the TLB's share, and is taken out. */
#ifndef FM_PROBE_WALK_H
#define FM_PROBE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_lab;

struct fm_walk_point {
    size_t bytes;
    unsigned placements;        /* how many placements were measured */
    double sum, sum_of_squares; /* of the whole string, TLB's share included */
    double low, high;           /* the same, across placements */
    double tlb_measured;        /* the TLB's share as the companion shows it */
    double tlb_weight;          /* how far that can be relied on; 0: not at all */
    double tlb_ns;              /* the share that is taken out */
    bool tlb_known;             /* … and that is sure: measured, or the same on both sides */
};

#define FM_WALK_POINTS 512

/* No cache has longer lines than this; a longer one would be reported as undetermined. */
#define FM_LONGEST_LINE 256

struct fm_walk {
    size_t unit;
    double sure_to;      /* up to this footprint no level's line is longer than the unit … */
    size_t longest_line; /* … and beyond it none is longer than this */
    bool settled;        /* the TLB's share is known all along the walk */
    struct fm_walk_point points[FM_WALK_POINTS]; /* ascending */
    size_t count;
};

/* Latency at one footprint in the current placement; adds it to the points of the walk. The
   footprint is rounded to whole units. ns may be NULL. */
bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err);

/* Measures the TLB's share at all points again, with what is known now. The placement must hold the
   largest point. */
bool fm_walk_settle(struct fm_lab *lab, struct fm_error *err);

/* Measures a point again and keeps what is less: for one that interference must have touched. */
bool fm_walk_mend(struct fm_lab *lab, size_t index, struct fm_error *err);

/* The mean latency of a point across placements, and its relative standard error. */
double fm_walk_mean(const struct fm_walk_point *point);
double fm_walk_error(const struct fm_walk_point *point);

/* Latency at any footprint, interpolated (log-log) between points whose TLB share is sure, flat
   beyond the ends. */
double fm_walk_at(const struct fm_walk *walk, double bytes);

/* The TLB's share at any footprint, likewise. */
double fm_walk_tlb_at(const struct fm_walk *walk, double bytes);

/* How far that share can be relied on, 0..1; 1 where there is none. */
double fm_walk_tlb_weight_at(const struct fm_walk *walk, double bytes);

/* Forgets the points above a footprint. */
void fm_walk_cut(struct fm_walk *walk, double bytes);

#endif
