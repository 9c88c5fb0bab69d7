#include "machine/simulated/simulated.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/result.h"
#include "machine/simulated/walk.h"

/* What a clock that shows every difference is said to resolve. */
#define EXACT_NS 0.001

struct simulated {
    struct fm_machine machine; /* first: the interface's pointer is ours */
    struct fm_description description;
    struct fm_walker walker;
    bool counting;
};

static struct simulated *self(struct fm_machine *machine)
{
    return (struct simulated *)machine;
}

/* A page is a power of two and at least a line, the largest of which is the outermost. */
static bool fits(const struct simulated *sim, uint64_t page)
{
    const struct fm_hierarchy *hierarchy = &sim->walker.hierarchy;
    return (page & (page - 1)) == 0 && page >> hierarchy->caches[hierarchy->count - 1].shift;
}

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct simulated *sim = self(machine);
    const uint64_t base = sim->description.page_size;
    const uint64_t wanted = page_size ? page_size : base;
    if (wanted != base && !(fm_tlbs_hold(&sim->walker.tlbs, wanted) && fits(sim, wanted)))
        return fm_fail(err, FM_ERR_UNSUPPORTED, "pages of %zu bytes: %s has none", page_size,
                       sim->description.name);
    if (!fm_placement_draw(&sim->walker.placement, bytes, (uint32_t)__builtin_ctzll(wanted), err))
        return false;
    fm_tlbs_prepare(&sim->walker.tlbs, wanted);
    fm_prefetcher_forget(&sim->walker.prefetcher);
    return true;
}

/* Whether the first `count` words of the order lie in the string's span. */
static bool inside(const struct fm_string *string, const struct fm_order *order, uint64_t count)
{
    uint32_t highest = 0;
    for (uint64_t i = 0; i < count; i++)
        highest = order->word[i] > highest ? order->word[i] : highest;
    return (uint64_t)highest * FM_WORD < string->bytes;
}

static bool check_phase(const struct fm_string *string, size_t number, unsigned repeats,
                        struct fm_error *err)
{
    const struct fm_phase *phase = &string->phases[number];
    const bool last = number + 1 == string->phase_count;
    if (phase->metered != last)
        return fm_fail(err, FM_ERR_USAGE, "%s: the last phase and no other must be metered",
                       string->label);
    if (phase->order >= string->order_count)
        return fm_fail(err, FM_ERR_USAGE, "%s: phase %zu has no order", string->label, number + 1);
    const struct fm_order *order = &string->orders[phase->order];
    if (order->count == 0 || phase->window > order->count)
        return fm_fail(err, FM_ERR_USAGE, "%s: phase %zu is wider than its order", string->label,
                       number + 1);
    const uint64_t window = phase->window ? phase->window : order->count;
    const uint64_t often = last ? repeats : 1;
    const bool all = phase->references > window / (often ? often : 1);
    if (!inside(string, order, all ? window : phase->references * often))
        return fm_fail(err, FM_ERR_USAGE, "%s: phase %zu leaves the string's %zu bytes",
                       string->label, number + 1, string->bytes);
    return true;
}

static bool check(const struct simulated *sim, const struct fm_string *string, unsigned repeats,
                  struct fm_error *err)
{
    if (string->bytes > sim->walker.placement.bytes)
        return fm_fail(err, FM_ERR_USAGE, "%s: %zu bytes do not fit the arena of %llu",
                       string->label, string->bytes,
                       (unsigned long long)sim->walker.placement.bytes);
    if (string->phase_count == 0)
        return fm_fail(err, FM_ERR_USAGE, "%s: nothing to run", string->label);
    for (size_t i = 0; i < string->phase_count; i++)
        if (!check_phase(string, i, repeats, err))
            return false;
    return true;
}

/* The true cycles of the phase that was walked last. */
static double cycles(const struct simulated *sim, uint64_t references)
{
    const struct fm_walker *walker = &sim->walker;
    const unsigned levels = walker->hierarchy.count;
    uint64_t inner = references - walker->served[levels];
    double sum = (double)walker->served[levels] * sim->description.memory_latency;
    for (unsigned i = levels; i-- > 1;) {
        inner -= walker->served[i];
        sum += (double)walker->served[i] * walker->hierarchy.caches[i].latency;
    }
    sum += (double)inner * walker->hierarchy.caches[0].latency;
    return sum + fm_tlbs_cycles(&walker->tlbs, references, sim->description.walk_latency);
}

static void count(const struct simulated *sim, struct fm_sample *sample)
{
    const struct fm_walker *walker = &sim->walker;
    struct fm_counts *counts = &sample->counts;
    sample->counted = true;
    counts->references = sample->references;
    uint64_t missed = 0;
    for (unsigned i = walker->hierarchy.count; i > 0; i--) {
        missed += walker->served[i];
        counts->cache_miss[i - 1] = missed;
    }
    fm_tlbs_count(&walker->tlbs, sample->references, counts);
    counts->prefetches = walker->prefetcher.prefetched;
    counts->writebacks = walker->hierarchy.writebacks;
}

static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    struct simulated *sim = self(machine);
    if (!check(sim, string, repeats, err))
        return false;
    const struct fm_phase *metered = &string->phases[string->phase_count - 1];
    for (const struct fm_phase *phase = string->phases; phase < metered; phase++) {
        fm_walk(&sim->walker, string, phase, 0);
        fm_sim_clock_pass(&sim->walker.clock, cycles(sim, phase->references));
    }
    size_t position = 0;
    for (unsigned i = 0; i < repeats; i++) {
        position = fm_walk(&sim->walker, string, metered, position);
        samples[i] = (struct fm_sample){
            .ns = fm_sim_clock_time(&sim->walker.clock, cycles(sim, metered->references)),
            .references = metered->references,
        };
        if (sim->counting)
            count(sim, &samples[i]);
    }
    return true;
}

static bool chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err)
{
    (void)err;
    struct simulated *sim = self(machine);
    const double each = kind == FM_CHAIN_ADD ? sim->description.add_latency : 1;
    *sample = (struct fm_sample){
        .ns = fm_sim_clock_time(&sim->walker.clock, each * (double)operations),
        .references = operations,
        .counted = sim->counting,
    };
    return true;
}

static double elapsed(struct fm_machine *machine)
{
    return self(machine)->walker.clock.now_ns * 1e-9;
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    const struct fm_description *description = &self(machine)->description;
    const bool random = description->page_mapping == FM_MAPPING_RANDOM;
    fm_environment_set(environment, "virtualised", fm_bool(false));
    fm_environment_set(environment, "page_size", fm_number((double)description->page_size));
    fm_environment_set(environment, "page_mapping", fm_text(random ? "random" : "contiguous"));
}

static void close_machine(struct fm_machine *machine)
{
    struct simulated *sim = self(machine);
    fm_hierarchy_close(&sim->walker.hierarchy);
    fm_tlbs_close(&sim->walker.tlbs);
    fm_placement_close(&sim->walker.placement);
    free(sim);
}

static const struct fm_machine_ops ops = {
    .place = place,
    .run = run,
    .chain = chain,
    .elapsed = elapsed,
    .observe = observe,
    .close = close_machine,
};

static void introduce(struct simulated *sim)
{
    const double step = sim->description.noise.timer_ns;
    struct fm_machine_info *info = &sim->machine.info;
    sim->machine.ops = &ops;
    *info = (struct fm_machine_info){
        .kind = "simulated",
        .arch = "simulated",
        .cpu = -1,
        .page_size = (size_t)sim->description.page_size,
        .memory_limit = fm_placement_limit(&sim->walker.placement),
        .clock = {.name = "simulated", .resolution_ns = step > 0 ? step : EXACT_NS},
    };
    snprintf(info->name, sizeof info->name, "%s", sim->description.name);
}

static bool open_parts(struct simulated *sim, uint64_t seed, struct fm_error *err)
{
    const struct fm_description *description = &sim->description;
    struct fm_walker *walker = &sim->walker;
    const uint64_t page = description->page_size;
    if (!(description->clock_mhz > 0))
        return fm_fail(err, FM_ERR_USAGE, "%s: clock_mhz must be above 0", description->name);
    if (page == 0 || page & (page - 1))
        return fm_fail(err, FM_ERR_USAGE, "%s: page_size must be a power of two",
                       description->name);
    /* Streams of their own, so that switching noise on leaves the placements as they were. */
    if (!fm_hierarchy_open(&walker->hierarchy, description, fm_mix64(seed ^ 1), err) ||
        !fm_tlbs_open(&walker->tlbs, description, err))
        return false;
    fm_placement_open(&walker->placement, description, &walker->hierarchy, fm_mix64(seed ^ 2));
    fm_sim_clock_open(&walker->clock, description, fm_mix64(seed ^ 3));
    fm_prefetcher_open(&walker->prefetcher, description, &walker->hierarchy);
    return true;
}

struct fm_machine *fm_simulated_open(const struct fm_description *description, uint64_t seed,
                                     struct fm_error *err)
{
    struct simulated *sim = calloc(1, sizeof *sim);
    if (!sim) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a simulated machine");
        return NULL;
    }
    sim->description = *description;
    if (!open_parts(sim, seed, err)) {
        close_machine(&sim->machine);
        return NULL;
    }
    introduce(sim);
    return &sim->machine;
}

void fm_simulated_count(struct fm_machine *machine, bool on)
{
    self(machine)->counting = on;
}
