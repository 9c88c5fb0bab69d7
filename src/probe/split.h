/* The line of a level by what a flush takes out. */
#ifndef FM_PROBE_SPLIT_H
#define FM_PROBE_SPLIT_H

#include "probe/lab.h"

/* The line of a level, where stripes have shown `*line` and the level inside has lines of `from`
   bytes, or it could be so short. Stripes cannot tell a line from a pair that the level inside
   always asks for together, nor misses from what that level keeps by itself; but a flush can: it
   takes out a line, all of it and no more. `counted`: by events, where levels are counted, and not
   by the clock; these make no line longer. *line stays where nothing can be told, and is 0 where
   the two seem to be at odds. */
bool fm_split_line(struct fm_lab *lab, size_t level, size_t from, bool counted, size_t *line,
                   struct fm_error *err);

#endif
