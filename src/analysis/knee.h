/* A knee: how the miss ratio of one cache grows with the footprint. */
#ifndef FM_ANALYSIS_KNEE_H
#define FM_ANALYSIS_KNEE_H

#include <stdbool.h>

/* Knees that a curve has at the most. */
#define FM_KNEES 8
/* Lines too many in a set of which a knee says what it misses. */
#define FM_KNEE_EXCESS 32

enum fm_knee_shape {
    FM_KNEE_LINES,            /* lines fall into sets at random: a hashed index; LRU */
    FM_KNEE_PAGES,            /* pages fall into colours at random: a physical index; LRU */
    FM_KNEE_RANDOM,           /* lines fall into sets at random, and victims are picked at random */
    FM_KNEE_CONTIGUOUS,       /* lines fill one set after the other */
    FM_KNEE_CONTIGUOUS_RANDOM /* the same, and victims are picked at random */
};

struct fm_knee {
    double capacity; /* bytes */
    unsigned ways;
    enum fm_knee_shape shape;
    double colours; /* of pages, with FM_KNEE_PAGES */
    /* Under LRU a set with more lines than ways misses all of them. Where it does not: the part
       that it misses of one too many, of two …; of more than that, all. */
    bool partly;
    float misses_of[FM_KNEE_EXCESS];
};

/* Miss ratio of a knee at a footprint, and the largest footprint of a miss ratio. */
double fm_knee_misses(const struct fm_knee *knee, double bytes);
double fm_knee_crossing(const struct fm_knee *knee, double misses);

#endif
