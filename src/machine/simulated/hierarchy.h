/* The caches of a simulated machine, and how lines travel between them.
 *
 * - A reference is served by the first level that holds its line; only there does it change the
 *   replacement order. Every level it missed in is then filled, the outermost first.
 * - An inclusive level that evicts a line takes it out of every level inside as well.
 * - An exclusive level is filled only by the lines that the level just inside evicts. A hit moves
 *   the line inward; where the inner line is smaller it is copied, since the rest must stay
 *   somewhere. A victim smaller than the line brings the whole line with it. Level 1 has nothing
 *   inside and is never exclusive.
 * - A store is a load (except that levels without write allocation are not filled) and then a
 *   write: it goes outward through the levels that hold the line until a write-back level keeps
 *   it and is dirty. A write changes no replacement order and brings nothing in.
 * - A dirty line that leaves a level is one write-back, and is written outward in the same way.
 *   One that moves into an exclusive level is kept there: it would have moved anyway.
 * - A write takes as long as a store takes at the level where it ends, memory included. A store
 *   waits for its line only where it brings the line in.
 * - A level whose stores stream does not allocate while whole lines are stored one after another,
 *   as soon as there are enough of them in a row.
 * - A line that is filled in parts is there in the parts that were asked for. A sector of several
 *   lines comes as a whole when one of them is demanded and not there: the others come after it
 *   into this level and those outside that lack them.
 * - A lost line (flushed, or polluted away) leaves like an evicted one, but moves into no other
 *   level.
 * - A load of a real number may go past level 1: it neither looks there nor brings anything there.
 * - Code has caches of its own at the innermost levels and shares the others. A fetch obeys the
 *   rules of a load; what a shared inclusive level evicts leaves the caches of code as well, and a
 *   shared exclusive one takes their victims in. Between caches of code there is no exclusion. */
#ifndef FM_MACHINE_SIMULATED_HIERARCHY_H
#define FM_MACHINE_SIMULATED_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/description.h"
#include "core/error.h"
#include "core/machine.h"
#include "machine/simulated/cache.h"

struct fm_hierarchy {
    struct fm_cache caches[FM_CACHE_LEVELS];
    unsigned count;
    struct fm_cache code[FM_CACHE_LEVELS]; /* of the innermost levels; the rest are shared */
    unsigned code_count;
    bool runs_code; /* there is a way for code: caches of its own, or level 1 holds both */
    bool has_code;  /* some has been run */
    bool inclusive; /* some level beyond the first is */
    bool exclusive;
    bool sectored; /* some level brings more or less than a line */
    uint64_t writebacks;
    uint64_t taken[FM_CACHE_LEVELS + 1]; /* writes by the level where they end; the last: memory */
};

/* Takes the description's data caches in order of level. Errors where they make no hierarchy;
   close it all the same. */
bool fm_hierarchy_open(struct fm_hierarchy *hierarchy, const struct fm_description *description,
                       uint64_t seed, struct fm_error *err);
void fm_hierarchy_close(struct fm_hierarchy *hierarchy);

/* Looks for the line in the levels from `search` on, which is the first that may hold it, and
   brings it into those from `fill` on that missed; sets has the line's set at each level from
   `fill` on. Returns the level that served it, counted from 0; the number of levels stands for
   memory. */
unsigned fm_hierarchy_fetch(struct fm_hierarchy *hierarchy, struct fm_address at,
                            const uint32_t *sets, unsigned search, unsigned fill, bool store);

/* The same for an instruction; levels count as code meets them. */
unsigned fm_hierarchy_fetch_code(struct fm_hierarchy *hierarchy, struct fm_address at);

/* Caches that code meets. */
unsigned fm_hierarchy_code_levels(const struct fm_hierarchy *hierarchy);

/* Cycles of a fetch of code that a level, counted from 0, serves. */
double fm_hierarchy_code_latency(const struct fm_hierarchy *hierarchy, unsigned level);

/* Whether the first cache that code meets holds the line; changes nothing. */
bool fm_hierarchy_holds_code(const struct fm_hierarchy *hierarchy, struct fm_address at);

/* Whether something has to be written back. */
bool fm_hierarchy_is_dirty(const struct fm_hierarchy *hierarchy);

/* Bytes of the aligned block around a word of which a load may bring parts unasked; `pairs`: lines
   come from memory two by two. */
uint64_t fm_hierarchy_block(const struct fm_hierarchy *hierarchy, bool pairs);

/* Whether at present what a level does depends on those inside alone: lines come whole, nothing has
   to be written back, and levels are no more than one of inclusive, exclusive and sectored, or
   `pairs` of lines come from memory. */
bool fm_hierarchy_is_layered(const struct fm_hierarchy *hierarchy, bool pairs);

/* Loads that pass a level of a layered hierarchy before any goes on to the next; adds to `served`,
   by level, and leaves the batch as it likes. Only where no level is inclusive, or the loads are
   independent. Returns how many lines came as the second of a pair. */
unsigned fm_hierarchy_pass(struct fm_hierarchy *hierarchy, struct fm_address *batch, unsigned count,
                           bool pairs, uint64_t *served);

/* Of a layered hierarchy: how many of these loads, counted from the first, surely make no level
   evict what another holds or a later one wants. All of them can then pass one level before any
   goes on to the next, without a change to what happens. */
unsigned fm_hierarchy_independent(struct fm_hierarchy *hierarchy,
                                  const struct fm_address *addresses, unsigned count);

/* Whether a store that this level served brings its line into a level inside. */
bool fm_hierarchy_allocates(const struct fm_hierarchy *hierarchy, unsigned served);

/* Brings what else of its sectors a demanded line brings that this level served, into levels from
   `fill` on. */
void fm_hierarchy_bring_sectors(struct fm_hierarchy *hierarchy, struct fm_address at,
                                unsigned served, unsigned fill, bool store);

/* The second half of a store. */
void fm_hierarchy_write(struct fm_hierarchy *hierarchy, struct fm_address at);

/* Takes the line out of every level. */
void fm_hierarchy_flush(struct fm_hierarchy *hierarchy, struct fm_address at);

/* Loses one line of every level, drawn from all slots. */
void fm_hierarchy_pollute(struct fm_hierarchy *hierarchy, struct fm_rng *rng);

#endif
