/* Where the pages of a simulated arena lie.
 *
 * Virtual addresses begin at 0, which is set 0 of every cache and TLB. Physical memory is a space
 * of frames four times the largest arena. Mapping `random` gives every page a frame of its own by
 * a bijection of that space with fresh keys; `contiguous` puts the arena at a fresh base that is
 * set 0 of every cache again: a multiple of sets x line of each of them, or of the powers of two
 * in these where the odd factors together are too many. Then the arena begins at another set of
 * some cache, and a hashed index is a little uneven at the arena's two ends. */
#ifndef FM_MACHINE_SIMULATED_PLACEMENT_H
#define FM_MACHINE_SIMULATED_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "core/rng.h"
#include "machine/simulated/hierarchy.h"

struct fm_placement {
    enum fm_mapping mapping;
    uint32_t space_shift; /* log2 of physical memory */
    uint64_t alignment;   /* of a contiguous base */
    struct fm_rng rng;

    uint64_t bytes; /* of the arena, whole pages; 0: none is placed */
    uint64_t base;  /* of a contiguous arena */
    uint32_t page_shift;
    uint32_t *frames; /* by page */
};

void fm_placement_open(struct fm_placement *placement, const struct fm_description *description,
                       const struct fm_hierarchy *hierarchy, uint64_t seed);
void fm_placement_close(struct fm_placement *placement);

/* The largest arena, in bytes. */
uint64_t fm_placement_limit(const struct fm_placement *placement);

/* A fresh arena; when it fails, the one before is still there. */
bool fm_placement_draw(struct fm_placement *placement, uint64_t bytes, uint32_t page_shift,
                       struct fm_error *err);

static inline struct fm_address fm_placement_address(const struct fm_placement *placement,
                                                     uint64_t at)
{
    const uint64_t frame = placement->frames[at >> placement->page_shift];
    const uint64_t within = at & (((uint64_t)1 << placement->page_shift) - 1);
    return (struct fm_address){at, frame << placement->page_shift | within};
}

#endif
