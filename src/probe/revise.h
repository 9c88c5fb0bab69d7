/* The walk read again with what sets and ways say of its knees. */
#ifndef FM_PROBE_REVISE_H
#define FM_PROBE_REVISE_H

#include "probe/lab.h"

/* Describes the walk with the knee of a level of which that is known, and tells what all levels
   hold by that, if the walk can be described so. */
bool fm_revise_capacities(struct fm_lab *lab, size_t index, const struct fm_known_ways *ways,
                          struct fm_error *err);

#endif
