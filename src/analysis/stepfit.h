/* The best step function through a sorted sequence. */
#ifndef FM_ANALYSIS_STEPFIT_H
#define FM_ANALYSIS_STEPFIT_H

#include <stdbool.h>
#include <stddef.h>

/* Splits y[0..n), which must not decrease, into `steps` runs so that the weighted sum of squared
   distances from each run's height is least. Out: the index of the last point of each run, its
   height, the sum itself (each may be NULL but ends). weight may be NULL (all alike); weights must
   be positive.

   Over a sorted sequence the cost of a run obeys the quadrangle inequality, so the best place to
   cut moves right as the end does, and each layer of the dynamic programme is filled by halving:
   O(steps n log n) time, where trying every cut with every sum afresh takes O(steps n^3).

   False when there are no steps, more steps than points, when y decreases somewhere or is not
   finite, or when memory is out. */
bool fm_step_fit(const double *y, const double *weight, size_t n, size_t steps, size_t *ends,
                 double *heights, double *error);

/* The same where a run's height is not its mean but its last and highest point: the worst latency
   within the step. It leaves a plateau earlier, since one raised point costs the whole run. */
bool fm_step_fit_top(const double *y, const double *weight, size_t n, size_t steps, size_t *ends,
                     double *heights, double *error);

#endif
