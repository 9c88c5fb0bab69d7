/* How many sets there are, by how often lines that are drawn by chance conflict beside one that is
 * full. */
#ifndef FM_ANALYSIS_SET_COUNT_H
#define FM_ANALYSIS_SET_COUNT_H

/* Lines that are put beside the full set at once, at the most. */
#define FM_MOST_OTHERS 192

/* Trials, and those that showed a conflict, by how many lines there were. */
struct fm_set_trials {
    unsigned trials[FM_MOST_OTHERS + 1], hits[FM_MOST_OTHERS + 1];
};

struct fm_set_count {
    double sets;
    double error; /* the standard error, as a part */
};

/* How many conflicts are expected of 0, 1, 2 … `most` lines that are drawn beside a full set, of
   `sets` (more than 1) with so many ways: each may be of that set, or of another that those before
   have filled. There is none by the chance of exp(-expected). */
void fm_expect_conflicts(double sets, unsigned ways, unsigned most,
                         double expected[FM_MOST_OTHERS + 1]);

/* The number of sets, from 1 to 16384, that makes what was seen most likely. */
struct fm_set_count fm_count_sets(const struct fm_set_trials *seen, unsigned ways);

#endif
