/* Crowding a cache: one line of each page, always at the same place in it. Or, where a hash chooses
 * the sets and such lines never meet, lines that share a few sets of the first level. Or many lines
 * of each page, which then miss together: the level inside cannot hold them, whatever chooses its
 * sets. */
#ifndef FM_PROBE_CROWD_LINES_H
#define FM_PROBE_CROWD_LINES_H

#include "probe/crowd.h"

struct fm_crowd_lines {
    size_t page;
    size_t period;       /* bytes: a page, or from a line to the next of the same set inside … */
    size_t offset;       /* … of which lines from here on are used, … */
    bool turned;         /* … or, round about, from a line on that is drawn for each, … */
    size_t places;       /* … so many … */
    size_t apart;        /* … so many bytes apart */
    size_t each;         /* lines of each item, one beside the other; 0: one */
    bool in_order;       /* all trials keep to one order, and are compared with each other alone */
    uint32_t *spread;    /* the same pages at places that share no set, or all lines of items */
    bool counted;        /* by an event, not by the clock … */
    unsigned bit;        /* … which is this; */
    uint32_t *before;    /* words of the trial before, which may still lie in the cache … */
    size_t before_count; /* … so many */
};

/* Places the pages of the crowd's items; these are words. */
bool fm_crowd_lines_open(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowd_lines *lines,
                         struct fm_error *err);
void fm_crowd_lines_close(struct fm_crowd *crowd);

#endif
