/* The automatic analysis of Cooper and Sandoval (2011), section V, as one function. */
#ifndef FM_ANALYSIS_COOPER_SANDOVAL_H
#define FM_ANALYSIS_COOPER_SANDOVAL_H

#include <stdbool.h>
#include <stddef.h>

struct fm_published_level {
    double capacity; /* the last footprint of the step */
    double height;   /* the worst latency within it, in adds */
};

/* latency[i] at the ascending footprint bytes[i], both positive; add is the time of one integer add
   in the same unit. Latencies are taken in adds, to whole ones if `whole` (as published), made
   isotonic, and smoothed over one octave to count the peaks of their density along log2 y under a
   window of log2 1.25. That many steps are then fitted to the isotonic, unsmoothed curve. The last
   level is memory; its capacity is only the end of the curve.

   Returns the number of levels, at most max; 0 for input that makes no sense or without memory. */
size_t fm_cooper_sandoval(const double *bytes, const double *latency, size_t n, double add,
                          bool whole, struct fm_published_level *levels, size_t max);

#endif
