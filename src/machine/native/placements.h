/* One arena after the other, each on other physical pages than those before it. */
#ifndef FM_MACHINE_NATIVE_PLACEMENTS_H
#define FM_MACHINE_NATIVE_PLACEMENTS_H

#include <stdint.h>

#include "machine/native/arena.h"

#define FM_PLACEMENTS_KEPT 32

/* The kernel hands out the pages that were freed last. Arenas that are freed as soon as the next
   is there would therefore get the same two sets of pages by turns, and a hundred placements be
   two. So the old ones are kept for a while. */
struct fm_placements {
    struct fm_arena arenas[FM_PLACEMENTS_KEPT]; /* oldest first; the last is the one in use */
    size_t count;
    uint64_t resized; /* bytes given back whose pages had another size by then */
};

/* Maps the next arena (see fm_arena_map), all those kept together within `limit` bytes. After a
   failure there is none in use. */
bool fm_placements_next(struct fm_placements *placements, size_t bytes, size_t page_size,
                        uint64_t limit, struct fm_error *err);

/* The arena in use; one of no bytes when there is none. */
struct fm_arena fm_placements_current(const struct fm_placements *placements);

/* Bytes of all arenas there were whose pages changed their size while they were there. */
uint64_t fm_placements_resized(const struct fm_placements *placements);

void fm_placements_free(struct fm_placements *placements);

#endif
