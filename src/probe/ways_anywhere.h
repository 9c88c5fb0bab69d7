/* Ways and sets of a level that a hash chooses the sets of: lines of one place in their pages never
 * meet there, but lines of any places do by chance. */
#ifndef FM_PROBE_WAYS_ANYWHERE_H
#define FM_PROBE_WAYS_ANYWHERE_H

#include "probe/crowd_lines.h"

/* A hash spreads lines over all sets, so that it takes about as many of them as the level begins to
   miss with until some meet; each set that is full shows its ways. `crowd` says what a miss takes
   and what may be spent. Nothing is shown where it cannot be tried. */
bool fm_ways_anywhere(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, struct fm_crowded *shown, struct fm_error *err);

/* The sets of such a level, once its ways are known and that one line too many makes a whole set
   miss, as `crowd` has it; 0: they do not show. */
bool fm_sets_anywhere(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, size_t ways, double *sets,
                      struct fm_error *err);

#endif
