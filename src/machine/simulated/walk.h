/* The parts of a simulated machine together: runs the references of a phase against them. */
#ifndef FM_MACHINE_SIMULATED_WALK_H
#define FM_MACHINE_SIMULATED_WALK_H

#include <stdint.h>

#include "core/refstring.h"
#include "machine/simulated/clock.h"
#include "machine/simulated/front.h"
#include "machine/simulated/hierarchy.h"
#include "machine/simulated/laps.h"
#include "machine/simulated/placement.h"
#include "machine/simulated/prefetch.h"
#include "machine/simulated/tlb.h"

struct fm_walker {
    struct fm_hierarchy hierarchy;
    struct fm_tlbs tlbs;
    struct fm_front front;
    struct fm_placement placement;
    struct fm_prefetcher prefetcher;
    struct fm_sim_clock clock;
    struct fm_laps laps;
    bool missing; /* most of the last batch missed level 1 */
    uint64_t base_page;
    double walk_latency, memory_latency;
    unsigned first;      /* the level that references of this phase meet first */
    bool jumped;         /* the last phase was one of jumps */
    double cold_extra;   /* what a walk takes longer whose line of the table is not in cache … */
    uint64_t cold_walks; /* … and how many were */
    /* By level; the one after the last is memory. Of jumps: lines fetched. */
    uint64_t served[FM_CACHE_LEVELS + 1];
    uint64_t passed[FM_CACHE_LEVELS + 1]; /* those of them that did not wait: stores */
    uint64_t run_from, run_to;            /* bytes stored one word after the other */
    bool half;                            /* a load of a pair waits for the other: … */
    uint64_t first_of_pair;               /* … its address … */
    double first_latency;                 /* … and what it takes by itself */
    double overlap;                       /* cycles that pairs took less than one by one */
};

/* Close it also after an error. */
bool fm_walker_open(struct fm_walker *walker, const struct fm_description *description,
                    uint64_t seed, struct fm_error *err);
void fm_walker_close(struct fm_walker *walker);

/* A fresh arena. Pages other than the base page must be known to some TLB. */
bool fm_walker_place(struct fm_walker *walker, uint64_t bytes, uint64_t page_size,
                     struct fm_error *err);

/* What reading the clock does to what comes next: its own pages are translated. */
void fm_walker_read_clock(struct fm_walker *walker);

/* A string will be run from its first phase on. */
void fm_walker_begin(struct fm_walker *walker);

/* Runs the phase from position `from` of its order; returns the position after the last. The
   counters in the parts begin at zero. `to_come` references are sure to follow that go on round
   what this phase goes round. */
size_t fm_walk(struct fm_walker *walker, const struct fm_string *string,
               const struct fm_phase *phase, size_t from, uint64_t to_come);

/* The true cycles, and the events, of the phase that was walked last and was so many references
   long. */
double fm_walker_cycles(const struct fm_walker *walker, uint64_t references);
void fm_walker_count(const struct fm_walker *walker, uint64_t references, struct fm_counts *counts);

#endif
