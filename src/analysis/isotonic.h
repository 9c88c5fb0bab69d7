/* Isotonic regression: the non-decreasing sequence nearest to a given one. */
#ifndef FM_ANALYSIS_ISOTONIC_H
#define FM_ANALYSIS_ISOTONIC_H

#include <stdbool.h>
#include <stddef.h>

/* Least squares, by pooling adjacent violators in O(n). weight may be NULL (all alike) and must be
   positive. fit may be y itself. False only when memory is out; fit is then untouched. */
bool fm_isotonic(const double *y, const double *weight, size_t n, double *fit);

/* The same for least absolute deviations: pools take their weighted median, so that a few wild
   points move nothing. O(n^2 log n) at worst, near O(n log n) on curves that are almost sorted. */
bool fm_isotonic_median(const double *y, const double *weight, size_t n, double *fit);

#endif
