/* The parts of Cooper and Sandoval's method (2011, section IV): the gap test, the sweep of the
 * cache-only string and the linesize test, each as published but for what a comment says. */
#ifndef FM_PROBE_PUBLISHED_H
#define FM_PROBE_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_lab;

/* The bounds of the sweeps. */
#define FM_PUBLISHED_SMALLEST 1024u

/* The next size along a sweep: four to an octave, but no closer than 1 KiB. */
size_t fm_published_next(size_t bytes);

/* The first level by the gap test; ways 0: no gap conflicts. */
struct fm_published_first {
    unsigned ways;
    size_t way_bytes;
    size_t line; /* 0: not found */
    bool full;   /* one set */
};
bool fm_published_gap(struct fm_lab *lab, struct fm_published_first *first, struct fm_error *err);

/* The cache-only curve: the least time of C(k) over trials. */
#define FM_PUBLISHED_POINTS 128
struct fm_published_curve {
    double bytes[FM_PUBLISHED_POINTS];
    double least[FM_PUBLISHED_POINTS]; /* nanoseconds a reference */
    double most[FM_PUBLISHED_POINTS];
    unsigned unchanged[FM_PUBLISHED_POINTS]; /* trials since the least was last lowered */
    size_t count;
};
bool fm_published_sweep(struct fm_lab *lab, size_t unit, struct fm_published_curve *curve,
                        struct fm_error *err);

/* The line of a level of that capacity, trying stripes from `from` bytes up; 0 where
   the latency never drops. Draws the curve "linesize-LEVEL". */
struct fm_published_cache {
    size_t level; /* 1 is the first */
    size_t capacity;
    double miss_ns; /* what a miss there adds */
};
bool fm_published_line(struct fm_lab *lab, const struct fm_published_cache *cache, size_t from,
                       size_t *line, struct fm_error *err);

#endif
