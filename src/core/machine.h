/* The interface "machine": where a reference string runs. Probes see nothing but this. */
#ifndef FM_CORE_MACHINE_H
#define FM_CORE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/refstring.h"

#define FM_CACHE_LEVELS 6
#define FM_TLB_LEVELS   3

/* Event counts, where a meter can give them. A miss of level i is a reference that was not served
   by levels 1..i. Which of them mean something is in fm_counters.events. */
struct fm_counts {
    uint64_t references;
    uint64_t cache_miss[FM_CACHE_LEVELS];
    uint64_t tlb_miss[FM_TLB_LEVELS];
    uint64_t walks;
    uint64_t prefetches;
    uint64_t writebacks;
    uint64_t fetch_miss;     /* of jumps: the first cache of code … */
    uint64_t fetch_tlb_miss; /* … and the first TLB of code */
    uint64_t target_miss;    /* jumps whose target no branch target buffer knew */
};

/* Bits of fm_counters.events. */
#define FM_COUNTS_CACHE(level) (1u << (level)) /* level 0 is L1 */
#define FM_COUNTS_TLB(level)   (1u << (FM_CACHE_LEVELS + (level)))
#define FM_COUNTS_CODE         (1u << FM_CODE_EVENT)
#define FM_COUNTS_CODE_TLB     (1u << (FM_CODE_EVENT + 1))
#define FM_COUNTS_TARGETS      (1u << FM_TARGET_EVENT)

/* The counters a machine offers beside its clock. */
struct fm_counters {
    char meter[16];  /* who reads them: "sim", "callgrind", "perf", "papi"; empty: there are none */
    unsigned events; /* which counts mean something */
    bool alone;      /* what they count is a model that has no time: its clock tells nothing */
    char second[16]; /* another who reads the events that the first cannot; empty: nobody */
    unsigned by_second; /* those events */
};

#define FM_CODE_EVENT   (FM_CACHE_LEVELS + FM_TLB_LEVELS)
#define FM_TARGET_EVENT (FM_CODE_EVENT + 2)
#define FM_EVENTS       (FM_TARGET_EVENT + 1)
/* The structure whose misses the event of that bit counts ("l1d", "l2", "dtlb1"), its count, and
   how a meter adds to that. */
extern const char *const fm_event_structures[]; /* by bit; NULL after the last */
const char *fm_event_structure(unsigned bit);
uint64_t fm_event_count(const struct fm_counts *counts, unsigned bit);
/* Who reads it. */
const char *fm_event_meter(const struct fm_counters *counters, unsigned bit);
void fm_event_add(struct fm_counts *counts, unsigned bit, uint64_t more);
/* Whether that is a TLB, and no cache; and whether it is one that jumps ask. */
bool fm_event_is_tlb(unsigned bit);
bool fm_event_is_of_code(unsigned bit);

/* What the meters read around one timed run. */
struct fm_sample {
    double ns;           /* time of the metered references alone, timer overhead taken out */
    uint64_t references; /* how many there were */
    bool disturbed;      /* a context switch or stolen time touched it: do not believe it */
    bool counted;        /* counts are valid */
    struct fm_counts counts;
};

/* Dependent chains that touch no memory: they tell the core's cycle time. */
enum fm_chain { FM_CHAIN_ADD, FM_CHAIN_ROTATE };

struct fm_clock_info {
    char name[32];        /* "cntvct", "tsc", "clock_gettime", "simulated" */
    double resolution_ns; /* smallest step seen */
    double overhead_ns;   /* one pair of readings around nothing */
};

#define FM_INFO_TEXT   128
#define FM_OTHER_PAGES 12
struct fm_machine_info {
    char kind[16]; /* "native", "simulated", "recorded" */
    char name[FM_INFO_TEXT];
    char arch[32];
    int cpu;                           /* the CPU measured on; -1 where that means nothing */
    size_t page_size;                  /* the base page */
    size_t page_sizes[FM_OTHER_PAGES]; /* others that may be asked for, ascending */
    size_t page_size_count;
    uint64_t memory_limit; /* the largest arena that may be asked for, in bytes */
    struct fm_clock_info clock;
    struct fm_counters counters;
};

struct fm_machine;
struct fm_environment;

/* Every callback is required unless it says that it may be NULL. Those that return bool return
   false with err filled; the machine can still be used and must still be closed. */
struct fm_machine_ops {
    /* Provide an arena of at least `bytes` on pages of `page_size` bytes (0: the base page), on a
       fresh placement: other physical pages than the last time, as far as the machine can. The
       arena before it is gone. UNSUPPORTED if the page size cannot be had, NO_MEMORY if the
       memory cannot. */
    bool (*place)(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err);

    /* Run the unmetered phases in their place and the one metered phase, which is the last,
       `repeats` times; one sample each. The string must fit the placed arena. */
    bool (*run)(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err);

    /* The same, but read the counters instead of the clock: of each sample only references and
       counts mean something. Apart from run, since what starts and stops counters would disturb
       the times. NULL where info.counters names no events. */
    bool (*count)(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                  struct fm_sample *samples, struct fm_error *err);

    /* Time `operations` dependent operations of a kind. */
    bool (*chain)(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err);

    /* Seconds since the machine was opened, in the machine's own time. */
    double (*elapsed)(struct fm_machine *machine);

    /* Describe the surroundings as they are now: called before and after a survey. */
    void (*observe)(struct fm_machine *machine, struct fm_environment *environment);

    void (*close)(struct fm_machine *machine);
};

struct fm_machine {
    const struct fm_machine_ops *ops;
    struct fm_machine_info info;
};

#endif
