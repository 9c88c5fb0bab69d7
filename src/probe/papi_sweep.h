/* The two programs of Dongarra et al. (2004): papi_cacheSize and papi_cacheBlock. Each point of a
 * sweep is counted once, all events together. */
#ifndef FM_PROBE_PAPI_SWEEP_H
#define FM_PROBE_PAPI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/machine.h"

struct fm_lab;

#define FM_SWEEP_POINTS 256

struct fm_sweep_point {
    size_t x;
    double spots;
    struct fm_counts counts;
};

struct fm_sweep {
    bool real;    /* loads of doubles, not of integers */
    size_t bytes; /* of the array, where x is its stride; 0: x is its size */
    struct fm_sweep_point points[FM_SWEEP_POINTS];
    size_t count;
};

/* Misses of each reference at x, and the curves of a sweep: "misses-l1d", "misses-l1d-double" over
   sizes; over strides in an array made for one structure "strided-l1d", and what others miss there
   as "strided-l1d-dtlb1". Events that counted nothing all along are left out. */
bool fm_sweep_at(struct fm_lab *lab, struct fm_sweep *sweep, size_t x, unsigned bit, double *each,
                 struct fm_error *err);
bool fm_sweep_draw(struct fm_lab *lab, const struct fm_sweep *sweep, unsigned made_for,
                   struct fm_error *err);

/* Sizes at which the time of a stride of one word rises, up to `most` of them, for structures that
   no event counts. */
bool fm_sweep_time(struct fm_lab *lab, double sizes[], size_t most, size_t *count,
                   struct fm_error *err);

/* The three cases of the first level, read off the times of strides that double over an array of so
   many bytes; *line and *ways are 0 where the times show anything else. */
bool fm_stride_time(struct fm_lab *lab, size_t bytes, size_t *line, size_t *ways,
                    struct fm_error *err);

#endif
