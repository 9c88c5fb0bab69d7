/* What a jump takes among so many, and the levels of the branch target buffer that it shows. */
#ifndef FM_PROBE_BTB_H
#define FM_PROBE_BTB_H

#include "analysis/tlb_steps.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

#define FM_FIRST_JUMPS 8
#define FM_BTB_LEVELS  3
/* What a reading can be off by, as a part of all that a jump takes. */
#define FM_JUMP_READING 0.015
/* Part of a cycle that the clock shows of one: no miss takes less. */
#define FM_JUMP_CYCLE 0.9

/* How jumps stand. */
struct fm_spacing {
    size_t bytes;
    bool staggered; /* where jumps stand apart, no sets are left empty (fm_dense_plan) */
};

struct fm_btb {
    struct fm_tlb_step steps[FM_BTB_LEVELS]; /* "pages" are jumps */
    size_t count;
    size_t between; /* the number of one that was looked for between two others; 0: none */
    struct fm_spacing spacing;
    double least_ns; /* a jump, while all are known */
    bool hidden;     /* what was seen may be the end of the cache of code */
};

/* More jumps than any buffer holds. */
double fm_most_jumps(const struct fm_lab *lab);

/* Blocks of FM_DENSE_BLOCK bytes that have so many jumps, one at the least. */
size_t fm_jump_blocks(double jumps, struct fm_spacing spacing);
bool fm_place_jumps(struct fm_lab *lab, size_t blocks, struct fm_error *err);

/* The string of so many blocks, as they lie now. */
struct fm_dense_plan fm_jump_plan(const struct fm_lab *lab, size_t blocks,
                                  struct fm_spacing spacing);

/* What each second jump takes. */
bool fm_time_jump(struct fm_lab *lab, size_t blocks, struct fm_spacing spacing, double *ns,
                  struct fm_error *err);

/* The readings at one spacing, read into rises. What half of the jumps begins to miss later makes
   the readings fall again beyond a rise: the highest so far counts. */
bool fm_read_jump_curve(struct fm_lab *lab, struct fm_btb *btb, bool draw, struct fm_error *err);

#endif
