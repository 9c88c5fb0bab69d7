/* Levels as the clock saw them, set right by those that counters know. */
#ifndef FM_PROBE_LEVELS_COUNTED_H
#define FM_PROBE_LEVELS_COUNTED_H

struct fm_lab;

/* Takes away what the clock saw twice of one level: luck with pages makes ledges on a rise, but not
   for who counts the misses of that level alone. */
void fm_join_counted(struct fm_lab *lab);

/* Puts in what the clock saw as one rise and counters as those of two levels: an outer one that
   misses from early on has no plateau. */
void fm_split_counted(struct fm_lab *lab);

#endif
