/* The whole latency curve as a sum of knees, one to a cache: what a plateau would be if the caches
 * around it did not blur it.
 *
 * A level sees only what the levels inside it miss: while those hold most of a footprint, it is as
 * empty as if the footprint were the rest. Unless it is inclusive: then the levels inside hold
 * nothing that it has lost.
 *
 * On scattered pages a cache begins to miss long before it is full, and goes on hitting long after
 * (occupancy.h); a plateau between two such caches is never reached. But the shape of each knee
 * is known up to its capacity and ways, so that plateaus and knees can be fitted together. */
#ifndef FM_ANALYSIS_KNEES_H
#define FM_ANALYSIS_KNEES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/known_knee.h"

/* The knees that fit best; their capacities and ways are no more than parameters of their shapes.
 */
struct fm_knee_fit {
    struct fm_knee knees[FM_KNEES];
    size_t sorts[FM_KNEES];       /* of the knees, for this room alone */
    bool inclusive[FM_KNEES];     /* what the level loses the levels inside lose too */
    double heights[FM_KNEES + 1]; /* latency of each level; the last is memory's */
    size_t count;                 /* knees */
    bool soft[FM_KNEES];
    double error; /* root mean square of the residuals, in units of the errors given */
};

/* A latency curve of n points and the relative standard error of each. */
struct fm_knee_curve {
    const double *bytes, *latency, *error;
    size_t n;
    double page;                /* bytes of a page */
    double given[FM_KNEES + 1]; /* latency of a level where it is known by itself; 0: not */
    struct fm_known_knee known[FM_KNEES];
};

/* What is known of a knee before the fit. */
struct fm_knee_place {
    double bytes; /* roughly half way up its rise */
    bool soft;    /* placements move it: it is not that of contiguous pages */
};

/* Fits `count` knees, given in ascending order, to a curve. False when memory is out or the curve
   has too few points. */
bool fm_fit_knees(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                  size_t count, struct fm_knee_fit *fit);

/* The same without the last rounds, for a tenth of the time: enough to see which of several
   guesses of the places is the best. */
bool fm_fit_knees_roughly(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                          size_t count, struct fm_knee_fit *fit);

/* The part of all references that misses a level, with those around it as they were fitted, and the
   largest footprint of which so much misses. */
double fm_fit_misses(const struct fm_knee_fit *fit, size_t index, double bytes);
double fm_fit_crossing(const struct fm_knee_fit *fit, size_t index, double misses);

/* Where the footprint of a miss ratio can lie, given how well other knees in its place fit the
   curve. False when memory is out. */
bool fm_knee_crossing_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                            size_t index, double misses, double *low, double *high);

/* The same of the height of a level. */
bool fm_knee_height_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                          size_t index, double *low, double *high);

#endif
