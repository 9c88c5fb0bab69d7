/* Laps: short sequences of references to blocks of one set, run round and round, and how often each
 * replacement policy misses in them. */
#ifndef FM_ANALYSIS_LAP_H
#define FM_ANALYSIS_LAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rng.h"
#include "policy/policy.h"

#define FM_LAP_WAYS   128 /* of the widest set that laps are made for */
#define FM_LAP_BLOCKS (2 * FM_LAP_WAYS)
#define FM_LAP_MOST   512

struct fm_lap {
    unsigned blocks;             /* different ones, all of which come up */
    unsigned length;             /* references */
    uint16_t block[FM_LAP_MOST]; /* that each reference goes to */
};

/* A random lap for sets of so many ways. No block comes up more than `visits` times, and none twice
   in a row, unless there is but one. */
void fm_lap_draw(struct fm_lap *lap, unsigned ways, unsigned visits, struct fm_rng *rng);

/* Blocks 0, 1, … one after the other. */
void fm_lap_cycle(struct fm_lap *lap, unsigned blocks);

/* Misses in a lap that has gone round until nothing new happens: the least and the most over what a
   set may have held and remembered before, of which so many kinds are tried. */
struct fm_lap_misses {
    double low, high;
};
struct fm_lap_misses fm_lap_predict(const struct fm_lap *lap, enum fm_replacement replacement,
                                    unsigned ways, unsigned histories, uint64_t seed);

#endif
