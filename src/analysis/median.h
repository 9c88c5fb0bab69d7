/* Order statistics. */
#ifndef FM_ANALYSIS_MEDIAN_H
#define FM_ANALYSIS_MEDIAN_H

#include <stddef.h>

/* Sorts values ascending; none may be NaN. */
void fm_sort(double *values, size_t n);

/* The median of n > 0 values, which are sorted on the way. */
double fm_median(double *values, size_t n);

#endif
