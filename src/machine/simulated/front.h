/* What stands before the caches of code in a simulated machine.
 *
 * The branch target buffer, in levels: a jump looks for itself in one after the other. Not found
 * in a level but in the next it takes that level's miss_cost more, found in none that of the last
 * level. It is then in all levels. A set is (address of the jump / block) modulo sets; LRU. What a
 * jump's target was does not matter.
 *
 * The op cache holds decoded windows of code, by virtual address; LRU. A fetch of a part of a line
 * touches the windows that part lies in; each takes one entry for every so many operations that are
 * executed of it. If all of these entries are there, and the first cache of code still holds the
 * line, the op cache serves the fetch: that takes its latency, and no cache is asked or notices.
 * Otherwise the caches serve it, and its entries are filled. */
#ifndef FM_MACHINE_SIMULATED_FRONT_H
#define FM_MACHINE_SIMULATED_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "machine/simulated/tags.h"

struct fm_btb_level {
    struct fm_tags tags;
    struct fm_divisor by_block;
    double miss_cost;
    uint64_t missed; /* jumps that were not here */
};

struct fm_front {
    struct fm_btb_level btbs[FM_DESCRIBED_BTBS];
    unsigned btb_count;
    struct fm_tags ops; /* of the op cache */
    bool has_ops;
    uint32_t window_shift, ops_each;
    double ops_latency;
    uint64_t served; /* fetches by the op cache */
    bool endless;    /* targets are counted, and there is no buffer that could be full */
    uint32_t *seen;  /* then: jumps that were met, a table of … */
    size_t seen_size, seen_count; /* … so many places, a power of two, and so many in use */
    uint64_t first_seen;          /* jumps that were met for the first time */
};

/* A part of a line: its bytes, and how many operations of it are executed. */
struct fm_code_piece {
    uint64_t from, to;
    unsigned ops;
};

/* Close it also after an error. */
bool fm_front_open(struct fm_front *front, const struct fm_description *description,
                   struct fm_error *err);
void fm_front_close(struct fm_front *front);

/* Empties the op cache: addresses now mean other code. */
void fm_front_forget(struct fm_front *front);

/* Zeroes the counters. */
void fm_front_begin(struct fm_front *front);

/* Whether the op cache holds what is fetched; fills it if not. */
bool fm_front_holds(struct fm_front *front, const struct fm_code_piece *piece);

/* Counts jumps whose target is not known, also where no buffer is described: that one knows every
   target but of a jump that it has not met. */
void fm_front_count_targets(struct fm_front *front, bool on);

/* A jump looks for its target. */
void fm_front_jump(struct fm_front *front, uint64_t address);

/* Jumps that found none since the counters were zeroed. */
uint64_t fm_front_targets_missed(const struct fm_front *front);

/* Cycles since the counters were zeroed. */
double fm_front_cycles(const struct fm_front *front);

#endif
