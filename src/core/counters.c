#include "core/machine.h"

const char *fm_event_structure(unsigned bit)
{
    static const char *const names[FM_EVENTS] = {"l1d", "l2",    "l3",    "l4",   "l5",
                                                 "l6",  "dtlb1", "dtlb2", "dtlb3"};
    return names[bit];
}

uint64_t fm_event_count(const struct fm_counts *counts, unsigned bit)
{
    return bit < FM_CACHE_LEVELS ? counts->cache_miss[bit]
                                 : counts->tlb_miss[bit - FM_CACHE_LEVELS];
}
