/* What a level showed that was crowded, and what speaks against it. */
#ifndef FM_PROBE_WAYS_VERDICT_H
#define FM_PROBE_WAYS_VERDICT_H

#include "probe/crowd_lines.h"

/* Which lines of pages are used: one at the same place of each, those among them that are of one
   set of the level inside, so many of each page that the level inside holds none, whatever chooses
   its sets, or lines of every place. */
enum fm_ways_choice { FM_ONE_EACH, FM_SPARSE, FM_MANY_EACH, FM_ANYWHERE };

/* What pages have shown of a level, and why that does not decide; NULL: it does. */
struct fm_ways_outcome {
    struct fm_crowded shown;
    enum fm_ways_choice choice;
    bool behind;   /* a level behind it held them */
    bool spread;   /* no pages collided by themselves: a hash spreads their lines */
    bool anywhere; /* lines of any place were asked, since those of one did not decide */
    size_t granule;
    const char *why_ways, *why_held;
};

/* Times what has missed all, by the walk, that a level may hold. */
#define FM_WAYS_ABOVE 1.3
/* Part of a class with one page too many that misses where all do, as under LRU. */
#define FM_WAYS_ALL 0.85

extern const char *const fm_ways_not_as_walked;

/* Whether all items share a set of the level inside, which is overrun from the beginning: those of
   one place do if it is a first one whose way is no larger than a page. */
bool fm_ways_one_class(struct fm_lab *lab, size_t index, enum fm_ways_choice choice);

/* Whether the level inside keeps lines of one place of their pages, since these do not share sets
   of it. */
bool fm_ways_keeps_one_each(struct fm_lab *lab, size_t index);

/* Whether so much is not what the walk shows that a level of so many ways holds: at least what
   begins to miss, at most what has missed all or would begin so by chance, and not far more than
   the latter, which may be two levels that were taken for one. */
bool fm_ways_are_odd(struct fm_lab *lab, size_t index, double bytes, size_t ways);

/* Why what was shown does not decide about ways; NULL: it does. One too many of the level inside
   makes others miss that too, but these misses cost less. As long as this level is not full, or a
   few pages seem to fill it, they may be all that was seen, unless a whole class misses at the full
   price, or more than the level inside would take of as many; or unless all items are of one class
   of the level inside, which is overrun from the beginning. */
const char *fm_ways_doubt(struct fm_lab *lab, size_t index, const struct fm_crowded *shown,
                          enum fm_ways_choice choice, size_t granule);

/* Fills in why pages do not decide about ways, or what is held. */
void fm_ways_judge(struct fm_lab *lab, size_t index, const struct fm_crowd *crowd,
                   struct fm_ways_outcome *outcome);

#endif
