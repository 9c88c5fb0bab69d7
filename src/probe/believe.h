/* Which events of a machine's counters can be believed. */
#ifndef FM_PROBE_BELIEVE_H
#define FM_PROBE_BELIEVE_H

#include <stdbool.h>

#include "core/error.h"
#include "core/machine.h"

struct fm_lab;

/* Why events are not believed, or only of stores; empty where one is. */
struct fm_believed {
    char why[FM_EVENTS][96];
};

/* Fills lab->believed and lab->by_stores. */
bool fm_believe_counters(struct fm_lab *lab, bool runs_code, struct fm_believed *believed,
                         struct fm_error *err);

#endif
