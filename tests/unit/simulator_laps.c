/* Laps that are counted without being simulated, beside the same laps of a machine that is made to
   simulate each: on random machines, for loads and jumps, and whatever comes between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "machine/simulated/walk.h"
#include "random_machine.h"

#define MACHINES 150
#define ROUNDS   12
#define MOST     700u

static uint64_t below(struct fm_rng *rng, uint64_t bound)
{
    return fm_rng_below(rng, bound);
}

/* What the random machines of the accuracy figures lack: a way for code. */
static void add_code(struct fm_rng *rng, struct fm_description *machine)
{
    const uint32_t ways = 1u << below(rng, 4);
    machine->caches[machine->cache_count++] = (struct fm_cache_description){
        .level = 1,
        .holds = FM_HOLDS_INSTRUCTIONS,
        .line = 16,
        .ways = ways,
        .capacity = (uint64_t)16 * ways << below(rng, 6),
        .latency = 1,
        .replacement = below(rng, 2) ? FM_REPLACE_LRU : FM_REPLACE_TREE_PLRU,
    };
    for (unsigned i = 0; i < below(rng, 3); i++)
        machine->btbs[machine->btb_count++] = (struct fm_btb_description){
            .entries = 16u << (2 * i), .ways = 4, .block = 8, .miss_cost = 3};
    if (below(rng, 2))
        machine->op_cache = (struct fm_op_cache_description){
            .entries = 32, .ways = 4, .window = 32, .ops = 4, .latency = 1};
}

/* Machines small enough for laps to overrun all of them. */
static void shrink(struct fm_description *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        struct fm_cache_description *cache = &machine->caches[i];
        const uint64_t row = (uint64_t)cache->ways * cache->line;
        while (cache->capacity > (uint64_t)4096 << 2 * i && cache->capacity / 2 % row == 0)
            cache->capacity /= 2;
    }
}

/* Distinct words, spread over the arena, or lying close. */
static size_t draw_words(struct fm_rng *rng, uint32_t *words, uint64_t in_arena)
{
    const uint64_t step = 1 + below(rng, in_arena / MOST);
    const size_t count = 2 + 2 * (size_t)below(rng, MOST / 2);
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)((i * step + below(rng, step)) % in_arena);
    fm_rng_shuffle(rng, words, count);
    return count;
}

struct pair {
    struct fm_walker quick, plain;
};

/* A phase of both. */
static void run_both(struct pair *pair, const struct fm_string *string, uint64_t laps)
{
    struct fm_phase phase = string->phases[0];
    struct fm_counts quick, plain;
    phase.references = laps * string->orders[0].count;
    fm_walk(&pair->quick, string, &phase, 0, phase.references);
    fm_walk(&pair->plain, string, &phase, 0, phase.references);
    fm_walker_count(&pair->quick, phase.references, &quick);
    fm_walker_count(&pair->plain, phase.references, &plain);
    plain.writebacks = quick.writebacks; /* there is nothing to write back */
    assert_memory_equal(&quick, &plain, sizeof quick);
}

static void run_string(struct fm_rng *rng, struct pair *pair)
{
    static const enum fm_op ops[] = {FM_OP_LOAD, FM_OP_LOAD, FM_OP_LOAD_REAL, FM_OP_JUMP,
                                     FM_OP_FLUSH};
    uint32_t words[MOST + 2];
    struct fm_string string = {.bytes = pair->quick.placement.bytes, .order_count = 1};
    string.orders[0].word = words;
    string.orders[0].count = draw_words(rng, words, string.bytes / FM_WORD);
    string.phases[0].op = ops[below(rng, 5)];
    fm_walker_begin(&pair->quick);
    fm_walker_begin(&pair->plain);
    for (unsigned phases = 1 + (unsigned)below(rng, 3); phases > 0; phases--) {
        run_both(pair, &string, 1 + below(rng, 14));
        if (below(rng, 3) == 0) {
            fm_walker_read_clock(&pair->quick);
            fm_walker_read_clock(&pair->plain);
        }
    }
}

static void open_both(struct pair *pair, const struct fm_description *machine, uint64_t seed)
{
    struct fm_error err;
    if (!fm_walker_open(&pair->quick, machine, seed, &err) ||
        !fm_walker_open(&pair->plain, machine, seed, &err))
        fail_msg("machine %llu: %s", (unsigned long long)seed, err.text);
    /* What is about to disturb it, if in a thousand years, has to make every lap. */
    pair->plain.clock.until_pollution = UINT64_MAX - 1;
}

static void test_random_machines(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < MACHINES; seed++) {
        struct fm_rng rng;
        struct fm_description machine;
        struct pair pair;
        struct fm_error err;
        fm_rng_seed(&rng, seed);
        fm_random_machine(1, seed, seed % 2, &machine);
        shrink(&machine);
        add_code(&rng, &machine);
        if (seed % 3 == 0)
            machine.caches[machine.cache_count - 2].inclusion = (enum fm_inclusion)below(&rng, 3);
        if (seed % 5 == 0)
            machine.prefetch = FM_PREFETCH_ADJACENT_LINE;
        if (seed % 7 == 0)
            machine.noise.timer_pages = 3;
        open_both(&pair, &machine, seed);
        for (unsigned round = 0; round < ROUNDS; round++) {
            if (round % 4 == 0) {
                const uint64_t bytes = machine.page_size * (8 + below(&rng, 56));
                assert_true(fm_walker_place(&pair.quick, bytes, machine.page_size, &err));
                assert_true(fm_walker_place(&pair.plain, bytes, machine.page_size, &err));
            }
            run_string(&rng, &pair);
        }
        fm_walker_close(&pair.quick);
        fm_walker_close(&pair.plain);
    }
}

/* A lap that is like the one before is not made: as many laps as nobody could wait for. */
static void test_what_repeats_takes_no_time(void **state)
{
    (void)state;
    struct fm_description machine;
    struct fm_walker walker;
    struct fm_error err;
    struct fm_counts counts;
    uint32_t words[256];
    fm_random_machine(1, 4, false, &machine);
    machine.caches[0].replacement = FM_REPLACE_LRU;
    for (uint32_t i = 0; i < 256; i++)
        words[i] = 32 * i;
    const struct fm_string string = {.bytes = 65536, .orders = {{words, 256, 0}}};
    const struct fm_phase phase = {.references = (uint64_t)256 << 40};
    assert_true(fm_walker_open(&walker, &machine, 1, &err));
    assert_true(fm_walker_place(&walker, 65536, machine.page_size, &err));
    fm_walker_begin(&walker);
    assert_int_equal(fm_walk(&walker, &string, &phase, 0, 0), 0);
    fm_walker_count(&walker, phase.references, &counts);
    assert_true(counts.references == phase.references);
    fm_walker_close(&walker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_machines),
        cmocka_unit_test(test_what_repeats_takes_no_time),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
