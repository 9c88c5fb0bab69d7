/* The flat stretches of a rising curve that is known up to its noise. */
#ifndef FM_ANALYSIS_PLATEAUS_H
#define FM_ANALYSIS_PLATEAUS_H

#include <stddef.h>

/* A level less than this much slower than the one before is taken for part of it: latency creeps
   up by some percent for other reasons. (Cooper and Sandoval ask for 1.25.) */
#define FM_LEAST_CONTRAST 1.15

struct fm_plateau {
    size_t from, to; /* first and last point */
    size_t core;     /* a point in the middle of its flattest part */
    double slope;    /* least slope there */
    double peak;     /* steepest slope of the rise after it; 0 when the curve ends here */
    double height;   /* of the curve at the core */
};

/* The curve lies between low[i] and high[i] at the ascending x[i] = log2 of the footprint; both
   bounds never fall. Writes the plateaus, ascending, to room for n; returns how many, 0 only when
   n is 0 or memory is out.

   A plateau is a minimum of the slope that every curve within the bounds must have. The slope is
   taken of y over the footprint to the power -tilt (tilt 0: over its logarithm): misses of a
   single cache, as far as they are log-concave over the logarithm of the footprint, have one
   steepest place for every tilt, so a minimum found under any tilt separates two caches. */
size_t fm_find_plateaus(const double *x, const double *low, const double *high, size_t n,
                        double tilt, struct fm_plateau *plateaus);

#endif
