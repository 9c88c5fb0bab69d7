/* Which events of which processors count the misses of which structure.
 *
 * Generic events come first where they mean the same everywhere; then native ones; then
 * substitutes. The kernel's generic TLB event does not: on Intel it counts walks, which are misses
 * of the last TLB, so it stands behind. Paper 000 (2004) adds two native events to get the misses
 * of a first TLB: those that the second level answered, and those that it did not. */
#include "meter/perf.h"

#define CACHE(what)                                                                                \
    PERF_COUNT_HW_CACHE_##what | PERF_COUNT_HW_CACHE_OP_READ << 8 |                                \
        PERF_COUNT_HW_CACHE_RESULT_MISS << 16
#define GENERIC(what)                                                                              \
    {                                                                                              \
        .type = PERF_TYPE_HW_CACHE, .config = CACHE(what)                                          \
    }
#define NATIVE(name)                                                                               \
    {                                                                                              \
        .native = name                                                                             \
    }

const struct fm_perf_events fm_perf_misses = {
    .list =
        {
            {.bit = 0,
             .ways = {GENERIC(L1D), NATIVE("MEM_LOAD_RETIRED:L1_MISS"),
                      NATIVE("MEM_LOAD_UOPS_RETIRED:L1_MISS"), NATIVE("L1D_CACHE_REFILL"),
                      NATIVE("L1D:REPLACEMENT")}},
            {.bit = 1,
             .ways = {NATIVE("MEM_LOAD_RETIRED:L2_MISS"), NATIVE("MEM_LOAD_UOPS_RETIRED:L2_MISS"),
                      NATIVE("L2D_CACHE_REFILL"), NATIVE("L2_CACHE_REQ_STAT:LS_RD_BLK_C")}},
            {.bit = 2,
             .ways = {NATIVE("MEM_LOAD_RETIRED:L3_MISS"), NATIVE("MEM_LOAD_UOPS_RETIRED:L3_MISS"),
                      NATIVE("L3D_CACHE_REFILL"), NATIVE("LL_CACHE_MISS_RD")}},
            {.bit = FM_CACHE_LEVELS,
             .ways = {NATIVE("DTLB_LOAD_MISSES:STLB_HIT+DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"),
                      NATIVE("L1D_TLB_REFILL"), NATIVE("L1_DTLB_MISS:ANY"), GENERIC(DTLB)}},
            {.bit = FM_CACHE_LEVELS + 1,
             .ways = {NATIVE("DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"), NATIVE("L2D_TLB_REFILL")}},
        },
    .count = 5,
};
