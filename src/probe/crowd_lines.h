/* Crowding a cache: one line of each page, always at the same place in it. Or, where a hash chooses
 * the sets and such lines never meet, all lines of a part of each page. */
#ifndef FM_PROBE_CROWD_LINES_H
#define FM_PROBE_CROWD_LINES_H

#include "probe/crowd.h"

struct fm_crowd_lines {
    size_t page;
    size_t offset;    /* of the line in a page, in bytes */
    size_t places;    /* lines of a page … */
    size_t apart;     /* … and bytes from one to the next */
    uint32_t *spread; /* the same pages at places that share no set */
    bool counted;     /* by an event, not by the clock … */
    unsigned bit;     /* … which is this */
};

/* Places the pages of the crowd's items; these are words. */
bool fm_crowd_lines_open(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowd_lines *lines,
                         struct fm_error *err);
void fm_crowd_lines_close(struct fm_crowd *crowd);

#endif
