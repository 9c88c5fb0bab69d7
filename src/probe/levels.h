/* Which levels there are, once more is known of one. */
#ifndef FM_PROBE_LEVELS_H
#define FM_PROBE_LEVELS_H

#include "probe/lab.h"

/* Reads the walk again when the first level is known to the byte. What its knee had been made to
   describe of others then shows: a level that hides in the same rise. */
bool fm_reread_levels(struct fm_lab *lab, const struct fm_known_ways *first, struct fm_error *err);

#endif
