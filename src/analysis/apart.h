/* Levels that are too close to be two. */
#ifndef FM_ANALYSIS_APART_H
#define FM_ANALYSIS_APART_H

#include <stddef.h>

#include "analysis/levels.h"

/* Takes away the plateaus between two rises that lie less than most of an octave apart, and
   returns how many levels are left. A cache that is not at least about twice as large as the one
   inside it would be of no use, and nobody builds one (Cooper and Sandoval assume the same); but
   the rise of a single cache with few ways, or with another policy than LRU, has ledges of its
   own. */
size_t fm_join_close_levels(const double *bytes, const double *latency, size_t n,
                            struct fm_level *levels, size_t count);

#endif
