/* Whether what is loaded comes into a level, or only what the level inside gives up. */
#ifndef FM_PROBE_EXCLUSIVE_H
#define FM_PROBE_EXCLUSIVE_H

#include "probe/lab.h"

enum fm_filled {
    FM_FILLED_UNKNOWN,
    FM_FILLED_BY_LOADS,  /* whatever comes from further out is there */
    FM_FILLED_BY_VICTIMS /* an exclusive level */
};

/* Asks level `outer`, which is not the first. */
bool fm_ask_what_fills(struct fm_lab *lab, size_t outer, enum fm_filled *filled,
                       struct fm_error *err);

#endif
