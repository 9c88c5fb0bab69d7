/* The walk on many placements. */
#ifndef FM_PROBE_PLACEMENTS_H
#define FM_PROBE_PLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_lab;

/* Measures the rises of the walk again on fresh placements, and notes in known.scattered whether
   placements make a difference; if they do, goes on until enough has been spent. */
bool fm_repeat_on_fresh_pages(struct fm_lab *lab, struct fm_error *err);

/* Looks closer at where the misses of levels begin, if that is elsewhere than it was taken to be
   when all was repeated. */
bool fm_sample_new_beginnings(struct fm_lab *lab, struct fm_error *err);

/* Whether page placement moves the rise after a level; and whether it was seen not to. */
bool fm_rise_is_soft(const struct fm_lab *lab, size_t level);
bool fm_rise_stays(const struct fm_lab *lab, size_t level);

#endif
