/* A machine described in a file: what the simulator simulates. */
#ifndef FM_CORE_DESCRIPTION_H
#define FM_CORE_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine.h"

enum fm_holds { FM_HOLDS_DATA, FM_HOLDS_INSTRUCTIONS, FM_HOLDS_BOTH };
enum fm_index { FM_INDEX_VIRTUAL, FM_INDEX_PHYSICAL, FM_INDEX_HASHED, FM_INDEX_FOLDED };
enum fm_replacement {
    FM_REPLACE_LRU,
    FM_REPLACE_TREE_PLRU,
    FM_REPLACE_BIT_PLRU,
    FM_REPLACE_FIFO,
    FM_REPLACE_RANDOM,
    FM_REPLACE_SRRIP,
    FM_REPLACE_NRU,
    FM_REPLACE_BRRIP,
    FM_REPLACE_LRU_TREES,
    FM_REPLACE_QLRU /* and all above: a family, see core/replacement.h */
};
enum fm_write_policy { FM_WRITE_BACK, FM_WRITE_THROUGH };
enum fm_inclusion { FM_INCLUSION_NONE, FM_INCLUSION_INCLUSIVE, FM_INCLUSION_EXCLUSIVE };
enum fm_mapping { FM_MAPPING_CONTIGUOUS, FM_MAPPING_RANDOM };

/* Bits of fm_description.prefetch. */
enum fm_prefetch {
    FM_PREFETCH_NEXT_LINE = 1,
    FM_PREFETCH_ADJACENT_LINE = 2,
    FM_PREFETCH_STRIDE = 4,
    FM_PREFETCH_REGION = 8
};

#define FM_DESCRIBED_CACHES 12
#define FM_DESCRIBED_TLBS   8
#define FM_DESCRIBED_BTBS   3
#define FM_PAGE_SIZES       4
#define FM_NAME_TEXT        24
#define FM_PARTS_MOST       64 /* separately filled parts of a line */

struct fm_cache_description {
    char name[FM_NAME_TEXT];
    unsigned level;
    enum fm_holds holds;
    uint64_t capacity;
    uint32_t line;
    uint32_t ways; /* resolved: "full" is capacity / line */
    double latency;
    enum fm_index index;
    enum fm_replacement replacement;
    enum fm_write_policy write_policy;
    bool write_allocate;
    enum fm_inclusion inclusion;
    double store_latency;      /* cycles of a write that ends here; 0: as many as the latency */
    uint32_t sector;           /* bytes that one miss brings; 0: the line */
    bool fp_bypass;            /* loads of real numbers go past it, and leave it as it is */
    uint32_t banks;            /* 0: any two loads go at once */
    uint32_t bank_width;       /* bytes; 0: banks share a line evenly */
    uint32_t streaming_stores; /* whole lines stored in a row after which stores no longer
                                  allocate; 0: they always do */
};

/* Bytes next to each other that are in one bank, of a cache that has banks. */
static inline uint32_t fm_bank_width(const struct fm_cache_description *cache)
{
    return cache->bank_width || !cache->banks ? cache->bank_width : cache->line / cache->banks;
}

struct fm_tlb_description {
    char name[FM_NAME_TEXT];
    unsigned level;
    enum fm_holds holds;
    uint32_t entries;
    uint32_t ways; /* resolved: "full" is entries */
    double latency;
    uint64_t page_sizes[FM_PAGE_SIZES];
    size_t page_size_count;
    enum fm_index index; /* virtual or hashed */
    enum fm_replacement replacement;
    uint32_t reserved;        /* entries that are not ours */
    uint32_t pages_per_entry; /* neighbouring pages that share one; 0 is 1 */
    bool fp_bypass;           /* as of caches */
};

/* One level of the branch target buffer: where jumps were seen to lead. */
struct fm_btb_description {
    uint32_t entries;
    uint32_t ways;    /* resolved: "full", as when it is left out, is entries */
    uint32_t block;   /* bytes: a set is (address of the jump / block) modulo sets */
    double miss_cost; /* cycles that a jump takes more when it is not here, but in the next level;
                         of the last level: when it is in none */
};

/* Decoded instructions; none where entries are 0. */
struct fm_op_cache_description {
    uint32_t entries;
    uint32_t ways;
    uint32_t window; /* bytes of code that an entry holds at the most */
    uint32_t ops;    /* operations of a window that an entry holds; further ones take more */
    double latency;  /* cycles of a fetch that it serves */
};

struct fm_noise_description {
    double jitter;
    double spike_probability;
    double spike_cycles;
    double pollution;
    double timer_ns;
    uint32_t timer_pages; /* that a reading of the clock touches, not the arena's */
};

/* A system that gives larger pages to who misses often. */
struct fm_growth_description {
    uint32_t misses; /* in all TLBs, on one arena; 0: it does not */
    uint64_t to;     /* bytes of a page from then on */
};

struct fm_description {
    char name[FM_INFO_TEXT];
    char source[FM_INFO_TEXT];
    double clock_mhz;
    double add_latency; /* cycles of an integer add */
    uint64_t page_size;
    enum fm_mapping page_mapping;
    struct fm_cache_description caches[FM_DESCRIBED_CACHES];
    size_t cache_count;
    struct fm_tlb_description tlbs[FM_DESCRIBED_TLBS];
    size_t tlb_count;
    struct fm_btb_description btbs[FM_DESCRIBED_BTBS]; /* from the core outwards */
    size_t btb_count;
    struct fm_op_cache_description op_cache;
    double walk_latency;
    double cold_walk_latency; /* its table not in cache; 0: the same */
    struct fm_growth_description growth;
    double memory_latency;
    unsigned prefetch; /* bits of enum fm_prefetch */
    struct fm_noise_description noise;
    unsigned no_counter; /* events, as in fm_counters.events, that its processor does not count */
};

#endif
