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

/* For a level beyond the first. */
bool fm_find_columns(struct fm_lab *lab, size_t index, struct fm_columns *found,
                     struct fm_error *err);

#endif
