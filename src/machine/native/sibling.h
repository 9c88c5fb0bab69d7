/* Noticing another thread on the same core, which takes its turns at the core's units and its part
 * of the caches and TLBs next to them. On a virtual machine that may be a stranger's; no context
 * switch and no stolen time tells of it.
 *
 * Many independent operations wait for units to be free, a chain of dependent ones hardly ever
 * does. So the one takes longer against the other than it does when the core is ours alone, and
 * how fast the core runs makes no difference. */
#ifndef FM_MACHINE_NATIVE_SIBLING_H
#define FM_MACHINE_NATIVE_SIBLING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/meter.h"
#include "machine/native/patience.h"

struct fm_sibling {
    const struct fm_meter *clock;
    uint64_t operations; /* of a chain, in one look */
    double chain_ns;     /* what a chain took at the least … */
    double least;        /* … and independent ones against it */
    uint64_t looks, busy;
};

void fm_sibling_open(struct fm_sibling *sibling, const struct fm_meter *clock);

/* Whether the core is ours alone at this moment. Takes a microsecond or a few. */
bool fm_sibling_is_idle(struct fm_sibling *sibling);

/* Waits until it is, as long as patience lasts. */
bool fm_sibling_wait(struct fm_sibling *sibling, struct fm_patience *patience, double passed_ns);

/* The part of the looks that found it busy. */
double fm_sibling_busy(const struct fm_sibling *sibling);

#endif
