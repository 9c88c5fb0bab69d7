/* Runs the references of a phase against the caches, TLBs and prefetchers. */
#ifndef FM_MACHINE_SIMULATED_WALK_H
#define FM_MACHINE_SIMULATED_WALK_H

#include <stdint.h>

#include "core/refstring.h"
#include "machine/simulated/clock.h"
#include "machine/simulated/hierarchy.h"
#include "machine/simulated/placement.h"
#include "machine/simulated/prefetch.h"
#include "machine/simulated/tlb.h"

struct fm_walker {
    struct fm_hierarchy hierarchy;
    struct fm_tlbs tlbs;
    struct fm_placement placement;
    struct fm_prefetcher prefetcher;
    struct fm_sim_clock clock;
    uint64_t served[FM_CACHE_LEVELS + 1]; /* by level beyond the first; the last is memory */
};

/* Runs the phase from position `from` of its order; returns the position after the last. The
   counters in the parts begin at zero. */
size_t fm_walk(struct fm_walker *walker, const struct fm_string *string,
               const struct fm_phase *phase, size_t from);

#endif
