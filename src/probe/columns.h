/* Ways of a level whose sets go by the addresses that the program sees, which a sharp edge shows.
 */
#ifndef FM_PROBE_COLUMNS_H
#define FM_PROBE_COLUMNS_H

#include "probe/lab.h"

/* Ways, and bytes of a way; 0: no distance has columns collide. */
struct fm_columns {
    unsigned ways;
    size_t way;
};

/* Whether columns that lie so far apart collide as those of so many ways do, wherever their pages
   lie: then the sets of the level go by the addresses that the program sees. *asked is false where
   they would not overrun the level inside. */
bool fm_columns_collide(struct fm_lab *lab, size_t index, const struct fm_columns *columns,
                        bool *asked, bool *yes, struct fm_error *err);

/* Looks for them, at a level beyond the first. */
bool fm_find_columns(struct fm_lab *lab, size_t index, struct fm_columns *found,
                     struct fm_error *err);

#endif
