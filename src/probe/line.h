/* The line of a level whose rise is known. */
#ifndef FM_PROBE_LINE_H
#define FM_PROBE_LINE_H

#include "probe/lab.h"

/* Fills line, line_certainty and line_contrast of a known level, trying stripes from `from` bytes
   up. line stays 0 when nothing decides. */
bool fm_find_line(struct fm_lab *lab, size_t level, size_t from, struct fm_error *err);

#endif
