/* Reading a latency curve: which plateaus it has, and where it rises from one to the next. */
#ifndef FM_ANALYSIS_LEVELS_H
#define FM_ANALYSIS_LEVELS_H

#include <stddef.h>

struct fm_level {
    double height;                  /* latency of the plateau, in the unit of the curve */
    double height_low, height_high; /* where it may lie */
    double flat_from, flat_to;      /* the footprints of the plateau */
    double rise_from, rise_to;      /* the rise after it; see fm_read_levels for the last one */
    double certainty;               /* that this plateau exists on its own; below 0.9 a toss-up */
};

/* Reads the plateaus of a curve: latency[i] > 0 at the ascending footprint bytes[i], with the
   relative standard error of each (NULL: not known; the curve's own roughness is used then, and
   whenever it is larger). Returns how many were written to levels, ascending; more than max are
   cut off. 0 when the input makes no sense (NaN, not ascending, not positive) or memory is out.

   A plateau is a stretch where the slope of log latency over log footprint has a minimum that the
   noise cannot explain away. The rise of any one cache, sharp or soft, has a single steepest
   place; so a long rise is never taken for two levels only because it is long.

   The last level's rise_from and rise_to are NAN if the curve ends on a plateau. If it ends while
   still rising, the last level's rise_from is where that rise begins and only rise_to is NAN. */
size_t fm_read_levels(const double *bytes, const double *latency, const double *relative_error,
                      size_t n, struct fm_level *levels, size_t max);

#endif
