/* In which ways a point of the walk reads alike, and a level is sampled for less. */
#ifndef FM_PROBE_WALK_WAYS_H
#define FM_PROBE_WALK_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "probe/walk.h"

struct fm_lab;

/* Changes of latency that make a difference. */
#define FM_DIFFERENT 0.03
/* How long before a rise shows itself a larger number of placements may find its beginning. */
#define FM_BEFORE_A_RISE 4

static const struct fm_way fm_in_full = {.thin = false};

/* A sample of a point in a way; on fresh pages, and not to be added to it, or otherwise. */
bool fm_sample_in(struct fm_lab *lab, size_t index, struct fm_way way, bool fresh, bool drop,
                  double *ns, struct fm_error *err);

/* What a point reads in each way, NAN where it was not asked: first thin or not, then brief or not.
 */
struct fm_way_readings {
    double ns[2][2];
};

/* What was read in full; whether that was brief hangs on how long the string is. */
struct fm_way_readings fm_read_in_full(const struct fm_lab *lab, const struct fm_walk_point *point,
                                       double ns);

/* The reading of a way, or else of the other that is as thin. */
double fm_reading_in(const struct fm_way_readings *readings, struct fm_way way);

/* Looks in which ways those points that have not been compared yet read alike, all on the placement
   that is there: they were read in full just now, on the way down. */
bool fm_compare_ways(struct fm_lab *lab, const size_t *index, size_t count,
                     struct fm_way_readings *readings, struct fm_error *err);

/* The ways that points, from large to small, are to be sampled in. */
void fm_judge_ways(const struct fm_lab *lab, const size_t *index, size_t count,
                   struct fm_way *ways);

/* How the rise after a level may be measured; in full if ways were not compared there, or where the
   pages make no difference, and a few units might. */
struct fm_way fm_rise_way(const struct fm_lab *lab, size_t level);

#endif
