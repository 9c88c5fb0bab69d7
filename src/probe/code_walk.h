/* What fetching lines of code adds to a jump over the footprint, on many placements: the walk of
 * code through the levels behind its first cache. */
#ifndef FM_PROBE_CODE_WALK_H
#define FM_PROBE_CODE_WALK_H

#include "probe/code_fetch.h"
#include "probe/walk.h"

struct fm_code_walk {
    size_t pitch;     /* bytes from line to line: the longest line of any level */
    size_t apart;     /* between the two slots of a line: both lie in the shortest */
    double from, to;  /* footprints */
    double offset_ns; /* added to all readings, so that none is negative or nothing */
    double small;   /* footprints up to here are measured on every placement, twice as large ones on
                       every second, and so on: luck with pages is largest where they are few */
    bool sparse;    /* no more is asked than what levels add: fewer points, on one placement */
    bool scattered; /* placements make a difference */
    size_t thin;    /* of so many lines one is touched, where that says the same */
    struct fm_walk walk;             /* the readings */
    double whole_ns[FM_WALK_POINTS]; /* all that a jump takes at each point, summed up */
};

/* Takes the readings: twice along the whole way (once, where they are sparse), then the smaller
   footprints the more often, where placements make a difference and while there is time. The first
   members must be filled in. */
bool fm_code_walk(struct fm_lab *lab, struct fm_code_walk *walk, struct fm_error *err);

/* More of them around a footprint: where misses of a level begin luck is rare and large. */
bool fm_code_walk_around(struct fm_lab *lab, struct fm_code_walk *walk, double bytes,
                         struct fm_error *err);

/* What a reading of a point can be off by, whatever the pages, as a part of its mean. */
double fm_code_walk_error(const struct fm_code_walk *walk, size_t point);

#endif
