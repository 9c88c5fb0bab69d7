/* What a level and those inside it hold, by what has been found of them. */
#ifndef FM_PROBE_WAYS_INSIDE_H
#define FM_PROBE_WAYS_INSIDE_H

#include "probe/lab.h"

/* Times what the levels inside may hold that leave none of them alone in a set of theirs, where it
   would stay and never be asked for further out. */
#define FM_WAYS_KEPT 4
/* Standard deviations that luck hardly ever reaches, and those that it seldom does. */
#define FM_WAYS_RARE   4
#define FM_WAYS_SELDOM 3

/* Ways of a level; 0: not known. */
double fm_ways_of(struct fm_lab *lab, size_t index);

/* Bytes of a way of a level, after which its sets come again; 0: not known. */
size_t fm_way_of(struct fm_lab *lab, size_t index);

/* Sets of a level that lines at one place of pages may fall into, where the address chooses: all
   that a page leaves apart; 0: not known. */
double fm_classes_of(struct fm_lab *lab, size_t index);

/* What the walk shows that a level holds at least … */
double fm_held_of(const struct fm_known_level *level);

/* … and what it may hold at the most. */
double fm_bytes_inside(struct fm_lab *lab, size_t index);

/* Times what a level holds of lines that meet in its sets by chance at which hardly a set has room:
   what stayed there would not be asked for further out, and leaving out one that keeps it from
   staying would look like leaving out one of its set there. */
double fm_overload(struct fm_lab *lab, size_t index, double deviations);

/* Whether a capacity was found as an edge that no luck with pages moves. */
bool fm_edge_is_sharp(const struct fm_finding *capacity);

/* So many pages, of which one line each is used, leave nothing in a level: twice what it holds of
   them, or, where its classes are known, so many that none is left out by chance. */
size_t fm_overrun(struct fm_lab *lab, size_t index);

/* From a line to the next that lies at the same place of its page and shares its set of the level
   inside, if that goes by the address that the program sees: of such lines it holds no more than it
   has ways. A page where its sets are not known. */
size_t fm_period_inside(struct fm_lab *lab, size_t index);

/* So many such lines leave nothing in the levels inside, of which the first may spread them over
   more sets. */
size_t fm_overrun_apart(struct fm_lab *lab, size_t inside, size_t period);

#endif
