/* How often a survey is right about what comes in with a miss, what stores do and what levels hold
   of each other, on random machines that have all of it. */
#include <math.h>
#include <stdio.h>

#include "core/replacement.h"
#include "core/rng.h"
#include "count.h"
#include "random_machine.h"

enum row {
    L1_SECTOR,
    SECTOR,
    L1_ALLOCATE,
    ALLOCATE,
    L1_POLICY,
    POLICY,
    STREAMING,
    BANKS,
    REPLACEMENT,
    INCLUSION,
    NEXT_LINE,
    ADJACENT_LINE,
    STRIDE,
    REGION,
    ROWS
};

static const char *const names[ROWS] = {
    [L1_SECTOR] = "l1d.sector",           [SECTOR] = "outer sector",
    [L1_ALLOCATE] = "l1d.write_allocate", [ALLOCATE] = "outer write_allocate",
    [L1_POLICY] = "l1d.write_policy",     [POLICY] = "outer write_policy",
    [STREAMING] = "l1d.streaming_stores", [BANKS] = "l1d.banks",
    [REPLACEMENT] = "outer replacement",  [INCLUSION] = "inclusion",
    [NEXT_LINE] = "prefetch.next_line",   [ADJACENT_LINE] = "prefetch.adjacent_line",
    [STRIDE] = "prefetch.stride",         [REGION] = "prefetch.region",
};

static bool one_in(struct fm_rng *rng, unsigned many)
{
    return fm_rng_below(rng, many) == 0;
}

static void draw_stores(struct fm_rng *rng, struct fm_description *machine)
{
    struct fm_cache_description *first = &machine->caches[0];
    first->write_allocate = !one_in(rng, 4);
    first->write_policy = one_in(rng, 3) ? FM_WRITE_THROUGH : FM_WRITE_BACK;
    if (first->write_allocate && one_in(rng, 4))
        first->streaming_stores = 1 + (uint32_t)fm_rng_below(rng, 12);
    for (size_t i = 0; i < machine->cache_count; i++) {
        struct fm_cache_description *cache = &machine->caches[i];
        if (one_in(rng, 3))
            cache->store_latency = ceil(cache->latency * (0.5 + 0.5 * fm_rng_unit(rng)));
        cache->write_allocate &= i == 0 || !one_in(rng, 6);
    }
}

static void draw_inclusion(struct fm_rng *rng, struct fm_description *machine)
{
    for (size_t i = 1; i < machine->cache_count; i++) {
        struct fm_cache_description *cache = &machine->caches[i];
        if (one_in(rng, 4) && cache->line == cache[-1].line)
            cache->inclusion = FM_INCLUSION_EXCLUSIVE;
    }
}

static bool touches_exclusive(const struct fm_description *machine, size_t i)
{
    return machine->caches[i].inclusion == FM_INCLUSION_EXCLUSIVE ||
           (i + 1 < machine->cache_count &&
            machine->caches[i + 1].inclusion == FM_INCLUSION_EXCLUSIVE);
}

static void draw_fetches(struct fm_rng *rng, struct fm_description *machine)
{
    static const unsigned kinds[] = {FM_PREFETCH_NEXT_LINE, FM_PREFETCH_ADJACENT_LINE,
                                     FM_PREFETCH_STRIDE, FM_PREFETCH_REGION};
    const size_t last = machine->cache_count - 1;
    for (size_t i = 0; i < 4; i++)
        if (one_in(rng, 6))
            machine->prefetch |= kinds[i];
    if (one_in(rng, 6) && !touches_exclusive(machine, 0))
        machine->caches[0].sector = machine->caches[0].line / 2;
    if (one_in(rng, 6) && last > 0 && !touches_exclusive(machine, last))
        machine->caches[last].sector = 2 * machine->caches[last].line;
}

/* Two machines of three have banks: parts of a line, or line after line. */
static void draw_banks(struct fm_rng *rng, struct fm_description *machine)
{
    struct fm_cache_description *first = &machine->caches[0];
    first->banks = one_in(rng, 3) ? 0 : 1u << fm_rng_below(rng, 5);
    if (first->banks * FM_WORD > first->line || (first->banks && one_in(rng, 4)))
        first->bank_width = first->line;
}

static void draw_outer_policies(struct fm_rng *rng, struct fm_description *machine)
{
    for (size_t i = 1; i < machine->cache_count; i++)
        if (one_in(rng, 4))
            machine->caches[i].write_policy = FM_WRITE_THROUGH;
}

static void draw(const struct fm_plan *plan, unsigned index, struct fm_description *machine)
{
    struct fm_rng rng;
    fm_random_machine(plan->seed, index, plan->noise, machine);
    fm_rng_seed(&rng, fm_mix64(plan->seed ^ 0x7ea5) + index);
    draw_stores(&rng, machine);
    draw_inclusion(&rng, machine);
    draw_fetches(&rng, machine);
    draw_banks(&rng, machine);
    draw_outer_policies(&rng, machine);
}

static void judge(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                  enum row row, const struct fm_result *result, const char *name,
                  struct fm_value truth)
{
    static const char *const kinds[] = {"nothing", "a number", "a boolean", "a word"};
    const struct fm_finding *finding = fm_result_find(result, name);
    const bool absent = finding && finding->status == FM_ABSENT && truth.kind == FM_VALUE_NONE;
    if (!absent && (!finding || finding->status != FM_MEASURED)) {
        fm_judge_open(&figures->of[row], plan, index, name, finding);
        return;
    }
    if (absent || fm_value_equal(&finding->value, &truth)) {
        figures->of[row].right++;
        return;
    }
    figures->of[row].wrong++;
    if (plan->show)
        fprintf(stderr, "machine %u: %s is %g %d '%s', truth %s %g %d '%s'\n", index, name,
                finding->value.number, finding->value.truth, finding->value.text, kinds[truth.kind],
                truth.number, truth.truth, truth.text);
}

/* What one miss brings into a level: an adjacent-line prefetcher fills the outermost level that
   memory fills; a sector of a level further in passes through those outside it. */
static uint32_t true_sector(const struct fm_description *machine, size_t level)
{
    size_t pair_level = 0;
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].inclusion != FM_INCLUSION_EXCLUSIVE || i == 0)
            pair_level = i;
    const struct fm_cache_description *cache = &machine->caches[level];
    uint32_t sector = cache->sector ? cache->sector : cache->line;
    if (level >= pair_level && machine->prefetch & FM_PREFETCH_ADJACENT_LINE &&
        sector < 2 * machine->caches[pair_level].line)
        sector = 2 * machine->caches[pair_level].line;
    return sector;
}

/* A region prefetcher leaves the first level alone, and victims fill an exclusive one. */
static bool fills_beyond_first(const struct fm_description *machine)
{
    bool fills = false;
    for (size_t i = 1; i < machine->cache_count; i++)
        fills |= machine->caches[i].inclusion != FM_INCLUSION_EXCLUSIVE;
    return fills;
}

static void judge_machine(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                          const struct fm_description *machine, const struct fm_result *result)
{
    static const char *const inclusions[] = {"none", "inclusive", "exclusive"};
    const struct fm_cache_description *first = &machine->caches[0];
    bool adjacent = false;
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        char name[FM_PROPERTY_TEXT];
        snprintf(name, sizeof name, "%s.sector", cache->name);
        judge(figures, plan, index, i ? SECTOR : L1_SECTOR, result, name,
              fm_number(true_sector(machine, i)));
        adjacent |= true_sector(machine, i) > cache->line;
        /* An exclusive level is filled by victims; whether by stores too is no question. */
        snprintf(name, sizeof name, "%s.write_allocate", cache->name);
        if (i == 0 || cache->inclusion != FM_INCLUSION_EXCLUSIVE)
            judge(figures, plan, index, i ? ALLOCATE : L1_ALLOCATE, result, name,
                  fm_bool(cache->write_allocate));
        snprintf(name, sizeof name, "%s.write_policy", cache->name);
        judge(figures, plan, index, i ? POLICY : L1_POLICY, result, name,
              fm_text(cache->write_policy == FM_WRITE_BACK ? "back" : "through"));
        char word[FM_REPLACEMENT_TEXT];
        snprintf(name, sizeof name, "%s.replacement", cache->name);
        if (i > 0)
            judge(figures, plan, index, REPLACEMENT, result, name,
                  fm_text(fm_replacement_word(cache->replacement, word)));
        snprintf(name, sizeof name, "%s.inclusion", cache->name);
        if (i > 0)
            judge(figures, plan, index, INCLUSION, result, name,
                  fm_text(inclusions[cache->inclusion]));
    }
    if (first->write_allocate)
        judge(figures, plan, index, STREAMING, result, names[STREAMING],
              first->streaming_stores ? fm_number(first->streaming_stores)
                                      : (struct fm_value){.kind = FM_VALUE_NONE});
    /* Without banks no number is right. */
    const struct fm_finding *banks = fm_result_find(result, names[BANKS]);
    if (first->banks || (banks && banks->status == FM_MEASURED))
        judge(figures, plan, index, BANKS, result, names[BANKS], fm_number(first->banks));
    judge(figures, plan, index, NEXT_LINE, result, names[NEXT_LINE],
          fm_bool(machine->prefetch & FM_PREFETCH_NEXT_LINE));
    judge(figures, plan, index, ADJACENT_LINE, result, names[ADJACENT_LINE], fm_bool(adjacent));
    judge(figures, plan, index, STRIDE, result, names[STRIDE],
          fm_bool(machine->prefetch & FM_PREFETCH_STRIDE));
    judge(figures, plan, index, REGION, result, names[REGION],
          fm_bool(machine->prefetch & FM_PREFETCH_REGION && fills_beyond_first(machine)));
}

static void print_machine(unsigned index, const struct fm_description *machine)
{
    static const char *const inclusions[] = {"none", "inclusive", "exclusive"};
    fprintf(stderr, "machine %u: page %llu, memory %g, prefetch %u\n", index,
            (unsigned long long)machine->page_size, machine->memory_latency, machine->prefetch);
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *c = &machine->caches[i];
        fprintf(stderr,
                "  %s %llu line %u sector %u ways %u latency %g %g policy %d index %d banks %u*%u "
                "%s%s%s\n",
                c->name, (unsigned long long)c->capacity, c->line, c->sector, c->ways, c->latency,
                c->store_latency, (int)c->replacement, (int)c->index, c->banks, c->bank_width,
                inclusions[c->inclusion], c->write_allocate ? "" : " no-allocate",
                c->write_policy == FM_WRITE_BACK ? "" : " through");
    }
}

/* Wrong in under 2%, with room for the luck of a small sample. */
static bool within_bounds(const struct fm_plan *plan, const struct fm_figures *figures)
{
    (void)plan;
    bool good = true;
    for (int row = 0; row < ROWS; row++) {
        const struct fm_tally *t = &figures->of[row];
        const double all = fm_tally_cases(t);
        good &= t->wrong / all <= 0.02 + 1.0 / all;
        /* These abstain often, and are right where they do not. */
        good &= row == INCLUSION || row == REPLACEMENT || row == POLICY || row == ADJACENT_LINE ||
                row == STREAMING || t->right / all >= 0.9 - 1.0 / all;
    }
    return good;
}

int main(int argc, char **argv)
{
    const struct fm_counting counting = {
        .name = "traffic",
        .plan = {.machines = 300,
                 .seed = 1,
                 .only = "streaming,banks,write-backs,outer-replacement"},
        .rows = names,
        .row_count = ROWS,
        .draw = draw,
        .show = print_machine,
        .judge = judge_machine,
        .within_bounds = within_bounds,
    };
    return fm_count(&counting, argc, argv);
}
