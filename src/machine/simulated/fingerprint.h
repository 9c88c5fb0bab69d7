/* 64 bits that tell whether the sets which an order comes to are as they were.
 *
 * Ways are taken in the order in which the policy will give them up, as far as it has one: a line
 * that came back into another way of its set changes nothing that follows. */
#ifndef FM_MACHINE_SIMULATED_FINGERPRINT_H
#define FM_MACHINE_SIMULATED_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/simulated/cache.h"
#include "machine/simulated/placement.h"
#include "machine/simulated/tlb.h"

/* Words of the arena that are gone round. Each stands for `span` bytes, from the beginning of the
   aligned block that it lies in. */
struct fm_round {
    const uint32_t *words;
    size_t count;
    uint64_t block, span;
};

/* The sets that the round comes to, or more of them. `drops`: ways may become empty. */
uint64_t fm_fingerprint_cache(struct fm_cache *cache, const struct fm_placement *placement,
                              const struct fm_round *round, bool drops);
/* All sets. */
uint64_t fm_fingerprint_tags(const struct fm_tags *tags);
uint64_t fm_fingerprint_tlb(struct fm_tlb_level *tlb, const struct fm_tlbs *tlbs,
                            const struct fm_round *round);

#endif
