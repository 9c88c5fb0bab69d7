/* Gaussian smoothing on any ascending grid. */
#ifndef FM_ANALYSIS_SMOOTH_H
#define FM_ANALYSIS_SMOOTH_H

#include <stddef.h>

/* The part of the x axis that each point stands for: half way to either neighbour, and as much
   again outwards at the ends. x ascending; a single point gets 1. */
void fm_axis_shares(const double *x, size_t n, double *share);

/* out[i] is the mean of y around x[i] under a Gaussian of standard deviation sigma, each point
   counting by its share of the axis, so that densely sampled stretches count no more than others.
   Near the ends the mean is over what is there. sigma 0 copies. out must not be y. */
void fm_smooth(const double *x, const double *y, size_t n, double sigma, double *out);

#endif
