/* Counting along footprints: what the search for an edge (counted_edge.c) and the averages where
 * there is no sharp one (counted_average.c) share. */
#ifndef FM_PROBE_COUNTED_SEARCH_H
#define FM_PROBE_COUNTED_SEARCH_H

#include "core/result.h"
#include "probe/counted.h"

/* The effective capacity is where so many references miss. */
#define FM_ONE_IN_TWENTY 0.05

/* So few misses in a lap are none: a line too many misses once a lap at least. */
#define FM_NO_MISS 0.5
/* Bounds of the search for where one in twenty misses, one to the other. */
#define FM_CLOSE 1.004
/* Part of that footprint which misses nothing where the edge is sharp: even of one way, one in
   twenty misses when the footprint is a fortieth too large. */
#define FM_WELL_INSIDE 0.9
/* More placements on which a sharp edge must be the same; one where thin strings have shown so, or
   where there are many pages: if they lay anywhere the edge would not stay to the unit. */
#define FM_COUNT_AGAIN 2
#define FM_COUNT_ONCE  1

struct fm_count_search {
    const struct fm_counted_plan *plan;
    struct fm_curve *curve;
    size_t placed; /* bytes of the arena */
    bool thin;     /* large footprints are touched in part */
    double missed; /* of the footprint at which an ascent ended */
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

/* Whether on fresh pages, too, `units` fit and a step more do not. */
bool fm_count_holds_again(struct fm_lab *lab, struct fm_count_search *search, size_t units,
                          size_t step, int times, bool *yes, struct fm_error *err);

/* The edge between units that fit and units of which more than one in twenty misses, where all of
   them must be asked: where one in twenty misses, and whether there is a largest footprint without
   any that is the same on fresh pages. */
bool fm_count_in_full(struct fm_lab *lab, struct fm_count_search *search, size_t fits,
                      size_t misses, struct fm_counted *found, struct fm_error *err);

/* The curve, to which more is added if it is there; and where it ends. */
struct fm_curve *fm_count_begin(struct fm_lab *lab, const char *id);
void fm_count_finish(struct fm_curve *curve, const struct fm_counted *found);

#endif
