/* How often the probes of the side of code are right, wrong or undecided on random simulated
 * machines, a third of which have a branch target buffer, an op cache or a TLB whose edge lies
 * within 10% of the instruction cache's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rng.h"
#include "core/units.h"
#include "machine/simulated/simulated.h"
#include "random_machine.h"
#include "survey/survey.h"

enum property { CAPACITY, LINE, WAYS, ENTRIES, TLB_WAYS, UNIFIED, TARGETS, PROPERTIES };

static const char *const names[PROPERTIES] = {"l1i.capacity",    "l1i.line",   "l1i.ways",
                                              "itlb1.entries",   "itlb1.ways", "outer unified",
                                              "btb.entries (5%)"};

struct tally {
    unsigned right, wrong, undetermined;
};

struct figures {
    struct tally of[PROPERTIES];
    unsigned machines, failed;
};

struct plan {
    unsigned machines, first, jobs;
    uint64_t seed;
    const char *only; /* probes */
    bool show;
};

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

static void judge(struct figures *figures, const struct plan *plan, unsigned index,
                  enum property property, const struct fm_result *result, const char *name,
                  double truth, double slack)
{
    struct tally *tally = &figures->of[property];
    const struct fm_finding *finding = fm_result_find(result, name);
    if (!finding || finding->status != FM_MEASURED) {
        tally->undetermined++;
        if (plan->show)
            fprintf(stderr, "machine %u: %s undetermined, truth %g: %s\n", index, name, truth,
                    finding ? finding->note : "not found");
        return;
    }
    double value = finding->value.number;
    if (finding->value.kind == FM_VALUE_TEXT)
        value = 0;
    else if (finding->value.kind == FM_VALUE_BOOL)
        value = finding->value.truth;
    const bool right = fabs(value - truth) <= slack;
    if (right)
        tally->right++;
    else
        tally->wrong++;
    if (!right && plan->show)
        fprintf(stderr, "machine %u: %s is %g, truth %g\n", index, name, value, truth);
}

static void judge_all(struct figures *figures, const struct plan *plan, unsigned index,
                      const struct fm_description *machine, const struct fm_result *result)
{
    const struct fm_cache_description *cache = code_cache(machine);
    const struct fm_tlb_description *tlb = code_tlb(machine);
    const bool full = cache->ways == cache->capacity / cache->line;
    judge(figures, plan, index, CAPACITY, result, "l1i.capacity", (double)cache->capacity, 0);
    judge(figures, plan, index, LINE, result, "l1i.line", cache->line, 0);
    judge(figures, plan, index, WAYS, result, "l1i.ways", full ? 0 : cache->ways, 0);
    judge(figures, plan, index, ENTRIES, result, "itlb1.entries", tlb->entries, 0);
    judge(figures, plan, index, TLB_WAYS, result, "itlb1.ways",
          tlb->ways == tlb->entries ? 0 : tlb->ways, 0);
    if (machine->tlb_count > 2)
        judge(figures, plan, index, UNIFIED, result, "dtlb2.unified", 1, 0);
    if (machine->btb_count)
        judge(figures, plan, index, TARGETS, result, "btb.entries", machine->btbs[0].entries,
              0.05 * machine->btbs[0].entries);
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

static void survey_one(struct figures *figures, const struct plan *plan, unsigned index)
{
    struct fm_description machine;
    struct fm_error err;
    struct fm_result result;
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = plan->seed + index, .only = plan->only};
    fm_random_machine(plan->seed, index, true, &machine);
    add_code_side(plan->seed, index, &machine);
    if (plan->show)
        print_machine(index, &machine);
    fm_result_init(&result);
    struct fm_machine *simulated = fm_simulated_open(&machine, plan->seed + index, &err);
    figures->machines++;
    if (simulated && fm_survey(simulated, NULL, &options, &result, &err)) {
        judge_all(figures, plan, index, &machine, &result);
    } else {
        figures->failed++;
        fprintf(stderr, "machine %u: %s\n", index, err.text);
    }
    if (simulated)
        simulated->ops->close(simulated);
    fm_result_free(&result);
}

/* Each job takes every jobs-th machine in a process of its own and sends its figures back. */
static bool survey_all(const struct plan *plan, struct figures *sum)
{
    int ends[16][2];
    for (unsigned job = 0; job < plan->jobs; job++) {
        if (pipe(ends[job]) != 0)
            return false;
        fflush(stdout);
        if (fork() == 0) {
            struct figures figures = {0};
            for (unsigned i = job; i < plan->machines; i += plan->jobs)
                survey_one(&figures, plan, plan->first + i);
            _exit(write(ends[job][1], &figures, sizeof figures) == (ssize_t)sizeof figures ? 0 : 1);
        }
        close(ends[job][1]);
    }
    bool good = true;
    for (unsigned job = 0; job < plan->jobs; job++) {
        struct figures more;
        good &= read(ends[job][0], &more, sizeof more) == (ssize_t)sizeof more;
        for (int p = 0; p < PROPERTIES && good; p++) {
            sum->of[p].right += more.of[p].right;
            sum->of[p].wrong += more.of[p].wrong;
            sum->of[p].undetermined += more.of[p].undetermined;
        }
        sum->machines += good ? more.machines : 0;
        sum->failed += good ? more.failed : 0;
        close(ends[job][0]);
        wait(NULL);
    }
    return good;
}

int main(int argc, char **argv)
{
    struct plan plan = {.only = "icache,itlb,btb",
                        .machines = 300,
                        .seed = 1,
                        .jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        uint64_t value;
        const bool number = i + 1 < argc && fm_parse_count(argv[i + 1], &value);
        if (strcmp(argv[i], "--show") == 0)
            plan.show = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            plan.only = argv[++i];
        else if (strcmp(argv[i], "--machines") == 0 && number && ++i)
            plan.machines = (unsigned)value;
        else if (strcmp(argv[i], "--first") == 0 && number && ++i)
            plan.first = (unsigned)value;
        else if (strcmp(argv[i], "--seed") == 0 && number && ++i)
            plan.seed = value;
        else {
            fprintf(stderr,
                    "code-accuracy: what is '%s'? [--machines N] [--first N] [--seed N] [--only "
                    "PROBES] [--show]\n",
                    argv[i]);
            return 2;
        }
    }
    plan.jobs = plan.jobs > 16 ? 16 : plan.jobs;
    struct figures figures = {0};
    if (!survey_all(&plan, &figures)) {
        fprintf(stderr, "code-accuracy: a job failed\n");
        return 1;
    }
    printf("code on %u random machines, seed %llu, noise and scattered pages\n", figures.machines,
           (unsigned long long)plan.seed);
    printf("%-18s %6s %9s %7s %13s\n", "property", "cases", "right", "wrong", "undetermined");
    for (int p = 0; p < PROPERTIES; p++) {
        const struct tally *t = &figures.of[p];
        const double all = fmax(1, t->right + t->wrong + t->undetermined);
        printf("%-18s %6.0f %8.1f%% %6.1f%% %12.1f%%\n", names[p], all, 100 * t->right / all,
               100 * t->wrong / all, 100 * t->undetermined / all);
    }
    return figures.failed ? 1 : 0;
}
