/* Replacement policies as small state machines.
 *
 * A policy looks after the ways of one set. It knows no tags: its owner says which way was hit,
 * filled or lost, and asks which way to fill next. The state of a set is a row of 64-bit words
 * that the owner keeps, so that a cache of a hundred thousand sets is one array, and whoever
 * wants to predict the misses of a short sequence needs no more than a few words on the stack.
 *
 * An empty way is always filled before a line is replaced; policies whose choice depends on the
 * way's number take the lowest empty one. */
#ifndef FM_POLICY_POLICY_H
#define FM_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/description.h"
#include "core/rng.h"

struct fm_policy {
    const char *name;  /* the machine file's word */
    bool power_of_two; /* works for a power of two of ways only */

    /* How many words the state of a set of so many ways takes. */
    size_t (*words)(uint32_t ways);

    /* Makes every way empty. */
    void (*reset)(uint64_t *state, uint32_t ways);

    /* The line in this way was used. May be NULL: hits do not matter to this policy. */
    void (*hit)(uint64_t *state, uint32_t ways, uint32_t way);

    /* The way to fill next. It may age the set, so a fill of that way must follow. Only a policy
       that draws lots uses rng. */
    uint32_t (*victim)(uint64_t *state, uint32_t ways, struct fm_rng *rng);

    /* A new line came into this way. */
    void (*fill)(uint64_t *state, uint32_t ways, uint32_t way);

    /* The line in this way was lost; the way is empty now. */
    void (*drop)(uint64_t *state, uint32_t ways, uint32_t way);
};

/* Never NULL for a value of the enumeration. */
const struct fm_policy *fm_policy_of(enum fm_replacement replacement);

#endif
