/* How long to wait for a computer to come to rest: one that never does is measured all the same. */
#ifndef FM_MACHINE_NATIVE_PATIENCE_H
#define FM_MACHINE_NATIVE_PATIENCE_H

#include <stdbool.h>

struct fm_patience {
    double waited_ns; /* in all */
};

/* Pauses, unless a part of `passed_ns` has been spent on pauses already. False: it did not. */
bool fm_patience_pause(struct fm_patience *patience, double pause_ns, double passed_ns);

#endif
