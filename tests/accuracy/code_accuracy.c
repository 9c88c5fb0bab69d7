/* How often the probes of the side of code are right, wrong or undecided on random simulated
 * machines, a third of which have a branch target buffer, an op cache or a TLB whose edge lies
 * within 10% of the instruction cache's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/replacement.h"
#include "core/rng.h"
#include "count.h"
#include "random_machine.h"
#include "truth.h"

enum property {
    CAPACITY,
    LINE,
    WAYS,
    MOVED_CAPACITY,
    MOVED_LINE,
    MOVED_WAYS,
    ENTRIES,
    TLB_WAYS,
    UNIFIED,
    TARGETS,
    OUTER_CAPACITY,
    SPLIT_CAPACITY,
    FETCH,
    PROPERTIES
};

static const char *const names[PROPERTIES] = {
    [CAPACITY] = "l1i.capacity",
    [LINE] = "l1i.line",
    [WAYS] = "l1i.ways",
    [MOVED_CAPACITY] = "  moved by pages (10%)",
    [MOVED_LINE] = "  its line",
    [MOVED_WAYS] = "  its ways",
    [ENTRIES] = "itlb1.entries",
    [TLB_WAYS] = "itlb1.ways",
    [UNIFIED] = "outer unified",
    [TARGETS] = "btb.entries (5%)",
    [OUTER_CAPACITY] = "outer code_capacity (10%)",
    [SPLIT_CAPACITY] = "l2i.capacity (10%)",
    [FETCH] = "fetch_latency_cycles",
};

/* Whose edge is near that of the cache. */
enum near { NEAR_NONE, NEAR_BTB, NEAR_OPS, NEAR_TLB };

/* No TLB is smaller; of these, one entry more or less is within the tenth part. */
#define FEWEST_PAGES 8

static uint32_t near_to(struct fm_rng *rng, double number)
{
    return (uint32_t)(number * (0.9 + 0.2 * fm_rng_unit(rng)));
}

/* The cache that serves code at a level, counted from 1; NULL: there is none. */
static const struct fm_cache_description *code_level(const struct fm_description *machine,
                                                     unsigned level)
{
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].holds != FM_HOLDS_DATA && machine->caches[i].level == level)
            return &machine->caches[i];
    return NULL;
}

static const struct fm_cache_description *code_cache(const struct fm_description *machine)
{
    return code_level(machine, 1);
}

/* Whether the pages decide which lines share a set. */
static bool is_moved(const struct fm_description *machine, const struct fm_cache_description *cache)
{
    const uint64_t way = cache->capacity / cache->ways;
    return machine->page_mapping == FM_MAPPING_RANDOM && way > cache->line &&
           (cache->index == FM_INDEX_HASHED ||
            (cache->index == FM_INDEX_PHYSICAL && machine->page_size % way));
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
        tlb.entries = near_to(rng, pages);
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
    const double pages = (double)cache->capacity / (double)machine->page_size;
    enum near near = fm_rng_below(&rng, 3) ? NEAR_NONE : 1 + (enum near)fm_rng_below(&rng, 3);
    /* Where that cannot be had, another is near. */
    if ((near == NEAR_OPS && cache->latency <= 1) || (near == NEAR_TLB && pages < FEWEST_PAGES))
        near = NEAR_BTB;
    add_tlb(&rng, machine, near, pages);
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

/* What the first cache of code may also be, and a second one; drawn apart, so that machines are
   otherwise as they were. */
static void vary_caches(uint64_t seed, unsigned index, struct fm_description *machine)
{
    static const enum fm_index indices[] = {FM_INDEX_VIRTUAL, FM_INDEX_VIRTUAL, FM_INDEX_PHYSICAL,
                                            FM_INDEX_HASHED};
    static const enum fm_replacement policies[] = {FM_REPLACE_FIFO, FM_REPLACE_RANDOM,
                                                   FM_REPLACE_BIT_PLRU, FM_REPLACE_TREE_PLRU};
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_mix64(fm_mix64(~seed) ^ index));
    struct fm_cache_description *first = &machine->caches[machine->cache_count - 1];
    first->index = indices[fm_rng_below(&rng, 4)];
    const enum fm_replacement policy = policies[fm_rng_below(&rng, 4)];
    const bool power_of_two = (first->ways & (first->ways - 1)) == 0;
    if (fm_rng_below(&rng, 3) == 0 && (policy != FM_REPLACE_TREE_PLRU || power_of_two))
        first->replacement = policy;
    struct fm_cache_description *outer = &machine->caches[1];
    if (machine->cache_count < 3 || fm_rng_below(&rng, 6))
        return;
    struct fm_cache_description second = *outer;
    outer->holds = FM_HOLDS_DATA;
    outer->inclusion = FM_INCLUSION_NONE;
    second.holds = FM_HOLDS_INSTRUCTIONS;
    second.inclusion = FM_INCLUSION_NONE;
    second.capacity <<= fm_rng_below(&rng, 2);
    snprintf(outer->name, sizeof outer->name, "l2d");
    snprintf(second.name, sizeof second.name, "l2i");
    machine->caches[machine->cache_count++] = second;
}

/* How much of a cache code gets, as the contract has it. */
static double true_capacity(const struct fm_description *machine, unsigned level)
{
    struct fm_error err;
    double bytes;
    return fm_true_code_capacity(machine, level, &bytes, &err) ? bytes : NAN;
}

static void judge_outer(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                        const struct fm_description *machine, const struct fm_result *result)
{
    const double first = code_cache(machine)->latency;
    const struct fm_cache_description *cache;
    char property[FM_PROPERTY_TEXT];
    for (unsigned level = 2; (cache = code_level(machine, level)); level++) {
        const bool split = cache->holds == FM_HOLDS_INSTRUCTIONS;
        const double truth = true_capacity(machine, level - 1), cycles = cache->latency - first;
        snprintf(property, sizeof property, split ? "l%ui.capacity" : "l%u.code_capacity", level);
        fm_judge(&figures->of[split ? SPLIT_CAPACITY : OUTER_CAPACITY], plan, index, result,
                 property, truth, 0.1 * truth);
        snprintf(property, sizeof property, "l%u%s.fetch_latency_cycles", level, split ? "i" : "");
        fm_judge(&figures->of[FETCH], plan, index, result, property, cycles,
                 fmax(1, 0.05 * cycles));
    }
    const double cycles = machine->memory_latency - first;
    fm_judge(&figures->of[FETCH], plan, index, result, "memory.fetch_latency_cycles", cycles,
             fmax(1, 0.05 * cycles));
}

static void judge_first(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                        const struct fm_description *machine, const struct fm_result *result)
{
    const struct fm_cache_description *cache = code_cache(machine);
    const bool full = cache->ways == cache->capacity / cache->line,
               moved = is_moved(machine, cache);
    const double truth = moved ? true_capacity(machine, 0) : (double)cache->capacity;
    fm_judge(&figures->of[moved ? MOVED_CAPACITY : CAPACITY], plan, index, result, "l1i.capacity",
             truth, moved ? 0.1 * truth : 0);
    fm_judge(&figures->of[moved ? MOVED_LINE : LINE], plan, index, result, "l1i.line", cache->line,
             0);
    fm_judge(&figures->of[moved ? MOVED_WAYS : WAYS], plan, index, result, "l1i.ways",
             full ? 0 : cache->ways, 0);
}

/* Of what was not asked for nothing is counted. */
static bool is_asked(const struct fm_plan *plan, const char *probe)
{
    return strstr(plan->only, probe);
}

static void judge_all(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                      const struct fm_description *machine, const struct fm_result *result)
{
    const struct fm_tlb_description *tlb = code_tlb(machine);
    judge_first(figures, plan, index, machine, result);
    if (is_asked(plan, "code-levels"))
        judge_outer(figures, plan, index, machine, result);
    if (is_asked(plan, "itlb")) {
        fm_judge(&figures->of[ENTRIES], plan, index, result, "itlb1.entries", tlb->entries, 0);
        fm_judge(&figures->of[TLB_WAYS], plan, index, result, "itlb1.ways",
                 tlb->ways == tlb->entries ? 0 : tlb->ways, 0);
    }
    if (machine->tlb_count > 2 && is_asked(plan, "itlb"))
        fm_judge(&figures->of[UNIFIED], plan, index, result, "dtlb2.unified", 1, 0);
    if (machine->btb_count && is_asked(plan, "btb"))
        fm_judge(&figures->of[TARGETS], plan, index, result, "btb.entries",
                 machine->btbs[0].entries, 0.05 * machine->btbs[0].entries);
}

static void print_machine(unsigned index, const struct fm_description *machine)
{
    const struct fm_cache_description *cache = code_cache(machine);
    const struct fm_tlb_description *tlb = code_tlb(machine);
    static const char *const indices[] = {"virtual", "physical", "hashed"};
    char policy[FM_REPLACEMENT_TEXT];
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *c = &machine->caches[i];
        fprintf(stderr, "  %s %llu line %u ways %u latency %g %s %s\n", c->name,
                (unsigned long long)c->capacity, c->line, c->ways, c->latency,
                fm_replacement_word(c->replacement, policy), indices[c->index]);
    }
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
    vary_caches(plan->seed, index, machine);
}

/* The bounds that hold today, with room for the luck of a small sample; one machine is no sample,
   but has been chosen. Where pages move the first cache's misses, and of outer levels, much is left
   open; that hardly anything is wrong holds. */
static bool within_bounds(const struct fm_plan *plan, const struct fm_figures *figures)
{
    bool good = true;
    for (int p = 0; p < PROPERTIES; p++) {
        const struct fm_tally *t = &figures->of[p];
        const double all = fm_tally_cases(t), luck = plan->machines > 1 ? 1.0 / all : 0;
        const bool at_goal = p <= WAYS || p == ENTRIES || p == TLB_WAYS || p == TARGETS;
        if (t->right + t->wrong + t->undetermined == 0)
            continue;
        good &= t->wrong / all <= (at_goal ? 0.01 : 0.1) + luck;
        good &= !at_goal || t->right / all >= 0.95 - luck;
    }
    return good;
}

int main(int argc, char **argv)
{
    const struct fm_counting counting = {
        .name = "code-accuracy",
        .plan = {.machines = 300, .seed = 1, .only = "icache,itlb,btb,code-levels"},
        .rows = names,
        .row_count = PROPERTIES,
        .intervals = true,
        .noise_alone = true,
        .draw = draw,
        .show = print_machine,
        .judge = judge_all,
        .within_bounds = within_bounds,
    };
    return fm_count(&counting, argc, argv);
}
