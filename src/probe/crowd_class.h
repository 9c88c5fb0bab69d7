/* Which of the items that a level holds share a set with one too many (crowd.h). */
#ifndef FM_PROBE_CROWD_CLASS_H
#define FM_PROBE_CROWD_CLASS_H

#include "probe/crowd.h"

/* Readings that are averaged where one does not decide. */
#define FM_CROWD_LOOKS 4

/* How many of those that are held share the set of an item that was refused: without any one of
   them nothing misses. 0: that does not show. */
bool fm_crowd_count_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused,
                          size_t *members, struct fm_error *err);

#endif
