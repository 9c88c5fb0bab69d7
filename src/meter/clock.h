/* The clock meter: time read from the finest clock this computer has. */
#ifndef FM_METER_CLOCK_H
#define FM_METER_CLOCK_H

#include "core/meter.h"

/* Opens the clock; takes a few milliseconds, in which its frequency, resolution and overhead are
   measured. info.name says which it is: "cntvct", "tsc", "rdtime", "timebase", "clock_gettime".
   NULL with err filled when memory is out or the computer has no clock that moves. */
struct fm_meter *fm_clock_open(struct fm_error *err);

#endif
