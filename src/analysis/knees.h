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
};

struct fm_knee_fit {
    struct fm_knee knees[FM_KNEES];
    double heights[FM_KNEES + 1]; /* latency of each level; the last is memory's */
    size_t count;                 /* knees */
    double error;                 /* root mean square of the relative residuals */
};

/* Fits `count` knees whose rough places are given (bytes half way up each rise, ascending) to a
   curve of n points. False when memory is out or the curve has too few points. */
bool fm_fit_knees(const double *bytes, const double *latency, size_t n, const double *places,
                  size_t count, struct fm_knee_fit *fit);

/* Miss ratio of a knee at a footprint. */
double fm_knee_misses(const struct fm_knee *knee, double bytes);

#endif
