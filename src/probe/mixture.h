/* Footprints that several levels serve, by counts: which part of the references each one serves, so
 * that the latency of a level can be told which is alone at no footprint. */
#ifndef FM_PROBE_MIXTURE_H
#define FM_PROBE_MIXTURE_H

#include "probe/lab.h"

/* What the footprint takes at which a level serves most. */
struct fm_mixture {
    double ns;                          /* per reference, translation taken out */
    double served[FM_CACHE_LEVELS + 1]; /* parts; the last is that of memory */
};

/* By the index of the level. */
struct fm_mixtures {
    struct fm_mixture of[FM_CACHE_LEVELS + 1];
    bool has[FM_CACHE_LEVELS + 1];
};

/* Adds that of a level between the first and memory, on a fresh placement; not where levels are not
   counted, nor where it serves little even there. */
bool fm_mixtures_add(struct fm_lab *lab, size_t index, struct fm_mixtures *mixtures,
                     struct fm_error *err);

/* Takes what a footprint takes, which was measured on this placement, for that of a level or of
   memory: counts who serves it. Not where levels are not counted. */
bool fm_mixtures_take(struct fm_lab *lab, size_t index, size_t bytes, double ns,
                      struct fm_mixtures *mixtures, struct fm_error *err);

/* Sets the latency of those levels, from what the others are known to take. */
void fm_mixtures_solve(struct fm_lab *lab, const struct fm_mixtures *mixtures);

#endif
