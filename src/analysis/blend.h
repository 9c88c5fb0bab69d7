/* Whether readings are of one latency or of two in a blend: what all references take alike differs
 * from one short run to the next by no more than the clock does, but of a blend a run holds now
 * more of the slow ones and now fewer. */
#ifndef FM_ANALYSIS_BLEND_H
#define FM_ANALYSIS_BLEND_H

#include <stddef.h>

struct fm_spread {
    double mean, variance;
};

/* Of n readings, which are sorted on the way; those that stand farthest out do not count. */
struct fm_spread fm_spread_of(double *readings, size_t n);

/* The variance of what each reference takes, in runs of so many on average, where each takes one of
   two latencies at random; 0 where the mean is not between them. */
double fm_blend_variance(double mean, double low, double high, double references);

#endif
