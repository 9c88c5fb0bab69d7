#include "format/machine_file.h"

#include <stddef.h>
#include <stdlib.h>

#include "format/file.h"
#include "format/machine_check.h"
#include "format/yaml.h"

static const char *const holds_words[] = {[FM_HOLDS_DATA] = "data",
                                          [FM_HOLDS_INSTRUCTIONS] = "instructions",
                                          [FM_HOLDS_BOTH] = "both",
                                          NULL};
static const char *const index_words[] = {[FM_INDEX_VIRTUAL] = "virtual",
                                          [FM_INDEX_PHYSICAL] = "physical",
                                          [FM_INDEX_HASHED] = "hashed",
                                          [FM_INDEX_FOLDED] = "folded",
                                          NULL};
static const char *const write_words[] = {
    [FM_WRITE_BACK] = "back", [FM_WRITE_THROUGH] = "through", NULL};
static const char *const inclusion_words[] = {[FM_INCLUSION_NONE] = "none",
                                              [FM_INCLUSION_INCLUSIVE] = "inclusive",
                                              [FM_INCLUSION_EXCLUSIVE] = "exclusive",
                                              NULL};
static const char *const mapping_words[] = {
    [FM_MAPPING_CONTIGUOUS] = "contiguous", [FM_MAPPING_RANDOM] = "random", NULL};
/* Bit i of enum fm_prefetch. */
static const char *const prefetch_words[] = {"next-line", "adjacent-line", "stride", "region",
                                             NULL};

#define MEMBER(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define ARRAY(type, member, counter, most)                                                         \
    MEMBER(type, member), .count_offset = offsetof(type, counter), .slots = (most)

/* Kept for later probes: known and checked here, not stored. */
#define LATER .size = 0
/* What Linux can be built for. */
#define CPUS_MOST 8192

#define CYCLES      .low = 1e-3, .high = 1e9
#define ADDED       .low = 0, .high = 1e9
#define PROBABILITY .low = 0, .high = 1

#define CACHE(member) MEMBER(struct fm_cache_description, member)
static const struct fm_field cache_fields[] = {
    {"name", FM_FIELD_TEXT, true, CACHE(name)},
    {"level", FM_FIELD_COUNT, true, CACHE(level), .low = 1, .high = FM_CACHE_LEVELS},
    {"holds", FM_FIELD_WORD, true, CACHE(holds), .words = holds_words},
    {"capacity", FM_FIELD_SIZE, true, CACHE(capacity), .low = FM_WORD, .high = 0x1p36},
    {"line", FM_FIELD_SIZE, true, CACHE(line), .low = FM_WORD, .high = 0x1p20},
    {"ways", FM_FIELD_WAYS, true, CACHE(ways), .low = 1, .high = 0x1p24},
    {"latency", FM_FIELD_NUMBER, true, CACHE(latency), CYCLES},
    {"index", FM_FIELD_WORD, .words = index_words, CACHE(index)},
    {"replacement", FM_FIELD_POLICY, CACHE(replacement)},
    {"write_policy", FM_FIELD_WORD, .words = write_words, CACHE(write_policy)},
    {"write_allocate", FM_FIELD_BOOL, CACHE(write_allocate)},
    {"inclusion", FM_FIELD_WORD, .words = inclusion_words, CACHE(inclusion)},
    {"sector", FM_FIELD_SIZE, CACHE(sector), .low = FM_WORD, .high = 0x1p20},
    {"banks", FM_FIELD_COUNT, CACHE(banks), .low = 1, .high = 1024},
    {"bank_width", FM_FIELD_SIZE, CACHE(bank_width), .low = FM_WORD, .high = 0x1p20},
    {"fp_bypass", FM_FIELD_BOOL, CACHE(fp_bypass)},
    {"store_latency", FM_FIELD_NUMBER, CACHE(store_latency), CYCLES},
    {"streaming_stores", FM_FIELD_COUNT, CACHE(streaming_stores), .low = 1, .high = 0x1p24},
    {"shared_by", FM_FIELD_COUNT, LATER, .low = 1, .high = CPUS_MOST},
    {.key = NULL},
};

#define TLB(member) MEMBER(struct fm_tlb_description, member)
static const struct fm_field tlb_fields[] = {
    {"name", FM_FIELD_TEXT, true, TLB(name)},
    {"level", FM_FIELD_COUNT, true, TLB(level), .low = 1, .high = FM_TLB_LEVELS},
    {"holds", FM_FIELD_WORD, true, TLB(holds), .words = holds_words},
    {"entries", FM_FIELD_COUNT, true, TLB(entries), .low = 1, .high = 0x1p20},
    {"ways", FM_FIELD_WAYS, true, TLB(ways), .low = 1, .high = 0x1p20},
    {"page_sizes", FM_FIELD_SIZES,
     ARRAY(struct fm_tlb_description, page_sizes, page_size_count, FM_PAGE_SIZES), .low = 512,
     .high = 0x1p40},
    {"latency", FM_FIELD_NUMBER, TLB(latency), ADDED},
    {"index", FM_FIELD_WORD, .words = index_words, TLB(index)},
    {"replacement", FM_FIELD_POLICY, TLB(replacement)},
    {"reserved", FM_FIELD_COUNT, TLB(reserved), .low = 0, .high = 0x1p20},
    {"pages_per_entry", FM_FIELD_COUNT, TLB(pages_per_entry), .low = 1, .high = 1024},
    {"fp_bypass", FM_FIELD_BOOL, TLB(fp_bypass)},
    {.key = NULL},
};

#define TOP(member) MEMBER(struct fm_description, member)
static const struct fm_field walk_fields[] = {
    {"latency", FM_FIELD_NUMBER, true, TOP(walk_latency), ADDED},
    {"cold_latency", FM_FIELD_NUMBER, TOP(cold_walk_latency), ADDED},
    {.key = NULL},
};
static const struct fm_field memory_fields[] = {
    {"latency", FM_FIELD_NUMBER, true, TOP(memory_latency), CYCLES},
    {.key = NULL},
};
static const struct fm_field noise_fields[] = {
    {"jitter", FM_FIELD_NUMBER, TOP(noise.jitter), PROBABILITY},
    {"spike_probability", FM_FIELD_NUMBER, TOP(noise.spike_probability), PROBABILITY},
    {"spike_cycles", FM_FIELD_NUMBER, TOP(noise.spike_cycles), .low = 0, .high = 1e12},
    {"pollution", FM_FIELD_NUMBER, TOP(noise.pollution), PROBABILITY},
    {"timer_ns", FM_FIELD_NUMBER, TOP(noise.timer_ns), .low = 0, .high = 1e6},
    {"timer_pages", FM_FIELD_COUNT, TOP(noise.timer_pages), .low = 0, .high = 64},
    {.key = NULL},
};
static const struct fm_field growth_fields[] = {
    {"misses", FM_FIELD_COUNT, true, TOP(growth.misses), .low = 1, .high = 0x1p30},
    {"to", FM_FIELD_SIZE, true, TOP(growth.to), .low = 1024, .high = 0x1p30},
    {.key = NULL},
};
#define BTB(member) MEMBER(struct fm_btb_description, member)
static const struct fm_field btb_fields[] = {
    {"entries", FM_FIELD_COUNT, true, BTB(entries), .low = 1, .high = 0x1p20},
    {"ways", FM_FIELD_WAYS, BTB(ways), .low = 1, .high = 0x1p20},
    {"block", FM_FIELD_SIZE, BTB(block), .low = 1, .high = 4096},
    {"miss_cost", FM_FIELD_NUMBER, true, BTB(miss_cost), ADDED},
    {.key = NULL},
};
static const struct fm_field op_cache_fields[] = {
    {"entries", FM_FIELD_COUNT, true, TOP(op_cache.entries), .low = 1, .high = 0x1p20},
    {"ways", FM_FIELD_WAYS, TOP(op_cache.ways), .low = 1, .high = 0x1p20},
    {"window", FM_FIELD_SIZE, TOP(op_cache.window), .low = FM_WORD, .high = 4096},
    {"ops", FM_FIELD_COUNT, TOP(op_cache.ops), .low = 1, .high = 1024},
    {"latency", FM_FIELD_NUMBER, true, TOP(op_cache.latency), ADDED},
    {.key = NULL},
};
static const struct fm_field machine_fields[] = {
    {"name", FM_FIELD_TEXT, true, TOP(name)},
    {"source", FM_FIELD_TEXT, TOP(source)},
    {"clock_mhz", FM_FIELD_NUMBER, true, TOP(clock_mhz), .low = 1e-3, .high = 1e6},
    {"page_size", FM_FIELD_SIZE, TOP(page_size), .low = 512, .high = 0x1p30},
    {"page_mapping", FM_FIELD_WORD, TOP(page_mapping), .words = mapping_words},
    {"caches", FM_FIELD_MAPS, true,
     ARRAY(struct fm_description, caches, cache_count, FM_DESCRIBED_CACHES),
     .fields = cache_fields},
    {"tlbs", FM_FIELD_MAPS, ARRAY(struct fm_description, tlbs, tlb_count, FM_DESCRIBED_TLBS),
     .fields = tlb_fields},
    {"walk", FM_FIELD_MAP, .fields = walk_fields},
    {"memory", FM_FIELD_MAP, true, .fields = memory_fields},
    {"prefetch", FM_FIELD_WORDS, TOP(prefetch), .words = prefetch_words},
    {"noise", FM_FIELD_MAP, .fields = noise_fields},
    {"no_counter", FM_FIELD_WORDS, TOP(no_counter), .words = fm_event_structures},
    {"add_latency", FM_FIELD_NUMBER, TOP(add_latency), .low = 1e-3, .high = 1000},
    {"page_growth", FM_FIELD_MAP, .fields = growth_fields},
    {"btb", FM_FIELD_SOME, ARRAY(struct fm_description, btbs, btb_count, FM_DESCRIBED_BTBS),
     .fields = btb_fields},
    {"op_cache", FM_FIELD_MAP, .fields = op_cache_fields},
    {"cores", FM_FIELD_COUNT, LATER, .low = 1, .high = CPUS_MOST},
    {"neighbours", FM_FIELD_COUNT, LATER, .low = 0, .high = CPUS_MOST},
    {.key = NULL},
};

bool fm_description_parse(const char *text, size_t length, const char *name,
                          struct fm_description *out, struct fm_error *err)
{
    struct fm_yaml *yaml = fm_yaml_open(text, length, name, err);
    if (!yaml)
        return false;
    struct fm_description description = {.page_size = 4096, .add_latency = 1};
    for (size_t i = 0; i < FM_DESCRIBED_CACHES; i++)
        description.caches[i].write_allocate = true;
    for (size_t i = 0; i < FM_DESCRIBED_BTBS; i++)
        description.btbs[i] = (struct fm_btb_description){.ways = FM_WAYS_FULL, .block = 8};
    description.op_cache =
        (struct fm_op_cache_description){.ways = FM_WAYS_FULL, .window = 32, .ops = 6};
    const bool ok = fm_yaml_read(yaml, machine_fields, &description) &&
                    fm_description_check(yaml, &description);
    fm_yaml_close(yaml);
    if (ok)
        *out = description;
    return ok;
}

bool fm_description_read(const char *path, struct fm_description *out, struct fm_error *err)
{
    char *text;
    size_t length;
    if (!fm_file_read(path, FM_MACHINE_FILE_LIMIT, &text, &length, err))
        return false;
    const bool ok = fm_description_parse(text, length, path, out, err);
    free(text);
    return ok;
}
