/* Which events of a machine's counters can be believed. */
#ifndef FM_PROBE_BELIEVE_H
#define FM_PROBE_BELIEVE_H

#include <stdbool.h>

#include "core/error.h"

struct fm_lab;

/* Fills lab->believed and lab->by_stores; each event that is wrong becomes a warning. */
bool fm_believe_counters(struct fm_lab *lab, struct fm_error *err);

#endif
