/* Whether code and data share a structure. */
#ifndef FM_PROBE_UNIFIED_H
#define FM_PROBE_UNIFIED_H

#include "probe/lab.h"

/* Whether the TLB of data at a level, counted from 0, holds translations of code too, and says so
   as a finding. False where that TLB is not known, and nothing is said. */
bool fm_find_unified_tlb(struct fm_lab *lab, size_t level, bool *shared, struct fm_error *err);

/* What jumps over code take more, each, after loads over data than after as many over little: part
   of what a miss costs where data pushes the code out. One of each in `pitch` bytes. */
bool fm_time_after_data(struct fm_lab *lab, size_t code, size_t data, size_t pitch, double *more_ns,
                        struct fm_error *err);

#endif
