/* The walk read again with what sets and ways say of its knees. */
#ifndef FM_PROBE_REVISE_H
#define FM_PROBE_REVISE_H

#include "probe/lab.h"

/* What crowding has shown of a level whose ways it told, besides its physical capacity. */
struct fm_found_ways {
    unsigned ways;
    bool lru;      /* a set with one line too many misses all of them */
    bool anywhere; /* its sets were found among lines of any place, since pages do not collide … */
    bool spread;   /* … or some did not */
    bool pages;    /* no less than a page has sets of its own */
};

/* Describes the walk with the knee that such a level has, tells anew by that what the levels hold
   and, where it was left open, the physical capacity of this one; or leaves that open where the
   walk gainsays it. */
bool fm_revise(struct fm_lab *lab, size_t index, const struct fm_found_ways *found,
               struct fm_error *err);

#endif
