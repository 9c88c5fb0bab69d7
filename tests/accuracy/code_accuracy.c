/* How often the probes of the side of code are right, wrong or undecided on random simulated
 * machines, a third of which have a branch target buffer, an op cache or a TLB whose edge lies
 * within 10% of the instruction cache's. */
#include <math.h>
#include <stdio.h>

#include "core/rng.h"
#include "count.h"
#include "random_machine.h"

enum property { CAPACITY, LINE, WAYS, ENTRIES, TLB_WAYS, UNIFIED, TARGETS, PROPERTIES };

static const char *const names[PROPERTIES] = {"l1i.capacity",    "l1i.line",   "l1i.ways",
                                              "itlb1.entries",   "itlb1.ways", "outer unified",
                                              "btb.entries (5%)"};

/* Whose edge is near that of the cache. */
enum near { NEAR_NONE, NEAR_BTB, NEAR_OPS, NEAR_TLB };

static uint32_t near_to(struct fm_rng *rng, double number)
{
    return (uint32_t)(number * (0.9 + 0.2 * fm_rng_unit(rng)));
}

static const struct fm_cache_description *code_cache(const struct fm_description *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].holds == FM_HOLDS_INSTRUCTIONS)
            return &machine->caches[i];
    return NULL;
}

static const struct fm_tlb_description *code_tlb(const struct fm_description *machine)
{
    for (size_t i = 0; i < machine->tlb_count; i++)
        if (machine->tlbs[i].holds == FM_HOLDS_INSTRUCTIONS)
            return &machine->tlbs[i];
    return NULL;
}

static void add_cache(struct fm_rng *rng, struct fm_description *machine)
{
    static const uint32_t lines[] = {32, 64, 64, 64, 128}, ways[] = {1, 2, 2, 3, 4, 4, 5, 8, 8};
    static const uint32_t odd[] = {1, 1, 1, 3, 5};
    struct fm_cache_description cache = {.name = "l1i",
                                         .level = 1,
                                         .holds = FM_HOLDS_INSTRUCTIONS,
                                         .line = lines[fm_rng_below(rng, 5)],
                                         .ways = ways[fm_rng_below(rng, 9)],
                                         .latency = 1 + (double)fm_rng_below(rng, 4),
                                         .write_allocate = true};
    /* The line of what is behind it is no shorter. */
    while (machine->cache_count > 1 && cache.line > machine->caches[1].line)
        cache.line /= 2;
    const double about = exp2(12 + 5 * fm_rng_unit(rng)) / cache.line / cache.ways;
    const uint32_t factor = odd[fm_rng_below(rng, 5)];
    cache.capacity =
        (uint64_t)exp2(fmax(0, round(log2(about / factor)))) * factor * cache.ways * cache.line;
    const double next =
        machine->cache_count > 1 ? machine->caches[1].latency : machine->memory_latency;
    while (cache.latency + 2 > next)
        cache.latency /= 2;
    while (machine->cache_count > 1 && cache.capacity * 3 > machine->caches[1].capacity &&
           cache.capacity / 2 % (cache.line * cache.ways) == 0)
        cache.capacity /= 2;
    machine->caches[machine->cache_count++] = cache;
}

static void add_tlb(struct fm_rng *rng, struct fm_description *machine, enum near near,
                    double pages)
{
    static const uint32_t ways[] = {0, 2, 4, 4};
    struct fm_tlb_description tlb = {
        .name = "itlb1", .level = 1, .holds = FM_HOLDS_INSTRUCTIONS, .page_size_count = 1};
    tlb.page_sizes[0] = machine->page_size;
    tlb.ways = ways[fm_rng_below(rng, 4)];
    tlb.entries = tlb.ways ? tlb.ways * (8u << fm_rng_below(rng, 3)) : 16u << fm_rng_below(rng, 3);
    if (near == NEAR_TLB) {
        tlb.entries = near_to(rng, pages) < 4 ? 4 : near_to(rng, pages);
        tlb.ways = 0;
    }
    tlb.ways = tlb.ways ? tlb.ways : tlb.entries;
    machine->tlbs[machine->tlb_count++] = tlb;
}

static void add_code_side(uint64_t seed, unsigned index, struct fm_description *machine)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(~seed) + index);
    add_cache(&rng, machine);
    const struct fm_cache_description *cache = code_cache(machine);
    const double lines = (double)cache->capacity / cache->line;
    const enum near near = fm_rng_below(&rng, 3) ? NEAR_NONE : 1 + (enum near)fm_rng_below(&rng, 3);
    add_tlb(&rng, machine, near, (double)cache->capacity / (double)machine->page_size);
    if (near == NEAR_BTB || fm_rng_below(&rng, 2)) {
        /* As many jumps as lines, or two to a line. */
        const uint32_t entries = near == NEAR_BTB
                                     ? near_to(&rng, lines * (double)(1 + fm_rng_below(&rng, 2)))
                                     : 256u << fm_rng_below(&rng, 5);
        machine->btbs[machine->btb_count++] = (struct fm_btb_description){
            entries / 4 * 4 + 4, 4, 8, 4 + (double)fm_rng_below(&rng, 16)};
    }
    if ((near == NEAR_OPS || fm_rng_below(&rng, 4) == 0) && cache->latency > 1) {
        const uint32_t window = cache->line / 2;
        const uint32_t entries = near == NEAR_OPS
                                     ? near_to(&rng, lines * (double)(1 + fm_rng_below(&rng, 2)))
                                     : 64u << fm_rng_below(&rng, 4);
        machine->op_cache = (struct fm_op_cache_description){entries / 8 * 8 + 8, 8,
                                                             window < 32 ? window : 32, 6, 0.5};
    }
}

static void judge_all(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                      const struct fm_description *machine, const struct fm_result *result)
{
    const struct fm_cache_description *cache = code_cache(machine);
    const struct fm_tlb_description *tlb = code_tlb(machine);
    const bool full = cache->ways == cache->capacity / cache->line;
    fm_judge(&figures->of[CAPACITY], plan, index, result, "l1i.capacity", (double)cache->capacity,
             0);
    fm_judge(&figures->of[LINE], plan, index, result, "l1i.line", cache->line, 0);
    fm_judge(&figures->of[WAYS], plan, index, result, "l1i.ways", full ? 0 : cache->ways, 0);
    fm_judge(&figures->of[ENTRIES], plan, index, result, "itlb1.entries", tlb->entries, 0);
    fm_judge(&figures->of[TLB_WAYS], plan, index, result, "itlb1.ways",
             tlb->ways == tlb->entries ? 0 : tlb->ways, 0);
    if (machine->tlb_count > 2)
        fm_judge(&figures->of[UNIFIED], plan, index, result, "dtlb2.unified", 1, 0);
    if (machine->btb_count)
        fm_judge(&figures->of[TARGETS], plan, index, result, "btb.entries",
                 machine->btbs[0].entries, 0.05 * machine->btbs[0].entries);
}

static void print_machine(unsigned index, const struct fm_description *machine)
{
    const struct fm_cache_description *cache = code_cache(machine);
    const struct fm_tlb_description *tlb = code_tlb(machine);
    fprintf(stderr,
            "machine %u: l1i %llu line %u ways %u latency %g; page %llu, itlb %u in %u ways; btb "
            "%u, %g; ops %u of %u\n",
            index, (unsigned long long)cache->capacity, cache->line, cache->ways, cache->latency,
            (unsigned long long)machine->page_size, tlb->entries, tlb->ways,
            machine->btbs[0].entries, machine->btbs[0].miss_cost, machine->op_cache.entries,
            machine->op_cache.window);
}

static void draw(const struct fm_plan *plan, unsigned index, struct fm_description *machine)
{
    fm_random_machine(plan->seed, index, plan->noise, machine);
    add_code_side(plan->seed, index, machine);
}

int main(int argc, char **argv)
{
    const struct fm_counting counting = {
        .name = "code-accuracy",
        .plan = {.machines = 300, .seed = 1, .only = "icache,itlb,btb"},
        .rows = names,
        .row_count = PROPERTIES,
        .noise_alone = true,
        .draw = draw,
        .show = print_machine,
        .judge = judge_all,
    };
    return fm_count(&counting, argc, argv);
}
