/* The line of a level whose rise is known. */
#ifndef FM_PROBE_LINE_H
#define FM_PROBE_LINE_H

#include "probe/lab.h"

/* How far beyond the middle, between what half of the lines miss and what all of them do, every
   stripe narrower than the line must be for it to be believed; 1: all of them. */
#define FM_LINE_CERTAIN 0.3

/* Fills line, line_certainty and line_bytes of a known level, trying stripes from `from` bytes up.
   line stays 0 when nothing decides. */
bool fm_find_line(struct fm_lab *lab, size_t level, size_t from, struct fm_error *err);

/* Whether the line was found at a footprint that, by the walk as it is now, is not the one to find
   it at. */
bool fm_line_is_stale(const struct fm_lab *lab, size_t level);

#endif
