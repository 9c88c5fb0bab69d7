/* The noise of a curve, read off the curve itself. */
#ifndef FM_ANALYSIS_NOISE_H
#define FM_ANALYSIS_NOISE_H

#include <stdbool.h>
#include <stddef.h>

/* Standard error of each y[i] over the ascending x[i], where fit[] is the same curve made
   non-decreasing: the larger of what its neighbours and what the whole curve show. 0 where
   nothing moves. False only when memory is out. */
bool fm_curve_noise(const double *x, const double *y, const double *fit, size_t n, double *error);

#endif
