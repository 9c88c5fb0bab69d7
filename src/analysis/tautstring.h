/* The shortest path through a tube, free at both ends. */
#ifndef FM_ANALYSIS_TAUTSTRING_H
#define FM_ANALYSIS_TAUTSTRING_H

#include <stddef.h>

struct fm_knot {
    size_t index; /* of the point the string bends at, or ends at */
    double y;
};

/* A string pulled tight between low[i] and high[i] at the ascending x[i], its ends free to slide
   up and down. Of all curves inside the tube it is the one whose slope has the fewest ups and
   downs (Davies and Kovac 2001), so that what its slope still shows is in the data, not in the
   noise. knots has room for n; returns how many there are, the first at index 0 and the last at
   n-1. low[i] <= high[i] throughout. */
size_t fm_taut_string(const double *x, const double *low, const double *high, size_t n,
                      struct fm_knot *knots);

#endif
