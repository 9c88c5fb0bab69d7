/* Where a curve spends its time: the peaks of the density of its values. */
#ifndef FM_ANALYSIS_DENSITY_H
#define FM_ANALYSIS_DENSITY_H

#include <stddef.h>

struct fm_peak {
    double position;   /* on the y axis, in the unit of y_log2 */
    double height;     /* density there; the whole integrates to 1 */
    double prominence; /* how far one must go down to reach higher ground; the highest: height */
};

/* Estimates the density of y_log2 with a Gaussian kernel of standard deviation `bandwidth` > 0,
   each point counting by its share of the ascending x_log2, so that a flat stretch is dense
   because it is wide, not because it was sampled often. Writes the density's maxima, ascending by
   position, at most max of them; returns how many there are in all. 0 when n is 0, a value is not
   finite or memory is out. */
size_t fm_density_peaks(const double *x_log2, const double *y_log2, size_t n, double bandwidth,
                        struct fm_peak *peaks, size_t max);

#endif
