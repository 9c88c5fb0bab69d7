/* Which level served loads: told by the clock, or by counts where there are events for it. */
#ifndef FM_PROBE_SERVED_H
#define FM_PROBE_SERVED_H

#include "probe/lab.h"

/* Whether every cache that the clock knows has an event that counts exactly, and counters know of
   no other. Then one run of a string tells what many would. */
bool fm_levels_are_counted(const struct fm_lab *lab);

/* The same, or on an average, where a cache draws lots: of many references. */
bool fm_levels_are_fairly_counted(const struct fm_lab *lab);

/* Who tells: a meter's name, or "clock". */
const char *fm_served_meter(const struct fm_lab *lab);

/* Runs a string with phases of its own once: nanoseconds per metered load, NAN when something
   disturbed it. Where levels are counted, fairly at least, that is the sum of what their latencies
   are, and no time is taken. Frees the string. */
bool fm_served_once(struct fm_lab *lab, struct fm_string *string, double *ns, struct fm_error *err);

#endif
