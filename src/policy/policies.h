/* The policies there are; policy.c lists them. */
#ifndef FM_POLICY_POLICIES_H
#define FM_POLICY_POLICIES_H

#include "policy/policy.h"

extern const struct fm_policy fm_policy_lru;
extern const struct fm_policy fm_policy_tree_plru;
extern const struct fm_policy fm_policy_lru_trees;
extern const struct fm_policy fm_policy_bit_plru;
extern const struct fm_policy fm_policy_fifo;
extern const struct fm_policy fm_policy_random;
extern const struct fm_policy fm_policy_srrip;
extern const struct fm_policy fm_policy_nru;
extern const struct fm_policy fm_policy_brrip;
extern const struct fm_policy fm_policy_qlru; /* without its rule */

#endif
