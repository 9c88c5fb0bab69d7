/* A walk that always takes the same time, to notice that just now it does not.
 *
 * A host that takes free pages back from its guest flushes the guest's TLBs thousands of times a
 * second, for a tenth of a second and more; whoever empties caches or TLBs from outside does the
 * like. No context switch and no stolen time tells of it. */
#ifndef FM_MACHINE_NATIVE_CANARY_H
#define FM_MACHINE_NATIVE_CANARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/meter.h"
#include "machine/native/patience.h"

struct fm_canary {
    const struct fm_meter *clock;
    char *base; /* a chain over a few pages; NULL: there was no memory, and all seems calm */
    size_t bytes;
    uint64_t steps; /* of the chain, that one walk goes */
};

void fm_canary_open(struct fm_canary *canary, const struct fm_meter *clock, size_t page);
void fm_canary_close(struct fm_canary *canary);

/* Whether nothing disturbs the computer at this moment. Takes a tenth of a millisecond. */
bool fm_canary_is_calm(const struct fm_canary *canary);

/* Waits until it is calm, as long as patience lasts. False: it is not. */
bool fm_canary_wait(const struct fm_canary *canary, struct fm_patience *patience, double passed_ns);

/* Whether walks that should take the same do, but for so many. */
bool fm_canary_even(const double *ns, size_t count, size_t forgive);

#endif
