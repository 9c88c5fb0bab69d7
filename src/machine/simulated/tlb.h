/* The TLBs of a simulated machine, and what translation costs.
 *
 * Data and code each have a path through the levels; a TLB that holds both is on both paths.
 *
 * Each level of a path has at most one TLB for a page size; a level that has none is passed over (a
 * reference to such a page is a miss there). The hit's level costs that TLB's latency, on top of
 * the cache's; a reference that all levels miss costs the walk's latency alone. Page sizes that no
 * TLB lists cost nothing. A miss fills every level it missed in.
 *
 * Pages may grow: after so many misses in all levels an arena has larger ones, and entries map
 * these.
 *
 * What an entry maps is a page, several neighbouring ones, or, in a TLB that lists only smaller
 * sizes than the base page, a piece of that of the largest size listed. */
#ifndef FM_MACHINE_SIMULATED_TLB_H
#define FM_MACHINE_SIMULATED_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "core/machine.h"
#include "machine/simulated/tags.h"

struct fm_tlb_level {
    struct fm_tags tags;
    unsigned level; /* counted from 0 */
    enum fm_holds holds;
    double latency;
    bool fp_bypass; /* loads of real numbers go past it */
    enum fm_index index;
    uint32_t pages_per_entry;
    uint32_t shift; /* from the finest pieces in use to what an entry maps */
    uint64_t page_sizes[FM_PAGE_SIZES];
    size_t page_size_count;
};

/* The TLBs that a reference meets. */
struct fm_tlb_path {
    struct fm_tlb_level *used[FM_TLB_LEVELS]; /* those for the page size in use, inner to outer */
    unsigned used_count;
    unsigned first;                 /* those before it are gone past */
    uint32_t last_piece;            /* it is in the innermost TLB, and newest there */
    uint64_t missed[FM_TLB_LEVELS]; /* references that missed used[i] */
};

struct fm_tlbs {
    uint64_t base_page;
    struct fm_tlb_level all[FM_DESCRIBED_TLBS];
    unsigned count;
    struct fm_tlb_path data, code;
    struct fm_growth_description growth;
    uint64_t walks;       /* on this arena */
    uint32_t grown_shift; /* 0, or from the pages that were to what they have grown to */
    uint32_t piece_shift; /* log2 of the bytes of the finest pieces that entries in use map */
};

bool fm_tlbs_open(struct fm_tlbs *tlbs, const struct fm_description *description,
                  struct fm_error *err);
void fm_tlbs_close(struct fm_tlbs *tlbs);

/* Whether some TLB holds data pages of this size. */
bool fm_tlbs_hold(const struct fm_tlbs *tlbs, uint64_t page_size);

/* Empties all and gets ready for an arena of so many bytes on pages of this size. */
bool fm_tlbs_prepare(struct fm_tlbs *tlbs, uint64_t bytes, uint64_t page_size,
                     struct fm_error *err);

/* The set that a piece of the arena comes to. */
uint32_t fm_tlb_set(const struct fm_tlbs *tlbs, const struct fm_tlb_level *tlb, uint32_t piece);

/* References to a batch of pieces, the tags, no two in a row being equal. Returns how many missed
   all levels; those are now the first of the batch. */
unsigned fm_tlbs_pass(struct fm_tlbs *tlbs, struct fm_tlb_path *path, struct fm_batch *pieces,
                      unsigned count);

/* Zeroes `missed` of a path, for loads of real numbers or for others. What the other path brought
   into TLBs of both may have made its last piece older than the newest. */
void fm_tlb_path_begin(struct fm_tlb_path *path, bool real);

/* The cycles that so many references took since then, and their counts. */
double fm_tlb_path_cycles(const struct fm_tlb_path *path, uint64_t references, double walk_latency);
void fm_tlb_path_count(const struct fm_tlb_path *path, uint64_t references,
                       struct fm_counts *counts);

#endif
