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
#include "core/replacement.h"
#include "core/rng.h"

struct fm_policy {
    bool draws;          /* lots decide: the same sequence may miss more or less often */
    struct fm_qlru rule; /* of the policies that keep an age of two bits */
    uint32_t rarely;     /* of those: one line in so many comes in younger by one; 0: none */

    /* How many words the state of a set of so many ways takes. */
    size_t (*words)(uint32_t ways);

    /* Makes every way empty. */
    void (*reset)(uint64_t *state, uint32_t ways);

    /* The line in this way was used. May be NULL: hits do not matter to this policy. */
    void (*hit)(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way);

    /* The way to fill next. It may age the set, so a fill of that way must follow. Only a policy
       that draws lots uses rng. */
    uint32_t (*victim)(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng);

    /* A new line came into this way. */
    void (*fill)(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way,
                 struct fm_rng *rng);

    /* The line in this way was lost; the way is empty now. */
    void (*drop)(uint64_t *state, uint32_t ways, uint32_t way);
};

/* A value, since the QLRU family has more members than anybody would list. */
struct fm_policy fm_policy_of(enum fm_replacement replacement);

#endif
