/* Which events of which processors count the misses of which structure.
 *
 * Generic events come first where they mean the same everywhere; then native ones; then
 * substitutes. The kernel's generic TLB event does not: on Intel it counts walks, which are misses
 * of the last TLB, so it stands behind. Paper 000 (2004) adds two native events to get the misses
 * of a first TLB: those that the second level answered, and those that it did not. */
#include "meter/command.h"
#include "meter/perf.h"

#define MISS(cache, operation)                                                                     \
    PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                        \
        PERF_COUNT_HW_CACHE_RESULT_MISS << 16
#define ACCESS(cache, operation)                                                                   \
    PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                        \
        PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16
#define GENERIC_CACHE(shown, first, second)                                                        \
    {                                                                                              \
        .name = shown, .generic = true, .type = PERF_TYPE_HW_CACHE, .config = first,               \
        .plus = second                                                                             \
    }
#define GENERIC(shown, what)                                                                       \
    {                                                                                              \
        .name = shown, .generic = true, .type = PERF_TYPE_HARDWARE, .config = what                 \
    }
#define SOFTWARE(shown, what, where)                                                               \
    {                                                                                              \
        .name = shown, .generic = true, .kernel = where, .type = PERF_TYPE_SOFTWARE,               \
        .config = what                                                                             \
    }
#define NATIVE(names)                                                                              \
    {                                                                                              \
        .name = names                                                                              \
    }

const struct fm_perf_events fm_perf_misses =
    {
        .list =
            {
                {.bit = 0,
                 .ways = {GENERIC_CACHE("L1-dcache-load-misses", MISS(L1D, READ), 0),
                          NATIVE("MEM_LOAD_RETIRED:L1_MISS"),
                          NATIVE("MEM_LOAD_UOPS_RETIRED:L1_MISS"), NATIVE("L1D_CACHE_REFILL"),
                          NATIVE("L1D:REPLACEMENT")}},
                {.bit = 1,
                 .ways = {NATIVE("MEM_LOAD_RETIRED:L2_MISS"),
                          NATIVE("MEM_LOAD_UOPS_RETIRED:L2_MISS"), NATIVE("L2D_CACHE_REFILL"),
                          NATIVE("L2_CACHE_REQ_STAT:LS_RD_BLK_C")}},
                {.bit = 2,
                 .ways = {NATIVE("MEM_LOAD_RETIRED:L3_MISS"),
                          NATIVE("MEM_LOAD_UOPS_RETIRED:L3_MISS"), NATIVE("L3D_CACHE_REFILL"),
                          NATIVE("LL_CACHE_MISS_RD")}},
                {.bit = FM_CACHE_LEVELS,
                 .ways = {NATIVE("DTLB_LOAD_MISSES:STLB_HIT+DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"),
                          NATIVE("L1D_TLB_REFILL"), NATIVE("L1_DTLB_MISS:ANY"),
                          GENERIC_CACHE("dTLB-load-misses", MISS(DTLB, READ), 0)}},
                {.bit = FM_CACHE_LEVELS + 1,
                 .ways = {NATIVE("DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK"), NATIVE("L2D_TLB_REFILL")}},
                {.bit = FM_CODE_EVENT,
                 .ways = {GENERIC_CACHE("L1-icache-load-misses", MISS(L1I, READ), 0),
                          NATIVE("L1I_CACHE_REFILL"), NATIVE("ICACHE:MISSES"),
                          NATIVE("ICACHE_64B:IFTAG_MISS")}},
                {.bit = FM_CODE_EVENT + 1,
                 .ways = {NATIVE("ITLB_MISSES:STLB_HIT+ITLB_MISSES:MISS_CAUSES_A_WALK"),
                          NATIVE("L1I_TLB_REFILL"),
                          NATIVE("L1_ITLB_MISS_L2_ITLB_HIT+L1_ITLB_MISS_L2_ITLB_MISS"),
                          GENERIC_CACHE("iTLB-load-misses", MISS(ITLB, READ), 0)}},
                /* A fetch that was sent elsewhere once the jump was decoded. */
                {.bit = FM_TARGET_EVENT,
                 .ways = {NATIVE("BACLEARS:ANY"), NATIVE("BACLEARS:CLEAR")}},
            },
        .count = 8,
};

/* Of a command all lines count that come in, whoever asked for them: loads, stores or a
   prefetcher. That is what the note on the Pentium Pro counted (DCU_LINES_IN, L2_LINES_IN). */
const struct fm_perf_events fm_perf_of_commands =
    {
        .list =
            {
                {.bit = FM_COMMAND_REFERENCES,
                 .ways = {NATIVE("MEM_INST_RETIRED:ALL_LOADS+MEM_INST_RETIRED:ALL_STORES"),
                          NATIVE("MEM_UOPS_RETIRED:ALL_LOADS+MEM_UOPS_RETIRED:ALL_STORES"),
                          NATIVE("MEM_ACCESS"),
                          NATIVE("LS_DISPATCH:LD_DISPATCH+LS_DISPATCH:STORE_DISPATCH"),
                          GENERIC_CACHE("L1-dcache-loads+L1-dcache-stores", ACCESS(L1D, READ),
                                        ACCESS(L1D, WRITE))}},
                {.bit = FM_COMMAND_FILLS,
                 .ways = {NATIVE("L1D:REPLACEMENT"), NATIVE("L1D_CACHE_REFILL"),
                          NATIVE("DCU_LINES_IN"),
                          GENERIC_CACHE("L1-dcache-load-misses", MISS(L1D, READ), 0)}},
                {.bit = FM_COMMAND_FILLS + 1,
                 .ways = {NATIVE("L2_LINES_IN:ALL"), NATIVE("L2_LINES_IN:ANY"),
                          NATIVE("L2D_CACHE_REFILL"), NATIVE("L2_LINES_IN")}},
                {.bit = FM_COMMAND_FILLS + 2,
                 .ways = {NATIVE("L3D_CACHE_REFILL"), NATIVE("LL_CACHE_MISS"),
                          NATIVE("LONGEST_LAT_CACHE:MISS"),
                          GENERIC_CACHE("LLC-load-misses", MISS(LL, READ), 0)}},
                {.bit = FM_COMMAND_FETCH_MISSES,
                 .ways = {GENERIC_CACHE("L1-icache-load-misses", MISS(L1I, READ), 0),
                          NATIVE("L1I_CACHE_REFILL"), NATIVE("ICACHE:MISSES"),
                          NATIVE("L2_IFETCH")}},
                {.bit = FM_COMMAND_FETCH_STALLS,
                 .ways = {NATIVE("ICACHE_16B:IFDATA_STALL"), NATIVE("ICACHE:IFDATA_STALL"),
                          NATIVE("ICACHE_DATA:STALLS"), NATIVE("STALL_FRONTEND"),
                          GENERIC("stalled-cycles-frontend",
                                  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND)}},
                {.bit = FM_COMMAND_CYCLES, .ways = {GENERIC("cycles", PERF_COUNT_HW_CPU_CYCLES)}},
                {.bit = FM_COMMAND_TASK_CLOCK,
                 .ways = {SOFTWARE("task-clock", PERF_COUNT_SW_TASK_CLOCK, false)}},
                {.bit = FM_COMMAND_PAGE_FAULTS,
                 .ways = {SOFTWARE("page-faults", PERF_COUNT_SW_PAGE_FAULTS, false)}},
                {.bit = FM_COMMAND_SWITCHES,
                 .ways = {SOFTWARE("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, true)}},
            },
        .count = 10,
};
