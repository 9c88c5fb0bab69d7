/* A knee: how the miss ratio of one cache grows with the footprint. */
#ifndef FM_ANALYSIS_KNEE_H
#define FM_ANALYSIS_KNEE_H

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
};

/* Miss ratio of a knee at a footprint, and the largest footprint of a miss ratio. */
double fm_knee_misses(const struct fm_knee *knee, double bytes);
double fm_knee_crossing(const struct fm_knee *knee, double misses);

#endif
