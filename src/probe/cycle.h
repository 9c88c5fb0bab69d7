/* The core's cycle time, a second time. */
#ifndef FM_PROBE_CYCLE_H
#define FM_PROBE_CYCLE_H

#include <stdbool.h>

#include "core/error.h"

struct fm_lab;

/* By what part a cycle is longer now than when the cycle probe ran; 0 where the clock cannot tell,
   or it did not run. */
bool fm_cycle_drift(struct fm_lab *lab, double *drift, struct fm_error *err);

/* Takes the cycle anew where it is another now: a core need not have reached its speed when it was
   asked, nor have kept it. */
bool fm_cycle_keep_up(struct fm_lab *lab, bool *changed, struct fm_error *err);

#endif
