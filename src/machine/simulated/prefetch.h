/* The prefetchers of a simulated machine. They work inside one base page, whatever the size of the
 * page in use, cost no time, and what they bring follows the rules that demanded lines follow.
 *
 * - next-line: a demand miss in level 1 on line X brings X+1 into every level that misses it.
 * - adjacent-line: when a line comes from memory, demanded or not, the other line of its aligned
 *   pair comes too, into the outermost level that memory fills, whose line is the unit.
 * - stride: follows the 16 pages used last, line by line of level 1. When the same step has been
 *   seen three times running (first sight and two confirmations) the next two lines along it are
 *   brought into every level that misses them, and so on at every further step.
 * - region: remembers the 32 pages that missed in level 1 last. The third such miss in a page
 *   brings the rest of it into level 2 and outward, once until the page has been forgotten.
 *   Level 1 is not filled; a machine of one level has none. */
#ifndef FM_MACHINE_SIMULATED_PREFETCH_H
#define FM_MACHINE_SIMULATED_PREFETCH_H

#include <stdint.h>

#include "core/description.h"
#include "machine/simulated/hierarchy.h"
#include "machine/simulated/tags.h"

#define FM_STREAMS 16u
#define FM_REGIONS 32u

struct fm_stream {
    uint64_t line;
    int64_t step;
    unsigned confirmed;
};

struct fm_prefetcher {
    struct fm_hierarchy *hierarchy;
    unsigned kinds; /* bits of enum fm_prefetch */
    uint32_t page_shift;
    unsigned pair_level;         /* filled by adjacent-line */
    unsigned region_level;       /* innermost filled by region; the number of levels: none */
    struct fm_tags stream_pages; /* one set, its slots being those of streams */
    struct fm_stream streams[FM_STREAMS];
    struct fm_tags region_pages;
    unsigned region_misses[FM_REGIONS];
    uint64_t prefetched;
};

bool fm_prefetcher_open(struct fm_prefetcher *prefetcher, const struct fm_description *description,
                        struct fm_hierarchy *hierarchy, struct fm_error *err);
void fm_prefetcher_close(struct fm_prefetcher *prefetcher);

/* Forgets the pages: their addresses now mean others. */
void fm_prefetcher_forget(struct fm_prefetcher *prefetcher);

/* Whether all that comes unasked is the other line of a pair, from memory. */
bool fm_prefetcher_pairs(const struct fm_prefetcher *prefetcher);

/* A demand reference was served by this level, counted from 0. */
void fm_prefetcher_see(struct fm_prefetcher *prefetcher, struct fm_address at, unsigned served);

#endif
