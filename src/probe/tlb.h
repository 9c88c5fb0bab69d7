/* Data TLBs as far as they are known. */
#ifndef FM_PROBE_TLB_H
#define FM_PROBE_TLB_H

#include "analysis/tlb_steps.h"
#include "probe/translation.h"

struct fm_known_tlb {
    struct fm_tlb_step step;
    double read_cost;           /* of a miss, as the curve has it */
    double cost_low, cost_high; /* of a miss, over placements */
    double rest_ns;             /* what a reference takes besides */
    unsigned entries;           /* 0: not determined */
    unsigned ways;              /* 0: not determined */
    unsigned sets;              /* 0: not determined; 1: fully associative */
    const char *method;         /* that found the entries */
    size_t piece;               /* bytes that an entry maps */
};

struct fm_tlbs {
    size_t page;
    struct fm_page_list list; /* to fill and time */
    struct fm_known_tlb known[FM_TLB_LEVELS];
    size_t count;
    double far; /* pages at the end of the curve */
};

/* Whether a rise of the cost is that of a TLB: it must be there when it is looked at again, and
   neither page tables nor caches must account for it. Its cost must have been measured. */
bool fm_is_a_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *yes,
                 struct fm_error *err);

/* Finds how much an entry maps: a page, several neighbours, or a piece of one. Corrects entries and
   sets, which were counted in pages. */
bool fm_find_tlb_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                       struct fm_error *err);

/* Finds ways and sets of the level after `inner` ones, which are known. A group of pages that share
   a set, one more than it has ways, misses on every lap; it is found by trying all numbers of pages
   and all strides that fit the rise of the cost. Leaves ways 0 where no group does so. */
bool fm_find_tlb_ways(struct fm_lab *lab, size_t page, const struct fm_known_tlb *inner,
                      size_t inner_count, struct fm_known_tlb *tlb, struct fm_error *err);

#endif
