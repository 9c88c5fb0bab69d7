/* Points that cannot belong to a curve that never falls. */
#ifndef FM_ANALYSIS_OUTLIERS_H
#define FM_ANALYSIS_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

/* Marks in keep[] the largest set of points of which none lies further below the highest kept
   before it than `tolerance` standard errors of their difference; of two sets as large, the one
   with the lower sum, since disturbances only add time. O(n^2). Returns how many are kept; 0 when
   memory is out. */
size_t fm_monotone_subset(const double *y, const double *error, size_t n, double tolerance,
                          bool *keep);

#endif
