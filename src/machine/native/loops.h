/* The inner loops: the references themselves, one machine instruction each. */
#ifndef FM_MACHINE_NATIVE_LOOPS_H
#define FM_MACHINE_NATIVE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/machine.h"

/* Follows `steps` pointers from start; each load waits for the one before. */
void *fm_chase(void *start, uint64_t steps);

/* The same, but each pointer is loaded into a register for real numbers. */
void *fm_chase_real(void *start, uint64_t steps);

/* The same along two chains at once: neither goes on before both have been loaded. */
void fm_chase_pairs(void *ends[2], uint64_t pairs);

/* A cyclic walk over words of an arena by their list; `at` is where the next reference goes. */
struct fm_walk {
    char *base;
    const uint32_t *word;
    size_t count;
    size_t at;
};

/* Writes into each word of the walk the address of the next, the last to the first: the chain that
   fm_chase follows. What is right already is only read: a line that was clean stays so. */
void fm_walk_link(const struct fm_walk *walk);
/* Two such chains, one over the even words of the walk and one over the odd. */
void fm_walk_link_pairs(const struct fm_walk *walk);

/* Walks `references` words on. Loads are independent of each other, or each waits for the one
   before; either way the result depends on all of them. Stores write `values`, which is as long as
   the walk. A flush does nothing where a program has no instruction for it. */
uint64_t fm_walk_load(struct fm_walk *walk, uint64_t references);
/* The same into a register for real numbers; whatever the word holds, nothing is reckoned with it.
 */
uint64_t fm_walk_load_real(struct fm_walk *walk, uint64_t references);
uint64_t fm_walk_load_dependent(struct fm_walk *walk, uint64_t references);
void fm_walk_store(struct fm_walk *walk, const uint64_t *values, uint64_t references);
void fm_walk_flush(struct fm_walk *walk, uint64_t references);

/* The way to flush a walk that takes the least on this processor: where flushes do not wait for
   each other a fortieth. To ask takes long on a virtual machine. */
typedef void fm_walk_flusher(struct fm_walk *walk, uint64_t references);
fm_walk_flusher *fm_walk_flusher_here(void);

/* Dependent operations on one register; the result depends on the last. */
uint64_t fm_operate(enum fm_chain kind, uint64_t operations);
/* As many steps of several chains of adds, none of which waits for another. */
uint64_t fm_operate_wide(uint64_t steps);

#endif
