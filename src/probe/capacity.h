/* What is between readings of a walk and a capacity. */
#ifndef FM_PROBE_CAPACITY_H
#define FM_PROBE_CAPACITY_H

#include "probe/fit.h"

struct fm_lab;

/* Tells what a level holds by the knees that describe the walk. */
bool fm_report_fitted(struct fm_lab *lab, size_t index, struct fm_error *err);

/* Whether misses of a level seem to set in more steeply than pages that lie anywhere make them. */
bool fm_seems_steep(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level);

/* Moves a capacity that knees tell, and its bounds (at, low, high), to where the readings of the
   walk surely have it, if that is elsewhere. */
void fm_hold_to_readings(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                         double interval[3]);

/* What readings alone tell of a capacity (at, low, high): on both sides of it they surely miss less
   and more. For walks that knees describe badly. False where there are no such readings. */
bool fm_crossing_by_readings(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                             double interval[3]);

#endif
