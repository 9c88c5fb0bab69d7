/* Where the misses of a level begin, looked for on some placements: footprints are halved down to
 * it, and the plateaus on both sides say what part of the references missed. */
#ifndef FM_PROBE_EDGE_H
#define FM_PROBE_EDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/crossing.h"
#include "core/error.h"
#include "probe/walk.h"

struct fm_lab;

#define FM_EDGE_FOOTPRINTS 40
#define FM_EDGE_PLACEMENTS 64

struct fm_edge {
    size_t level;
    struct fm_way way;      /* how it is measured */
    double hit_ns, miss_ns; /* plateaus before and after the rise */
    double bytes[FM_EDGE_FOOTPRINTS];
    /* A reading, the TLB's part included, NAN where there is none; and what missed, by what the
       TLB's part is known to be now. */
    double whole_ns[FM_EDGE_PLACEMENTS][FM_EDGE_FOOTPRINTS];
    double ratio[FM_EDGE_PLACEMENTS][FM_EDGE_FOOTPRINTS];
    size_t footprints, placements;
    struct fm_crossing crossing;
};

/* Finds where the misses of a level begin; the edge is left empty where that cannot be found. */
bool fm_edge_find(struct fm_lab *lab, size_t index, struct fm_edge *edge, struct fm_error *err);

/* Where a sharp rise sets out from: the largest footprint that shows no misses at all, or what the
   rise through the crossing points back to. The crossing itself where the rise is not sharp. The
   two are within the same one or two percent, and a cache's capacity is where misses begin. */
double fm_edge_onset(const struct fm_edge *edge);

/* A footprint on the placement that is there, the TLB's part included; and what part missed. */
bool fm_edge_time(struct fm_lab *lab, const struct fm_edge *edge, double bytes, double *whole_ns,
                  struct fm_error *err);
double fm_edge_misses(const struct fm_lab *lab, const struct fm_edge *edge, double bytes,
                      double whole_ns);

#endif
