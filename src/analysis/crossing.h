/* Where a miss ratio, measured on several page placements, passes a given level. */
#ifndef FM_ANALYSIS_CROSSING_H
#define FM_ANALYSIS_CROSSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm_crossing {
    double at;        /* where the mean over placements passes the level */
    double low, high; /* interval for it; 0 and INFINITY where the data end before it does */
    bool inside;      /* the crossing lies within the grid */
};

struct fm_placements {
    const double *k;      /* ascending footprints */
    size_t n;             /* how many */
    const double *misses; /* misses[j * n + i]: placement j at k[i]; NAN where not measured */
    size_t count;         /* placements */
};

/* The mean over placements at each footprint is made non-decreasing (weighted by how many there
   are) and followed along log k to where it leaves `level`. If it never does, `at` is the last
   footprint; if it is above from the start, the first.

   The interval holds the crossing of the expected curve with the given confidence (0.99, say): the
   placements are drawn again with replacement `resamples` times from the seed, and the spread of
   the crossings is widened as Student's t asks for when placements are few. One placement alone
   tells nothing of luck: its interval is the whole grid.

   False when memory is out or the input is empty. */
bool fm_find_crossing(const struct fm_placements *data, double level, double confidence,
                      unsigned resamples, uint64_t seed, struct fm_crossing *crossing);

#endif
