#include "policy/policies.h"

static const struct fm_policy *const policies[] = {
    [FM_REPLACE_LRU] = &fm_policy_lru,
    [FM_REPLACE_TREE_PLRU] = &fm_policy_tree_plru,
    [FM_REPLACE_BIT_PLRU] = &fm_policy_bit_plru,
    [FM_REPLACE_FIFO] = &fm_policy_fifo,
    [FM_REPLACE_RANDOM] = &fm_policy_random,
    [FM_REPLACE_SRRIP] = &fm_policy_srrip,
    [FM_REPLACE_NRU] = &fm_policy_nru,
    [FM_REPLACE_BRRIP] = &fm_policy_brrip,
    [FM_REPLACE_LRU_TREES] = &fm_policy_lru_trees,
};

struct fm_policy fm_policy_of(enum fm_replacement replacement)
{
    if (replacement < FM_REPLACE_QLRU)
        return *policies[replacement];
    struct fm_policy policy = fm_policy_qlru;
    policy.rule = fm_qlru_of(replacement);
    return policy;
}
