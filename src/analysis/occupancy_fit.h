/* How many sets a cache of known ways has, by what laps over ever more lines take that fall into
 * them by chance.
 *
 * Under LRU, or where a policy misses as much of a lap, the part that misses is known for any
 * number of sets (occupancy.h). A lap takes as long as its pages take to translate, which is the
 * same of all, and for each line a hit and that part of a miss: three unknowns in which it is
 * linear, so that for any number of sets there is a best description, and the number is the one
 * that describes it best. */
#ifndef FM_ANALYSIS_OCCUPANCY_FIT_H
#define FM_ANALYSIS_OCCUPANCY_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm_lap_time {
    double lines;
    double
        apart; /* so many at a time fall into different sets: those of a page, or 1 by themselves */
    double ns; /* all of a lap */
};

struct fm_sets_fit {
    double sets;
    double left; /* what is left of a reference, the root of the mean square, in misses */
};

/* Sets between `low` and `high`; false where no number of them describes the laps, or the best
   lies at an end. At least five laps of different length. */
bool fm_occupancy_sets(const struct fm_lap_time *laps, size_t count, uint32_t ways, double low,
                       double high, struct fm_sets_fit *fit);

/* The least number from `low` on that is a power of two times an odd number that is small, as those
   of caches are that address bits or a few slices choose. */
double fm_round_sets_from(double low);

/* The one between the two; 0: there is none, or more than one. */
double fm_round_sets(double low, double high);

/* Of those between the two the one with the least odd factor, which is the likeliest; 0: none. */
double fm_simplest_sets(double low, double high);

#endif
