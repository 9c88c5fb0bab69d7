/* What translation adds to a reference, by the number of pages, read into the levels of TLBs. */
#ifndef FM_ANALYSIS_TLB_STEPS_H
#define FM_ANALYSIS_TLB_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/* Readings at one number of pages, ascending. */
struct fm_tlb_point {
    double pages;
    double cost;  /* what translation adds to a reference */
    double error; /* what cost can be off by */
};

/* One rise of the cost: a TLB that no longer holds all pages. */
struct fm_tlb_step {
    double held;        /* the largest number of pages seen to fit */
    double missed;      /* from so many on (nearly) every reference misses */
    double cost_before; /* of a hit here, which the levels inside miss */
    double cost;        /* of a miss here */
};

/* A level costs at least so many times what the one inside it does: walks get slower, too. */
#define FM_TLB_LEAST_STEP 1.5

/* Reads at most `most` steps. A rise counts where it is more than the errors and a good part of
   what was there, over two points: a walk's cost grows slowly with the footprint, as its tables
   fall out of caches, and falls where misses of caches hide it. */
size_t fm_read_tlb_steps(const struct fm_tlb_point *points, size_t n, struct fm_tlb_step *steps,
                         size_t most);

/* Costs never fall as pages are added, but for what misses of caches hide of them: a reading that
   something disturbed is outvoted by its neighbours. False when memory is out. */
bool fm_smooth_tlb_points(struct fm_tlb_point *points, size_t n);

#endif
