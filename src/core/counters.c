#include "core/machine.h"

const char *const fm_event_structures[] = {"l1d",   "l2",    "l3",  "l4",    "l5",  "l6", "dtlb1",
                                           "dtlb2", "dtlb3", "l1i", "itlb1", "btb", NULL};

const char *fm_event_structure(unsigned bit)
{
    return fm_event_structures[bit];
}

static uint64_t *count_of(struct fm_counts *counts, unsigned bit)
{
    if (bit == FM_TARGET_EVENT)
        return &counts->target_miss;
    if (bit >= FM_CODE_EVENT)
        return bit == FM_CODE_EVENT ? &counts->fetch_miss : &counts->fetch_tlb_miss;
    return bit < FM_CACHE_LEVELS ? &counts->cache_miss[bit]
                                 : &counts->tlb_miss[bit - FM_CACHE_LEVELS];
}

uint64_t fm_event_count(const struct fm_counts *counts, unsigned bit)
{
    struct fm_counts copy = *counts;
    return *count_of(&copy, bit);
}

void fm_event_add(struct fm_counts *counts, unsigned bit, uint64_t more)
{
    *count_of(counts, bit) += more;
}

const char *fm_event_meter(const struct fm_counters *counters, unsigned bit)
{
    return counters->by_second & 1u << bit ? counters->second : counters->meter;
}

bool fm_event_is_tlb(unsigned bit)
{
    return bit >= FM_CACHE_LEVELS && bit != FM_CODE_EVENT && bit != FM_TARGET_EVENT;
}

bool fm_event_is_of_code(unsigned bit)
{
    return bit >= FM_CODE_EVENT;
}
