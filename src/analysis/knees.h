/* The whole latency curve as a sum of knees, one to a cache: what a plateau would be if the caches
 * around it did not blur it.
 *
 * On scattered pages a cache begins to miss long before it is full, and goes on hitting long after
 * (occupancy.h); a plateau between two such caches is never reached. But the shape of each knee
 * is known up to its capacity and ways, so that plateaus and knees can be fitted together. */
#ifndef FM_ANALYSIS_KNEES_H
#define FM_ANALYSIS_KNEES_H

#include <stdbool.h>
#include <stddef.h>

#define FM_KNEES 8

enum fm_knee_shape {
    FM_KNEE_SCATTERED,        /* random placement, LRU */
    FM_KNEE_SCATTERED_RANDOM, /* random placement, random victims */
    FM_KNEE_CONTIGUOUS
};

/* The knee that fits best; its capacity and ways are no more than parameters of that shape. */
struct fm_knee {
    double capacity; /* bytes */
    unsigned ways;
    enum fm_knee_shape shape;
    size_t row; /* of the table of shapes; for this room alone */
};

struct fm_knee_fit {
    struct fm_knee knees[FM_KNEES];
    double heights[FM_KNEES + 1]; /* latency of each level; the last is memory's */
    size_t count;                 /* knees */
    double error; /* root mean square of the residuals, in units of the errors given */
};

/* A latency curve of n points and the relative standard error of each. */
struct fm_knee_curve {
    const double *bytes, *latency, *error;
    size_t n;
};

/* Fits `count` knees whose rough places are given (bytes half way up each rise, ascending) to a
   curve. False when memory is out or the curve has too few points. */
bool fm_fit_knees(const struct fm_knee_curve *curve, const double *places, size_t count,
                  struct fm_knee_fit *fit);

/* Miss ratio of a knee at a footprint, and the footprint of a miss ratio. */
double fm_knee_misses(const struct fm_knee *knee, double bytes);
double fm_knee_crossing(const struct fm_knee *knee, double misses);

/* Where that footprint can lie, given how well other knees in its place fit the curve. False when
   memory is out. */
bool fm_knee_crossing_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                            size_t index, double misses, double *low, double *high);

#endif
