/* How a lap that repeats moves the lines of pseudo-LRU rows.
 *
 * Lines that drive each other out come back into other ways, but so that the tree sees no
 * difference: the ways were only swapped along with their branches. Another lap swaps them in the
 * same manner, so that laps which are not made can be made up for. */
#ifndef FM_MACHINE_SIMULATED_TURNS_H
#define FM_MACHINE_SIMULATED_TURNS_H

#include <stdint.h>

#include "machine/simulated/tags.h"

/* Notes the order of each full row; then, a lap later, learns how it moved; then moves all as so
   many laps would. Does nothing where `turn` is NULL. */
void fm_turns_note(struct fm_tags *tags);
void fm_turns_learn(struct fm_tags *tags);
void fm_turns_apply(struct fm_tags *tags, uint64_t laps);

#endif
