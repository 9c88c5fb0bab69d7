/* Where the points of a curve lie on logarithmic axes. */
#ifndef FM_REPORT_SCALE_H
#define FM_REPORT_SCALE_H

#include <stdbool.h>

#include "core/result.h"

struct fm_scale {
    double low, high;
    bool from_nothing; /* what is at low, or below, is nothing */
};

bool fm_point_drawable(const struct fm_point *point);

/* Axes that hold all points of the curve that can be drawn; false where there are none. */
bool fm_find_scales(const struct fm_curve *curve, struct fm_scale *x, struct fm_scale *y);

/* Where a value lies between the ends of the axis, 0 to 1. */
double fm_scale_fraction(const struct fm_scale *scale, double value);

/* Where a point lies on the y axis, 0 to 1. */
double fm_scale_height(const struct fm_scale *y, const struct fm_point *point);

#endif
