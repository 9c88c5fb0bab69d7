/* Which replacement policies may be at work, by how many misses cost time in laps. A policy stays a
 * suspect while one price of a miss explains all that was seen; the next lap is one that tells most
 * of those that are left apart. */
#ifndef FM_ANALYSIS_SUSPECTS_H
#define FM_ANALYSIS_SUSPECTS_H

#include <stddef.h>

#include "analysis/lap.h"

#define FM_SUSPECTS 128

struct fm_suspect {
    enum fm_replacement policy;
    double cost_low, cost_high; /* of a miss, ns, by all that was seen */
    struct fm_lap_misses next;  /* in the lap chosen last */
};

struct fm_suspects {
    unsigned ways, visits;
    struct fm_suspect list[FM_SUSPECTS];
    size_t count;
    struct fm_rng rng;
};

/* How well a lap can be timed: a reference that hits takes hit_ns, and a reading is off by `error`,
   a part of it, at the most. */
struct fm_lap_gauge {
    double hit_ns, error;
};

/* All policies that sets of so many ways may have. A block may come up `visits` times in a lap; a
   miss costs something from cost_low to cost_high. */
void fm_suspects_open(struct fm_suspects *suspects, unsigned ways, unsigned visits, double cost_low,
                      double cost_high, uint64_t seed);

/* Chooses a lap. False: of all that were tried none tells any two suspects apart; the lap is then
   any. */
bool fm_suspects_choose(struct fm_suspects *suspects, const struct fm_lap_gauge *gauge,
                        struct fm_lap *lap);

/* The misses of a lap took from low to high nanoseconds: lets go those that cannot explain it. */
void fm_suspects_hear(struct fm_suspects *suspects, const struct fm_lap *lap, double low,
                      double high);

#endif
