/* The simulated machine: a described memory hierarchy that runs reference strings.
 *
 * A reference to data costs the load-to-use latency of the level that
 * serves it, or memory's, plus what translation costs (tlb.h). Stores cost what loads do, a flush
 * costs a hit in level 1; chained or not makes no difference. The rules for lines are in
 * hierarchy.h, for pages in placement.h, for prefetchers in prefetch.h, for noise in clock.h.
 * A jump costs what fetching the lines of its slot costs, by the same rule, plus translation, plus
 * what the front end adds or saves (front.h).
 *
 * Everything random comes from the seed. A fresh placement empties the TLBs and leaves the caches
 * as they are. */
#ifndef FM_MACHINE_SIMULATED_SIMULATED_H
#define FM_MACHINE_SIMULATED_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "core/machine.h"

/* NULL with err filled when the description is impossible or memory is out. The description is not
   needed afterwards. */
struct fm_machine *fm_simulated_open(const struct fm_description *description, uint64_t seed,
                                     struct fm_error *err);

/* Switches the exact counters on or off; they are off at first, since a real machine seldom has
   them. The machine must be a simulated one. */
void fm_simulated_count(struct fm_machine *machine, bool on);

#endif
