/* Counting along footprints: what the search for an edge (counted_edge.c) and the averages where
 * there is no sharp one (counted_average.c) share. */
#ifndef FM_PROBE_COUNTED_SEARCH_H
#define FM_PROBE_COUNTED_SEARCH_H

#include "core/result.h"
#include "probe/counted.h"

/* The effective capacity is where so many references miss. */
#define FM_ONE_IN_TWENTY 0.05

struct fm_count_search {
    const struct fm_counted_plan *plan;
    struct fm_curve *curve;
    size_t placed; /* bytes of the arena */
    bool thin;     /* large footprints are touched in part */
};

/* Fresh pages. */
bool fm_count_place(struct fm_lab *lab, struct fm_count_search *search, size_t bytes,
                    struct fm_error *err);

/* Of so many units, one of how many is touched. */
size_t fm_count_thinness(const struct fm_lab *lab, const struct fm_count_search *search,
                         size_t units);

/* Misses in a lap over so many units from the arena's begin; `none` or fewer are none. */
bool fm_misses_over(struct fm_lab *lab, struct fm_count_search *search, size_t units, double none,
                    double *misses, struct fm_error *err);

/* Halves the bracket until its ends are `step` units apart, or `closest` to each other as parts.
   `share` of the units may miss on the side that fits; 0: none. */
bool fm_count_halve(struct fm_lab *lab, struct fm_count_search *search, size_t *fits,
                    size_t *misses, size_t step, double share, double closest,
                    struct fm_error *err);

/* The curve, to which more is added if it is there; and where it ends. */
struct fm_curve *fm_count_begin(struct fm_lab *lab, const char *id);
void fm_count_finish(struct fm_curve *curve, const struct fm_counted *found);

#endif
