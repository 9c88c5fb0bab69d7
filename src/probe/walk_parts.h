/* What the files of the walk share with each other and with those who doubt what it shows. */
#ifndef FM_PROBE_WALK_PARTS_H
#define FM_PROBE_WALK_PARTS_H

#include "probe/walk.h"

/* Part of a latency that makes no difference. */
#define FM_WALK_GRAIN 0.01
/* Changes of latency from one point to the next that a plateau may show. */
#define FM_WALK_STEADY 0.03

/* Index of the first point not below bytes. */
size_t fm_walk_position(const struct fm_walk *walk, double bytes);

/* The points on both sides of a footprint and how far between them it lies, on a log scale. */
double fm_walk_between(const struct fm_walk *walk, double bytes, const struct fm_walk_point **a,
                       const struct fm_walk_point **b);

/* The point at a footprint, a new one where there was none; NULL when there is no room for it. */
struct fm_walk_point *fm_walk_point_at(struct fm_walk *walk, size_t bytes, size_t unit);

void fm_walk_add_reading(const struct fm_lab *lab, struct fm_walk_point *point, double whole);
void fm_walk_add_tlb_reading(struct fm_walk_point *point, double longer, unsigned weight);

bool fm_walk_fits_any_tlb(const struct fm_lab *lab, size_t bytes);

/* Whether the TLB's part at a footprint is known without the sibling: nothing is asked of a TLB
   yet, or it was measured on another placement (which changes nothing for a TLB), or it is the same
   on both sides and these are near, or no TLB ends there. Of an edge that is looked at closely what
   readings on both sides are at odds with counts, too. */
bool fm_walk_tlb_is_known(const struct fm_lab *lab, size_t bytes, bool closely);

/* Whether a TLB's part changes beside a point. */
bool fm_walk_is_at_tlb_edge(const struct fm_walk *walk, size_t i);

/* Fits the TLB's part along the walk. It never falls as pages are added, so a reading that
   something disturbed is outvoted by its neighbours. */
bool fm_walk_fit_tlb(struct fm_lab *lab, struct fm_error *err);

#endif
