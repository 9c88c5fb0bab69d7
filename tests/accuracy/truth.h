/* The truth about a simulated machine, from its counters: what a survey should have found. */
#ifndef FM_TESTS_TRUTH_H
#define FM_TESTS_TRUTH_H

#include "core/description.h"
#include "core/error.h"

/* The contract's effective capacity of a data level (0 is L1): the largest footprint at which at
   most 5% of the references of a walk over it miss the level, expected over fresh placements. */
bool fm_true_capacity(const struct fm_description *machine, unsigned level, double *bytes,
                      struct fm_error *err);

/* The same of code that jumps walk over. */
bool fm_true_code_capacity(const struct fm_description *machine, unsigned level, double *bytes,
                           struct fm_error *err);

#endif
