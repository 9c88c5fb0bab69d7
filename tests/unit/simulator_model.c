/* Compares the simulator with a plainly written model of the same rules, reference by reference,
   on random machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "machine/simulated/walk.h"
#include "naive_machine.h"

#define MACHINES   400
#define ROUNDS     40
#define ROUND_SIZE 150u

static uint64_t below(struct fm_rng *rng, uint64_t bound)
{
    return fm_rng_below(rng, bound);
}

static uint32_t any_ways(struct fm_rng *rng)
{
    /* Few, packed at the limit, searched, and hashed ones. */
    static const uint32_t special[] = {15, 16, 17, 24, 32, 33, 64, 65, 130};
    if (below(rng, 4) == 0)
        return special[below(rng, sizeof special / sizeof *special)];
    return 1 + (uint32_t)below(rng, 12);
}

static void draw_cache(struct fm_rng *rng, struct fm_cache_description *cache, unsigned level,
                       uint32_t line)
{
    *cache = (struct fm_cache_description){
        .level = level,
        .holds = below(rng, 2) ? FM_HOLDS_BOTH : FM_HOLDS_DATA,
        .line = line,
        .ways = any_ways(rng),
        .latency = 4 * level * level,
        .index = (enum fm_index)below(rng, 3),
        .replacement = (enum fm_replacement)below(rng, FM_REPLACE_NRU + 1),
        .write_policy = (enum fm_write_policy)below(rng, 2),
        .write_allocate = below(rng, 4) != 0,
        .inclusion = (enum fm_inclusion)below(rng, 3),
    };
    if (below(rng, 3) == 0)
        cache->store_latency = 1 + (double)below(rng, 9);
    if (below(rng, 3) == 0)
        cache->streaming_stores = 1 + (uint32_t)below(rng, 4);
    if (cache->replacement == FM_REPLACE_TREE_PLRU)
        cache->ways = (uint32_t)1 << below(rng, 8);
    const uint64_t sets = below(rng, 2) ? 1 + below(rng, 90) : (uint64_t)1 << below(rng, 7);
    cache->capacity = sets * cache->ways * line;
}

static void draw_tlb(struct fm_rng *rng, struct fm_tlb_description *tlb, unsigned level,
                     uint64_t page_size)
{
    *tlb = (struct fm_tlb_description){
        .level = level, .ways = any_ways(rng), .latency = 3 * (level - 1)};
    tlb->entries = tlb->ways * (1 + (uint32_t)below(rng, 5));
    if (below(rng, 4))
        tlb->page_sizes[tlb->page_size_count++] = page_size;
    if (tlb->page_size_count == 0 || below(rng, 2))
        tlb->page_sizes[tlb->page_size_count++] = 4 * page_size;
}

/* Sectors of half a line to four lines, where no exclusive level forbids it. */
static void draw_sectors(struct fm_rng *rng, struct fm_description *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        struct fm_cache_description *cache = &machine->caches[i];
        const bool feeds =
            i + 1 < machine->cache_count && cache[1].inclusion == FM_INCLUSION_EXCLUSIVE;
        if (below(rng, 4) || cache->inclusion == FM_INCLUSION_EXCLUSIVE)
            continue;
        const uint32_t sector = cache->line / 2 << below(rng, 4);
        const bool part = sector < cache->line;
        if (sector <= machine->page_size &&
            !(part && (feeds || (i > 0 && cache[-1].line > sector))))
            cache->sector = sector;
    }
}

static void draw_machine(struct fm_rng *rng, struct fm_description *machine)
{
    *machine = (struct fm_description){.clock_mhz = 1000,
                                       .page_size = (uint64_t)256 << below(rng, 4),
                                       .page_mapping = (enum fm_mapping)below(rng, 2),
                                       .walk_latency = 30,
                                       .memory_latency = 200,
                                       .prefetch = below(rng, 2) ? (unsigned)below(rng, 16) : 0};
    const unsigned levels = 1 + (unsigned)below(rng, 4);
    uint32_t line = 16;
    for (unsigned level = 1; level <= levels; level++) {
        if (below(rng, 3) == 0 && line < 128)
            line *= 2;
        draw_cache(rng, &machine->caches[machine->cache_count++], level, line);
    }
    if (below(rng, 2)) {
        machine->caches[0].banks = 1u << below(rng, 4);
        machine->caches[0].bank_width = 8u << below(rng, 4);
    }
    machine->caches[0].fp_bypass =
        below(rng, 3) == 0 && machine->caches[1].inclusion != FM_INCLUSION_EXCLUSIVE;
    draw_sectors(rng, machine);
    /* An instruction cache that must not matter. */
    draw_cache(rng, &machine->caches[machine->cache_count], 1, 16);
    machine->caches[machine->cache_count++].holds = FM_HOLDS_INSTRUCTIONS;
    const unsigned tlbs = (unsigned)below(rng, FM_TLB_LEVELS + 1);
    for (unsigned level = 1; level <= tlbs; level++)
        draw_tlb(rng, &machine->tlbs[machine->tlb_count++], level, machine->page_size);
}

static uint64_t some_arena(struct fm_rng *rng, const struct fm_description *machine)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].capacity > largest)
            largest = machine->caches[i].capacity;
    return 64 + below(rng, 3 * largest);
}

/* Runs that stay near each other and jumps, so that strides, regions and conflicts all occur. */
static void draw_words(struct fm_rng *rng, uint32_t *word, uint64_t words)
{
    uint64_t at = below(rng, words);
    uint64_t step = below(rng, 40);
    for (unsigned i = 0; i < ROUND_SIZE; i++) {
        if (below(rng, 6) == 0) {
            at = below(rng, words);
            step = below(rng, 40);
        }
        at = (at + step) % words;
        word[i] = (uint32_t)at;
    }
}

static void assert_same_counts(const struct fm_counts *a, const struct fm_counts *b, uint64_t seed)
{
    if (memcmp(a, b, sizeof *a) == 0)
        return;
    for (int i = 0; i < FM_CACHE_LEVELS; i++)
        print_message("# level %d: %llu and %llu misses\n", i + 1,
                      (unsigned long long)a->cache_miss[i], (unsigned long long)b->cache_miss[i]);
    for (int i = 0; i < FM_TLB_LEVELS; i++)
        print_message("# TLB %d: %llu and %llu misses\n", i + 1, (unsigned long long)a->tlb_miss[i],
                      (unsigned long long)b->tlb_miss[i]);
    print_message("# prefetches %llu %llu, writebacks %llu %llu\n",
                  (unsigned long long)a->prefetches, (unsigned long long)b->prefetches,
                  (unsigned long long)a->writebacks, (unsigned long long)b->writebacks);
    fail_msg("machine %llu: the simulator and the model disagree", (unsigned long long)seed);
}

static double naive_cycles(const struct naive *naive)
{
    const struct fm_counts *counts = &naive->counts;
    uint64_t came = counts->references;
    double cycles = naive->cycles;
    for (unsigned i = 0; i < naive->tlb_count; i++) {
        const uint64_t missed = counts->tlb_miss[naive->tlbs[i].is->level - 1];
        cycles += (double)(came - missed) * naive->tlbs[i].is->latency;
        came = missed;
    }
    return cycles + (naive->tlb_count ? (double)came * naive->is->walk_latency : 0);
}

static void place_both(struct fm_rng *rng, struct fm_walker *walker, struct naive *naive)
{
    const uint64_t bytes = some_arena(rng, naive->is);
    const uint64_t base = naive->is->page_size;
    const bool large = below(rng, 3) == 0 && fm_tlbs_hold(&walker->tlbs, 4 * base);
    struct fm_error err;
    assert_true(fm_walker_place(walker, bytes, large ? 4 * base : base, &err));
    naive_place(naive, walker->placement.frames, large ? 4 * base : base);
}

/* Every third machine only reads, so that nothing is dirty and whole batches pass at once. */
static enum fm_op some_op(struct fm_rng *rng, uint64_t seed)
{
    const uint64_t kind = below(rng, 10);
    if (kind == 5)
        return FM_OP_LOAD_PAIR;
    if (kind < 6 || (seed % 3 == 0 && kind < 9))
        return kind % 3 ? FM_OP_LOAD : FM_OP_LOAD_REAL;
    return kind < 9 ? FM_OP_STORE : FM_OP_FLUSH;
}

/* What two loads waited for their lines one after the other, made what they wait at once. */
static void naive_join(struct naive *naive, const uint32_t *words, double one, double other)
{
    const struct fm_cache_description *cache = naive->caches[0].is;
    const uint64_t at[2] = {(uint64_t)words[0] * FM_WORD, (uint64_t)words[1] * FM_WORD};
    naive->cycles -= one < other ? one : other;
    if (cache->banks && at[0] / cache->line != at[1] / cache->line &&
        at[0] / cache->bank_width % cache->banks == at[1] / cache->bank_width % cache->banks)
        naive->cycles += 1;
}

static void run_both(struct fm_rng *rng, struct fm_walker *walker, struct naive *naive,
                     uint64_t seed)
{
    uint32_t word[ROUND_SIZE];
    draw_words(rng, word, walker->placement.bytes / FM_WORD);
    const struct fm_string string = {
        .bytes = walker->placement.bytes,
        .orders = {{.word = word, .count = ROUND_SIZE}},
        .order_count = 1,
        .phases = {{.op = some_op(rng, seed),
                    /* Laps that would only repeat each other are part of it, now and then. */
                    .references = 2 + 2 * below(rng, below(rng, 4) ? ROUND_SIZE : 6 * ROUND_SIZE),
                    .metered = true}},
        .phase_count = 1,
    };
    const struct fm_phase *phase = &string.phases[0];
    struct fm_counts counts;
    fm_walker_begin(walker);
    fm_walk(walker, &string, phase, 0, 0);
    fm_walker_count(walker, phase->references, &counts);
    naive->counts = (struct fm_counts){0};
    naive->cycles = 0;
    naive->run_to = UINT64_MAX;
    for (uint64_t i = 0; i < phase->references; i++) {
        const double first = naive->waited;
        naive_refer(naive, (uint64_t)word[i % ROUND_SIZE] * FM_WORD, phase->op);
        if (phase->op == FM_OP_LOAD_PAIR && i % 2)
            naive_join(naive, word + (i - 1) % ROUND_SIZE, first, naive->waited);
    }
    assert_same_counts(&counts, &naive->counts, seed);
    assert_true(fm_walker_cycles(walker, phase->references) == naive_cycles(naive));
}

static void test_random_machines(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < MACHINES; seed++) {
        struct fm_rng rng;
        struct fm_description machine;
        struct fm_walker walker;
        struct naive naive;
        struct fm_error err;
        fm_rng_seed(&rng, seed);
        draw_machine(&rng, &machine);
        if (!fm_walker_open(&walker, &machine, seed, &err))
            fail_msg("%s", err.text);
        naive_open(&naive, &machine);
        for (unsigned i = 0; i < naive.cache_count; i++)
            naive.caches[i].rng = walker.hierarchy.caches[i].tags.rng;
        for (unsigned round = 0; round < ROUNDS; round++) {
            if (round % 15 == 0)
                place_both(&rng, &walker, &naive);
            run_both(&rng, &walker, &naive, seed);
        }
        naive_close(&naive);
        fm_walker_close(&walker);
    }
}

/* A frame may come back at another virtual address, and so in another set, while its old line is
   still there. */
static void test_a_tag_may_be_in_two_sets(void **state)
{
    (void)state;
    static const uint32_t ways[] = {4, 20, 40};
    for (int i = 0; i < 3; i++) {
        struct fm_tags tags;
        struct fm_error err;
        uint32_t old;
        assert_true(fm_tags_open(&tags, 2 * ways[i], ways[i], FM_REPLACE_LRU, 0, &err));
        const size_t first = fm_tags_replace(&tags, 0, 99, &old);
        assert_true(fm_tags_find(&tags, 1, 99) == FM_NO_SLOT);
        const size_t second = fm_tags_replace(&tags, 1, 99, &old);
        assert_true(fm_tags_find(&tags, 0, 99) == first);
        assert_true(fm_tags_find(&tags, 1, 99) == second);
        fm_tags_drop(&tags, first);
        assert_true(fm_tags_find(&tags, 0, 99) == FM_NO_SLOT);
        assert_true(fm_tags_find(&tags, 1, 99) == second);
        fm_tags_close(&tags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_machines),
        cmocka_unit_test(test_a_tag_may_be_in_two_sets),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
