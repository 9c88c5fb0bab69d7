#include "analysis/known_knee.h"

#include <math.h>

#include "analysis/lap.h"
#include "core/replacement.h"

/* What a set may have held before, of which so much is tried. */
#define HISTORIES 6

/* The policies with knees of their own; FIFO has that of LRU, and others lie between these. */
static const enum fm_replacement policies[FM_KNOWN_POLICIES] = {
    FM_REPLACE_LRU,      FM_REPLACE_RANDOM, FM_REPLACE_TREE_PLRU,
    FM_REPLACE_BIT_PLRU, FM_REPLACE_NRU,    FM_REPLACE_SRRIP};

/* What sets of that policy miss of lines that come round in the same order, as in a walk. */
static void know_policy(struct fm_knee *knee, enum fm_replacement policy)
{
    knee->partly = policy != FM_REPLACE_LRU;
    for (unsigned i = 0; knee->partly && i < FM_KNEE_EXCESS; i++) {
        struct fm_lap lap;
        fm_lap_cycle(&lap, knee->ways + 1 + i);
        const struct fm_lap_misses misses = fm_lap_predict(&lap, policy, knee->ways, HISTORIES, 1);
        knee->misses_of[i] = (float)fmin(1, (misses.low + misses.high) / 2 / lap.length);
    }
}

static bool is_possible(enum fm_replacement policy, const struct fm_known_ways *ways)
{
    if (policy == FM_REPLACE_LRU)
        return true;
    return !ways->lru && ways->ways > 1 && ways->ways <= FM_LAP_WAYS &&
           !fm_replacement_misfit(policy, ways->ways);
}

void fm_know_knee(struct fm_known_knee *known, const struct fm_known_ways *ways)
{
    static const enum fm_knee_shape shapes[FM_KNOWN_SHAPES] = {FM_KNEE_LINES, FM_KNEE_PAGES,
                                                               FM_KNEE_CONTIGUOUS};
    known->capacity = ways->capacity;
    known->count = 0;
    for (size_t i = 0; i < FM_KNOWN_POLICIES; i++) {
        struct fm_knee knee = {.ways = ways->ways};
        if (!is_possible(policies[i], ways))
            continue;
        know_policy(&knee, policies[i]);
        /* Where it is not known how much it holds, that makes the colours. */
        if (ways->capacity > 0)
            knee.colours = fmax(1, ways->capacity / ways->ways / ways->page);
        for (size_t k = 0; k < FM_KNOWN_SHAPES; k++) {
            knee.shape = shapes[k];
            if (ways->shapes & 1u << shapes[k])
                known->choices[known->count++] = knee;
        }
    }
}
