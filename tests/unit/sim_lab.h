/* Small machines and short strings for the tests of the simulator. */
#ifndef FM_TESTS_SIM_LAB_H
#define FM_TESTS_SIM_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/simulated/simulated.h"

#define PAGE 4096u

static inline struct fm_cache_description lab_cache(unsigned level, uint64_t capacity,
                                                    uint32_t line, uint32_t ways)
{
    return (struct fm_cache_description){.level = level,
                                         .holds = level > 1 ? FM_HOLDS_BOTH : FM_HOLDS_DATA,
                                         .capacity = capacity,
                                         .line = line,
                                         .ways = ways,
                                         .latency = level == 1 ? 4 : 10 * level,
                                         .write_allocate = true};
}

/* One cycle is one nanosecond. Caches and TLBs are added by the test. */
static struct fm_description lab_machine(void)
{
    return (struct fm_description){.name = "lab",
                                   .clock_mhz = 1000,
                                   .add_latency = 1,
                                   .page_size = PAGE,
                                   .walk_latency = 50,
                                   .memory_latency = 200};
}

static inline struct fm_tlb_description lab_tlb(unsigned level, uint32_t entries, uint32_t ways,
                                                uint64_t page_size)
{
    return (struct fm_tlb_description){.level = level,
                                       .entries = entries,
                                       .ways = ways,
                                       .latency = level == 1 ? 0 : 7,
                                       .page_sizes = {page_size},
                                       .page_size_count = 1};
}

static inline struct fm_machine *lab_open(const struct fm_description *description, size_t bytes)
{
    struct fm_error err = {0};
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    if (!machine)
        fail_msg("%s", err.text);
    fm_simulated_count(machine, true);
    if (!machine->ops->place(machine, bytes, 0, &err))
        fail_msg("%s", err.text);
    return machine;
}

static inline void lab_close(struct fm_machine *machine)
{
    machine->ops->close(machine);
}

/* One metered phase over the whole order. */
static struct fm_sample lab_run(struct fm_machine *machine, enum fm_op op, uint32_t *words,
                                size_t count, uint64_t references)
{
    struct fm_error err = {0};
    struct fm_sample sample;
    uint32_t highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = words[i] > highest ? words[i] : highest;
    const struct fm_string string = {
        .label = "lab",
        .bytes = ((size_t)highest + 1) * FM_WORD,
        .orders = {{.word = words, .count = count}},
        .order_count = 1,
        .phases = {{.op = op, .references = references, .metered = true}},
        .phase_count = 1,
    };
    if (!machine->ops->run(machine, &string, 1, &sample, &err))
        fail_msg("%s", err.text);
    return sample;
}

/* Uses the lines of a trace, one a letter, `line` bytes each; small letters are loads, capitals
   stores. */
static inline struct fm_counts lab_trace(struct fm_machine *machine, const char *trace,
                                         uint32_t line)
{
    struct fm_counts sum = {0};
    for (const char *c = trace; *c; c++) {
        if (*c == ' ')
            continue;
        const bool store = *c >= 'A' && *c <= 'Z';
        uint32_t word = (uint32_t)(store ? *c - 'A' : *c - 'a') * (line / FM_WORD);
        const struct fm_sample sample =
            lab_run(machine, store ? FM_OP_STORE : FM_OP_LOAD, &word, 1, 1);
        for (int i = 0; i < FM_CACHE_LEVELS; i++)
            sum.cache_miss[i] += sample.counts.cache_miss[i];
        sum.prefetches += sample.counts.prefetches;
        sum.writebacks += sample.counts.writebacks;
    }
    return sum;
}

/* How deep one load had to go: 1 is level 1, and so on. */
static inline unsigned lab_depth(struct fm_machine *machine, uint64_t byte)
{
    uint32_t word = (uint32_t)(byte / FM_WORD);
    const struct fm_counts counts = lab_run(machine, FM_OP_LOAD, &word, 1, 1).counts;
    unsigned depth = 1;
    while (depth <= FM_CACHE_LEVELS && counts.cache_miss[depth - 1])
        depth++;
    return depth;
}

#endif
