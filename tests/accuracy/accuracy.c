/* How often the survey is right, wrong or undecided on random simulated machines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/lap.h"
#include "core/units.h"
#include "machine/simulated/simulated.h"
#include "random_machine.h"
#include "survey/survey.h"
#include "truth.h"

enum property {
    L1_CAPACITY,
    L1_LINE,
    L1_WAYS,
    L1_REPLACEMENT,
    CAPACITY,
    LINE,
    LATENCY,
    MEMORY,
    L2_WAYS,
    L2_PHYSICAL,
    L3_WAYS,
    L3_PHYSICAL,
    TLB1_ENTRIES,
    TLB2_ENTRIES,
    TLB_WAYS,
    TLB_COST,
    PROPERTIES
};

static const char *const names[PROPERTIES] = {
    [L1_CAPACITY] = "l1d.capacity",
    [L1_LINE] = "l1d.line",
    [L1_WAYS] = "l1d.ways",
    [L1_REPLACEMENT] = "l1d.replacement",
    [CAPACITY] = "outer capacity",
    [LINE] = "outer line",
    [LATENCY] = "latency_cycles",
    [MEMORY] = "memory.latency_cycles",
    [L2_WAYS] = "l2.ways",
    [L2_PHYSICAL] = "l2.physical_capacity",
    [L3_WAYS] = "l3.ways",
    [L3_PHYSICAL] = "l3.physical_capacity",
    [TLB1_ENTRIES] = "dtlb1.entries",
    [TLB2_ENTRIES] = "dtlb2.entries",
    [TLB_WAYS] = "dtlb ways",
    [TLB_COST] = "dtlb miss_cost_cycles",
};

struct tally {
    unsigned right, wrong, undetermined, inside, intervals;
};

struct figures {
    struct tally of[PROPERTIES];
    unsigned machines, failed;
    unsigned at_odds; /* machines on which the probes of caches and of TLBs do not agree */
};

struct plan {
    unsigned machines, first, jobs;
    uint64_t seed;
    const char *only; /* probes; NULL: all */
    bool noise, show, check;
};

/* How far a value may be from the truth and still be right. */
static double tolerance(enum property property, bool noise, double truth)
{
    switch (property) {
    case CAPACITY:
        return (noise ? 0.10 : 0.02) * truth;
    case L1_CAPACITY:
        return 0;
    case LATENCY:
    case MEMORY:
    case TLB_COST:
        return noise ? fmax(1, 0.05 * truth) : 1;
    default:
        return 0;
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
    const double value = finding->value.kind == FM_VALUE_TEXT ? 0 : finding->value.number;
    const bool right = fabs(value - truth) <= slack;
    if (right)
        tally->right++;
    else
        tally->wrong++;
    if (!right && plan->show)
        fprintf(stderr, "machine %u: %s is %g, truth %g, interval %g..%g\n", index, name, value,
                truth, finding->low.number, finding->high.number);
    if (finding->low.kind == FM_VALUE_NUMBER) {
        tally->intervals++;
        tally->inside += finding->low.number <= truth && truth <= finding->high.number;
    }
}

/* Whether there is a lap in which the two policies surely differ. */
static bool separable(enum fm_replacement a, enum fm_replacement b, unsigned ways, unsigned visits)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    for (int i = 0; i < 200; i++) {
        struct fm_lap lap;
        fm_lap_draw(&lap, ways, visits, &rng);
        const struct fm_lap_misses x = fm_lap_predict(&lap, a, ways, 16, 1);
        const struct fm_lap_misses y = fm_lap_predict(&lap, b, ways, 16, 2);
        if (x.low > y.high + 1 || y.low > x.high + 1)
            return true;
    }
    return false;
}

/* A list is right where it holds the truth and nothing that could have been told from it. Only
   empty ways tell r2 from r0, which laps do not have. */
static bool right_list(const struct fm_finding *finding, const struct fm_cache_description *cache)
{
    bool held = false;
    for (size_t i = 0; i < finding->candidate_count; i++) {
        enum fm_replacement policy;
        if (!fm_replacement_parse(finding->candidates[i].text, &policy))
            return false;
        if (policy == cache->replacement)
            held = true;
        else if (separable(policy, cache->replacement, cache->ways, cache->line / FM_WORD))
            return false;
    }
    /* A long list is cut; what is left out is of the family. */
    return held || (finding->candidate_count == FM_LIST && cache->replacement >= FM_REPLACE_QLRU);
}

static void judge_replacement(struct figures *figures, const struct plan *plan, unsigned index,
                              const struct fm_cache_description *cache,
                              const struct fm_result *result)
{
    struct tally *tally = &figures->of[L1_REPLACEMENT];
    const struct fm_finding *finding = fm_result_find(result, "l1d.replacement");
    char truth[FM_REPLACEMENT_TEXT];
    fm_replacement_word(cache->replacement, truth);
    if (!finding) {
        tally->undetermined++;
    } else if (cache->ways == 1 && finding->status == FM_ABSENT) {
        tally->right++;
    } else if (finding->status == FM_MEASURED) {
        const bool right = strcmp(finding->value.text, truth) == 0;
        tally->right += right;
        tally->wrong += !right;
        if (!right && plan->show)
            fprintf(stderr, "machine %u: l1d.replacement is %s, truth %s\n", index,
                    finding->value.text, truth);
    } else if (finding->candidate_count && right_list(finding, cache)) {
        tally->right++;
    } else {
        tally->undetermined++;
        if (plan->show)
            fprintf(stderr, "machine %u: l1d.replacement undetermined, truth %s: %s\n", index,
                    truth, finding->note);
    }
}

static void judge_tlbs(struct figures *figures, const struct plan *plan, unsigned index,
                       const struct fm_description *machine, const struct fm_result *result)
{
    char name[FM_PROPERTY_TEXT];
    for (unsigned i = 0; i < machine->tlb_count; i++) {
        const struct fm_tlb_description *tlb = &machine->tlbs[i];
        const double cost = i + 1 < machine->tlb_count ? tlb[1].latency : machine->walk_latency;
        snprintf(name, sizeof name, "%s.entries", tlb->name);
        judge(figures, plan, index, i ? TLB2_ENTRIES : TLB1_ENTRIES, result, name, tlb->entries, 0);
        snprintf(name, sizeof name, "%s.ways", tlb->name);
        judge(figures, plan, index, TLB_WAYS, result, name,
              tlb->ways == tlb->entries ? 0 : tlb->ways, 0);
        snprintf(name, sizeof name, "%s.miss_cost_cycles", tlb->name);
        judge(figures, plan, index, TLB_COST, result, name, cost,
              tolerance(TLB_COST, plan->noise, cost));
    }
    for (size_t i = 0; i < result->warning_count; i++)
        if (strcmp(result->warnings[i].id, "translation") == 0) {
            figures->at_odds++;
            if (plan->show)
                fprintf(stderr, "machine %u: %s\n", index, result->warnings[i].text);
        }
    snprintf(name, sizeof name, "dtlb%zu.entries", machine->tlb_count + 1);
    const struct fm_finding *more = fm_result_find(result, name);
    if (more && more->status == FM_MEASURED) {
        figures->of[TLB2_ENTRIES].wrong++;
        if (plan->show)
            fprintf(stderr, "machine %u: %s is %g, there is none\n", index, name,
                    more->value.number);
    }
}

static void judge_structure(struct figures *figures, const struct plan *plan, unsigned index,
                            const struct fm_description *machine, const struct fm_result *result)
{
    char name[FM_PROPERTY_TEXT];
    for (unsigned i = 1; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        snprintf(name, sizeof name, "%s.ways", cache->name);
        judge(figures, plan, index, i == 1 ? L2_WAYS : L3_WAYS, result, name, cache->ways, 0);
        snprintf(name, sizeof name, "%s.physical_capacity", cache->name);
        judge(figures, plan, index, i == 1 ? L2_PHYSICAL : L3_PHYSICAL, result, name,
              (double)cache->capacity, 0);
    }
}

static void judge_caches(struct figures *figures, const struct plan *plan, unsigned index,
                         const struct fm_description *machine, const struct fm_result *result)
{
    char name[FM_PROPERTY_TEXT];
    const bool noise = plan->noise;
    const struct fm_cache_description *first = &machine->caches[0];
    const double lines = (double)first->capacity / first->line;
    judge(figures, plan, index, L1_CAPACITY, result, "l1d.capacity", (double)first->capacity, 0);
    judge(figures, plan, index, L1_LINE, result, "l1d.line", first->line, 0);
    judge(figures, plan, index, L1_WAYS, result, "l1d.ways", first->ways == lines ? 0 : first->ways,
          0);
    for (unsigned i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        snprintf(name, sizeof name, "%s.latency_cycles", cache->name);
        judge(figures, plan, index, LATENCY, result, name, cache->latency,
              tolerance(LATENCY, noise, cache->latency));
        if (i == 0)
            continue;
        struct fm_error err;
        double truth;
        if (!fm_true_capacity(machine, i, &truth, &err)) {
            fprintf(stderr, "machine %u: %s\n", index, err.text);
            continue;
        }
        /* On contiguous pages effective and physical capacity agree; either will do. */
        snprintf(name, sizeof name, "%s.capacity", cache->name);
        const struct fm_finding *capacity = fm_result_find(result, name);
        const double physical = (double)cache->capacity;
        if (!noise && capacity && fabs(capacity->value.number / physical - 1) <= 0.02)
            truth = physical;
        judge(figures, plan, index, CAPACITY, result, name, truth,
              tolerance(CAPACITY, noise, truth));
        snprintf(name, sizeof name, "%s.line", cache->name);
        judge(figures, plan, index, LINE, result, name, cache->line, 0);
    }
    judge(figures, plan, index, MEMORY, result, "memory.latency_cycles", machine->memory_latency,
          tolerance(MEMORY, noise, machine->memory_latency));
}

static void print_machine(unsigned index, const struct fm_description *machine)
{
    char policy[FM_REPLACEMENT_TEXT];
    static const char *const indices[] = {"virtual", "physical", "hashed"};
    static const char *const inclusions[] = {"none", "inclusive", "exclusive"};
    fprintf(stderr, "machine %u: page %llu, memory %g, walk %g\n", index,
            (unsigned long long)machine->page_size, machine->memory_latency, machine->walk_latency);
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *c = &machine->caches[i];
        fprintf(stderr, "  %s %llu line %u ways %u latency %g %s %s %s\n", c->name,
                (unsigned long long)c->capacity, c->line, c->ways, c->latency,
                fm_replacement_word(c->replacement, policy), indices[c->index],
                inclusions[c->inclusion]);
    }
    for (size_t i = 0; i < machine->tlb_count; i++)
        fprintf(stderr, "  %s %u entries %u ways latency %g\n", machine->tlbs[i].name,
                machine->tlbs[i].entries, machine->tlbs[i].ways, machine->tlbs[i].latency);
}

static void survey_one(struct figures *figures, const struct plan *plan, unsigned index)
{
    struct fm_description machine;
    struct fm_error err;
    struct fm_result result;
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = plan->seed + index, .only = plan->only};
    fm_random_machine(plan->seed, index, plan->noise, &machine);
    if (plan->show)
        print_machine(index, &machine);
    fm_result_init(&result);
    struct fm_machine *simulated = fm_simulated_open(&machine, plan->seed + index, &err);
    figures->machines++;
    if (simulated && fm_survey(simulated, NULL, &options, &result, &err)) {
        if (!plan->only || strstr(plan->only, "capacity"))
            judge_caches(figures, plan, index, &machine, &result);
        if (!plan->only || strstr(plan->only, "ways"))
            judge_structure(figures, plan, index, &machine, &result);
        if (!plan->only || strstr(plan->only, "replacement"))
            judge_replacement(figures, plan, index, &machine.caches[0], &result);
        if (!plan->only || strstr(plan->only, "tlb"))
            judge_tlbs(figures, plan, index, &machine, &result);
    } else {
        figures->failed++;
        fprintf(stderr, "machine %u: %s\n", index, err.text);
    }
    if (simulated)
        simulated->ops->close(simulated);
    fm_result_free(&result);
}

/* Each job takes every jobs-th machine in a process of its own and sends its figures back. */
static bool start_job(const struct plan *plan, unsigned job, int *from)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct figures figures = {0};
        for (unsigned i = job; i < plan->machines; i += plan->jobs)
            survey_one(&figures, plan, plan->first + i);
        const bool sent = write(ends[1], &figures, sizeof figures) == (ssize_t)sizeof figures;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    *from = ends[0];
    return child > 0;
}

static void add(struct figures *sum, const struct figures *more)
{
    sum->machines += more->machines;
    sum->failed += more->failed;
    sum->at_odds += more->at_odds;
    for (int p = 0; p < PROPERTIES; p++) {
        sum->of[p].right += more->of[p].right;
        sum->of[p].wrong += more->of[p].wrong;
        sum->of[p].undetermined += more->of[p].undetermined;
        sum->of[p].inside += more->of[p].inside;
        sum->of[p].intervals += more->of[p].intervals;
    }
}

static bool survey_all(const struct plan *plan, struct figures *sum)
{
    int from[16];
    for (unsigned job = 0; job < plan->jobs; job++)
        if (!start_job(plan, job, &from[job]))
            return false;
    bool good = true;
    for (unsigned job = 0; job < plan->jobs; job++) {
        struct figures figures;
        good &= read(from[job], &figures, sizeof figures) == (ssize_t)sizeof figures;
        if (good)
            add(sum, &figures);
        close(from[job]);
        wait(NULL);
    }
    return good;
}

static void print(const struct plan *plan, const struct figures *figures)
{
    printf("%u random machines, seed %llu, %s\n", figures->machines, (unsigned long long)plan->seed,
           plan->noise ? "noise and scattered pages" : "no noise, contiguous pages");
    printf("%-22s %6s %9s %7s %13s %16s\n", "property", "cases", "right", "wrong", "undetermined",
           "truth in interval");
    for (int p = 0; p < PROPERTIES; p++) {
        const struct tally *t = &figures->of[p];
        const double all = fmax(1, t->right + t->wrong + t->undetermined);
        printf("%-22s %6.0f %8.1f%% %6.1f%% %12.1f%% %15.1f%%\n", names[p], all,
               100 * t->right / all, 100 * t->wrong / all, 100 * t->undetermined / all,
               100 * t->inside / fmax(1, t->intervals));
    }
    if (!plan->only)
        printf("caches and TLBs at odds on %u machines\n", figures->at_odds);
}

/* The bounds that hold today, with room for the luck of a small sample. With noise capacities and
   latencies of outer levels are not up to their goal: their bounds are there to notice that they
   get worse. */
static bool within_bounds(const struct plan *plan, const struct figures *figures)
{
    bool good = figures->failed == 0;
    for (int p = 0; p < PROPERTIES; p++) {
        const struct tally *t = &figures->of[p];
        const double all = fmax(1, t->right + t->wrong + t->undetermined);
        const double luck = 1.0 / all;
        const bool at_goal = !plan->noise || (p != CAPACITY && p != LATENCY);
        good &= t->wrong / all <= (at_goal ? 0.02 : 0.1) + luck;
        /* Of outer levels with a hashed index nothing is said, nor of those that are dear to fill.
         */
        if (p < L2_WAYS || p > L3_PHYSICAL)
            good &= t->right / all >= (at_goal ? 0.95 : 0.8) - luck;
    }
    return good;
}

static bool number(const char *text, uint64_t *value)
{
    return text && fm_parse_count(text, value);
}

int main(int argc, char **argv)
{
    struct plan plan = {
        .machines = 500, .seed = 1, .jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    bool quiet_only = false, noise_only = false;
    for (int i = 1; i < argc; i++) {
        uint64_t value;
        if (strcmp(argv[i], "--show") == 0)
            plan.show = true;
        else if (strcmp(argv[i], "--check") == 0)
            plan.check = true;
        else if (strcmp(argv[i], "--quiet-only") == 0)
            quiet_only = true;
        else if (strcmp(argv[i], "--noise-only") == 0)
            noise_only = true;
        else if (strcmp(argv[i], "--only") == 0 && argv[i + 1])
            plan.only = argv[++i];
        else if (strcmp(argv[i], "--machines") == 0 && number(argv[i + 1], &value) && ++i)
            plan.machines = (unsigned)value;
        else if (strcmp(argv[i], "--first") == 0 && number(argv[i + 1], &value) && ++i)
            plan.first = (unsigned)value;
        else if (strcmp(argv[i], "--seed") == 0 && number(argv[i + 1], &value) && ++i)
            plan.seed = value;
        else {
            fprintf(stderr,
                    "accuracy: what is '%s'? [--machines N] [--first N] [--seed N] "
                    "[--quiet-only|--noise-only] [--only PROBES] [--show] [--check]\n",
                    argv[i]);
            return 2;
        }
    }
    if (plan.jobs > 16)
        plan.jobs = 16;
    bool good = true;
    for (int noise = 0; noise < 2; noise++) {
        if ((noise && quiet_only) || (!noise && noise_only))
            continue;
        struct figures figures = {0};
        plan.noise = noise;
        if (!survey_all(&plan, &figures)) {
            fprintf(stderr, "accuracy: a job failed\n");
            return 1;
        }
        print(&plan, &figures);
        good &= !plan.check || within_bounds(&plan, &figures);
    }
    return good ? 0 : 1;
}
