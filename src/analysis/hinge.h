/* A hinge: level up to a place, and from there on a straight rise. */
#ifndef FM_ANALYSIS_HINGE_H
#define FM_ANALYSIS_HINGE_H

#include <stdbool.h>
#include <stddef.h>

struct fm_hinge {
    double at, slope;
    double error; /* standard error of the place */
    double noise; /* standard deviation of readings from it */
    double bend;  /* slope of the second half of the rise over that of the first */
};

/* Fits one to readings at ascending x, of which those beyond the hinge by more than a part of it
   are left out: a rise is straight for a while only. False: there are too few on either side. */
bool fm_fit_hinge(const double *x, const double *y, size_t count, double reach,
                  struct fm_hinge *hinge);

#endif
