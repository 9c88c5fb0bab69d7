/* The walk as a sum of knees: what scattered pages blur, read all at once. */
#ifndef FM_PROBE_FIT_H
#define FM_PROBE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/knees.h"
#include "probe/walk.h"

struct fm_known;
struct fm_lab;

/* A walk, of loads or of jumps, and the knees that describe it. Not to be copied: the curve points
   into it. */
struct fm_fitted {
    const struct fm_walk *walk;
    const struct fm_knee_fit *fit; /* count 0: none does */
    double bytes[FM_WALK_POINTS], latency[FM_WALK_POINTS], error[FM_WALK_POINTS];
    struct fm_knee_curve curve; /* of these */
};

/* The error of a point is what a clock can be off by and luck with its pages. */
void fm_fitted_load(struct fm_fitted *fitted, const struct fm_walk *walk,
                    const struct fm_knee_fit *fit, size_t page);

/* The walk over data and its knees. */
void fm_lab_fitted(const struct fm_lab *lab, struct fm_fitted *fitted);

/* Fits knees to the walk, one to each level that is known. Leaves known.fit empty where pages are
   not scattered, so that nothing is blurred, and where knees do not describe the walk. */
void fm_fit_walk(struct fm_lab *lab);

/* Fits the walk again with more that is known of its levels than before. False, and all is as it
   was, where it cannot be described so, with residuals of no more than `worst` errors. */
bool fm_refit_walk(struct fm_lab *lab, const struct fm_known *was, double worst);

/* Residuals of a walk that is described as well as before, or as its errors allow. */
double fm_fit_allowed(const struct fm_knee_fit *before);

/* Before that: adds a level where the walk is better described by one knee more, and takes one away
   where it is described as well by one less. */
void fm_fit_levels(struct fm_lab *lab);

/* Whether sets and ways say what a level holds: not of what the level inside keeps a part of, whose
   policy decides how much of it comes. */
bool fm_fitted_is_sized(const struct fm_fitted *fitted, size_t level);

/* The footprint at which this part of the references misses a level, and where it can lie. False
   where there is no fit or memory is out. */
bool fm_fitted_crossing(const struct fm_fitted *fitted, size_t level, double misses, double *at,
                        double *low, double *high);

/* The height of a level, and where it can lie. */
bool fm_fitted_height(const struct fm_fitted *fitted, size_t level, double *ns, double *low,
                      double *high);

/* How much the levels around it make of the latency where a level shows most clearly, as a part of
   its own; 0 where there is no fit. */
double fm_fitted_blur(const struct fm_fitted *fitted, size_t level);

/* What the misses of other levels make of a latency at a footprint, where the level is blurred: the
   level inside that still hits, the one outside that misses already. */
double fm_fit_beside(const struct fm_lab *lab, size_t level, double bytes);

/* By how many parts the misses of a level grow there as the footprint grows by one. */
double fm_steepness(const struct fm_fitted *fitted, size_t level, double at, double misses);

/* The standard error that luck with pages, and interference, make of that footprint's logarithm. */
double fm_luck(const struct fm_fitted *fitted, size_t level, double at, double misses);

#endif
