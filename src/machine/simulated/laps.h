/* Laps that need not be simulated, since they do what the lap before them did.
 *
 * What a lap of loads or jumps does depends on what it finds in the sets that its lines and pages
 * come to, and on nothing else. A lap that leaves these as it found them, by their fingerprint,
 * will be followed by others just like it: these are counted, but their references are not made. */
#ifndef FM_MACHINE_SIMULATED_LAPS_H
#define FM_MACHINE_SIMULATED_LAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/description.h"
#include "core/refstring.h"
#include "machine/simulated/fingerprint.h"

struct fm_walker;

/* What references add to a walker's counters. */
struct fm_lap_counts {
    uint64_t served[FM_CACHE_LEVELS + 1], tlb_missed[FM_TLB_LEVELS], prefetched;
    uint64_t target_missed[FM_DESCRIBED_BTBS], decoded, first_seen; /* of jumps */
};

struct fm_laps {
    struct fm_round round; /* what is gone round; no words: nothing */
    enum fm_op op;
    uint64_t to_come;             /* references after this phase that go round it, too */
    struct fm_lap_counts begun;   /* the counters when the lap under way began … */
    struct fm_lap_counts earlier; /* … and what phases before this one counted of it */
    bool whole;                   /* it began at the first word, and nobody came between */
    bool known;                   /* its fingerprint was taken when it began */
    uint64_t fingerprint;
    unsigned looks;            /* fingerprints that were taken for nothing */
    struct fm_lap_counts same; /* the last lap … */
    bool settled;              /* … which all from now on will be like … */
    struct fm_tags *turning[FM_CACHE_LEVELS + FM_TLB_LEVELS]; /* … but for these: turns.h */
    unsigned turning_count;
};

/* Nothing is known any more: the arena, or what was run in between, is another. */
void fm_laps_forget(struct fm_laps *laps);

/* Somebody else used the TLBs. */
void fm_laps_disturb(struct fm_laps *laps);

/* Before a walker's counters are zeroed for a phase; and after, which goes on at position `from`,
   and that `to_come` references are sure to follow. */
void fm_laps_pause(struct fm_walker *walker);
void fm_laps_resume(struct fm_walker *walker, const struct fm_round *round, enum fm_op op,
                    size_t from, uint64_t to_come);

/* How many of the references that are left to a phase need not be made: whole laps, which this
   counts. */
uint64_t fm_laps_skip(struct fm_walker *walker, uint64_t left);

/* The same at the end of a lap. */
uint64_t fm_laps_end(struct fm_walker *walker, uint64_t left);

#endif
