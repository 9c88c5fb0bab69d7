#include "random_machine.h"

#include <math.h>
#include <stdio.h>

#include "core/replacement.h"
#include "core/rng.h"

static uint64_t pick(struct fm_rng *rng, const unsigned *from, size_t count)
{
    return from[fm_rng_below(rng, count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, (const unsigned[]){__VA_ARGS__},                                                     \
         sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static double between(struct fm_rng *rng, double low, double high)
{
    return low + (high - low) * fm_rng_unit(rng);
}

static enum fm_replacement any_policy(struct fm_rng *rng, uint32_t ways)
{
    /* Half are true LRU; the rest whatever hardware builds instead. */
    if (fm_rng_below(rng, 2))
        return FM_REPLACE_LRU;
    const bool power_of_two = (ways & (ways - 1)) == 0;
    switch (fm_rng_below(rng, 4)) {
    case 0:
        return power_of_two ? FM_REPLACE_TREE_PLRU : FM_REPLACE_BIT_PLRU;
    case 1:
        return FM_REPLACE_BIT_PLRU;
    case 2:
        return FM_REPLACE_FIFO;
    default:
        return FM_REPLACE_LRU;
    }
}

/* Any policy at all. The draw is one of its own, so that machines are otherwise as they were. */
static enum fm_replacement any_of_all(uint64_t seed, unsigned index, uint32_t ways)
{
    static const char *const members[] = {"qlru-h11-m1-r1-u2",     "qlru-h21-m2-r1-u3",
                                          "qlru-h00-m1-r1-u2-umo", "qlru-h11-m1-r0-u0",
                                          "qlru-h00-m1-r0-u1",     "qlru-h21-m2-r0-u0-umo"};
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(fm_mix64(seed) ^ index));
    enum fm_replacement policy = (enum fm_replacement)fm_rng_below(&rng, FM_REPLACE_QLRU);
    /* No first level thrashes by design; there is no telling its ways. */
    if (policy == FM_REPLACE_BRRIP)
        fm_replacement_parse(members[fm_rng_below(&rng, sizeof members / sizeof *members)],
                             &policy);
    return fm_replacement_misfit(policy, ways) ? FM_REPLACE_LRU : policy;
}

/* A cache of about that capacity: sets are a power of two, or three or five times one. */
static struct fm_cache_description any_cache(struct fm_rng *rng, unsigned level, double about,
                                             uint32_t line, double latency)
{
    struct fm_cache_description cache = {.level = level, .line = line, .latency = latency};
    cache.holds = level == 1 ? FM_HOLDS_DATA : FM_HOLDS_BOTH;
    cache.ways = (uint32_t)(level == 1 ? PICK(rng, 1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12)
                                       : PICK(rng, 2, 4, 4, 5, 6, 8, 8, 8, 11, 12, 16, 16, 20, 24));
    const uint64_t odd = PICK(rng, 1, 1, 1, 1, 3, 5);
    const double sets = about / line / cache.ways;
    const double power = fmax(0, round(log2(sets / (double)odd)));
    cache.capacity = (uint64_t)exp2(power) * odd * cache.ways * line;
    cache.write_allocate = true;
    cache.replacement = any_policy(rng, cache.ways);
    if (level > 1) {
        cache.index = (enum fm_index)PICK(rng, FM_INDEX_PHYSICAL, FM_INDEX_PHYSICAL,
                                          FM_INDEX_VIRTUAL, FM_INDEX_HASHED);
        cache.inclusion = (enum fm_inclusion)PICK(rng, FM_INCLUSION_NONE, FM_INCLUSION_NONE,
                                                  FM_INCLUSION_INCLUSIVE);
    }
    snprintf(cache.name, sizeof cache.name, level == 1 ? "l%ud" : "l%u", level);
    return cache;
}

static void add_tlbs(struct fm_rng *rng, struct fm_description *machine)
{
    const uint32_t ways = (uint32_t)PICK(rng, 0, 2, 4, 4, 6);
    struct fm_tlb_description first = {
        .name = "dtlb1", .level = 1, .holds = FM_HOLDS_DATA, .ways = ways};
    first.entries = ways ? ways * (uint32_t)PICK(rng, 8, 16) : (uint32_t)PICK(rng, 16, 32, 48, 64);
    first.ways = ways ? ways : first.entries;
    first.page_sizes[first.page_size_count++] = machine->page_size;
    machine->tlbs[machine->tlb_count++] = first;
    if (fm_rng_below(rng, 3)) {
        struct fm_tlb_description second = {.name = "dtlb2",
                                            .level = 2,
                                            .holds = FM_HOLDS_BOTH,
                                            .ways = (uint32_t)PICK(rng, 4, 8, 12)};
        second.entries = second.ways * (uint32_t)PICK(rng, 64, 128);
        second.latency = floor(between(rng, 4, 10));
        second.page_sizes[second.page_size_count++] = machine->page_size;
        machine->tlbs[machine->tlb_count++] = second;
    }
    machine->walk_latency = floor(between(rng, 15, 60));
}

/* What TLBs may also be: some choose sets by a hash, some first ones are no true LRU. The draw is
   one of its own, so that machines are otherwise as they were. */
static void vary_tlbs(uint64_t seed, unsigned index, struct fm_description *machine)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(fm_mix64(seed + 1) ^ index));
    for (size_t i = 0; i < machine->tlb_count; i++) {
        struct fm_tlb_description *tlb = &machine->tlbs[i];
        if (fm_rng_below(&rng, 6) == 0 && tlb->ways < tlb->entries)
            tlb->index = FM_INDEX_HASHED;
        const bool power_of_two = (tlb->ways & (tlb->ways - 1)) == 0;
        const enum fm_replacement other =
            (enum fm_replacement)PICK(&rng, FM_REPLACE_FIFO, FM_REPLACE_RANDOM, FM_REPLACE_BIT_PLRU,
                                      power_of_two ? FM_REPLACE_TREE_PLRU : FM_REPLACE_BIT_PLRU);
        if (fm_rng_below(&rng, 6) == 0 && i == 0)
            tlb->replacement = other;
    }
}

/* As many pages as a reading brings along; again a draw of its own. */
static uint32_t any_timer_pages(uint64_t seed, unsigned index)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(fm_mix64(seed + 2) ^ index));
    return (uint32_t)fm_rng_below(&rng, 7);
}

void fm_random_machine(uint64_t seed, unsigned index, bool noise, struct fm_description *machine)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(seed) + index);
    *machine = (struct fm_description){.add_latency = 1};
    snprintf(machine->name, sizeof machine->name, "random %u", index);
    machine->clock_mhz = floor(between(&rng, 300, 4000));
    machine->page_size = PICK(&rng, 4096, 4096, 4096, 8192, 16384);

    const unsigned levels = (unsigned)PICK(&rng, 1, 2, 2, 3, 3, 3);
    uint32_t line = (uint32_t)PICK(&rng, 16, 32, 64, 64, 64, 128);
    double capacity = exp2(between(&rng, 12, 17)), latency = floor(between(&rng, 1, 6));
    for (unsigned level = 1; level <= levels; level++) {
        struct fm_cache_description cache = any_cache(&rng, level, capacity, line, latency);
        /* Rounding to whole sets must not bring a level too close to the one inside it. */
        while (level > 1 &&
               (double)cache.capacity < 3.5 * (double)machine->caches[level - 2].capacity)
            cache.capacity *= 2;
        machine->caches[machine->cache_count++] = cache;
        capacity = (double)cache.capacity * between(&rng, 4, 16);
        latency = ceil(latency * between(&rng, 1.8, 4)) + 2;
        if (line < 128 && fm_rng_below(&rng, 4) == 0)
            line *= 2;
    }
    machine->caches[0].replacement = any_of_all(seed, index, machine->caches[0].ways);
    machine->memory_latency = ceil(latency * between(&rng, 1.2, 3));
    add_tlbs(&rng, machine);
    vary_tlbs(seed, index, machine);
    if (noise) {
        machine->page_mapping = FM_MAPPING_RANDOM;
        machine->noise = (struct fm_noise_description){.jitter = between(&rng, 0.002, 0.02),
                                                       .spike_probability = 0.002,
                                                       .spike_cycles = 20000,
                                                       .timer_ns = (double)PICK(&rng, 1, 8, 20),
                                                       .timer_pages = any_timer_pages(seed, index)};
    }
}
