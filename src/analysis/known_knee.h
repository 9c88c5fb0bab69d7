/* What sets and ways, found by other strings than the curve, say of a knee. */
#ifndef FM_ANALYSIS_KNOWN_KNEE_H
#define FM_ANALYSIS_KNOWN_KNEE_H

#include <stddef.h>

#include "analysis/knee.h"

/* Ways for lines to come to lie in sets, and policies that are told apart. */
#define FM_KNOWN_SHAPES   3
#define FM_KNOWN_POLICIES 6
#define FM_KNEE_CHOICES   (FM_KNOWN_SHAPES * FM_KNOWN_POLICIES)

struct fm_known_knee {
    double capacity;                         /* bytes; 0: not known */
    size_t count;                            /* of the knees that it may be; 0: nothing is known */
    struct fm_knee choices[FM_KNEE_CHOICES]; /* … of any capacity */
};

/* What is known of a level of so many ways. */
struct fm_known_ways {
    unsigned ways;
    double capacity; /* bytes; 0: not known */
    double page;
    unsigned shapes; /* of FM_KNEE_LINES, _PAGES and _CONTIGUOUS, as bits */
    bool lru;        /* sets that are too full miss all of their lines */
};

void fm_know_knee(struct fm_known_knee *known, const struct fm_known_ways *ways);

#endif
