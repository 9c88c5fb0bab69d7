#include "machine/simulated/simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct simulated *sim = self(machine);
    return fm_walker_place(&sim->walker, bytes, page_size ? page_size : machine->info.page_size,
                           err);
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
    if (phase->op == FM_OP_LOAD_PAIR && (window % 2 || phase->references % 2))
        return fm_fail(err, FM_ERR_USAGE, "%s: pairs need an even number of words", string->label);
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
    return fm_check_jumps(string, err);
}

static bool goes_on(const struct fm_phase *phase, const struct fm_phase *next)
{
    return next->order == phase->order && next->window == phase->window && next->op == phase->op;
}

/* References right after a phase that go on round what it goes round. */
static uint64_t to_come(const struct fm_phase *phase, const struct fm_phase *metered,
                        unsigned repeats)
{
    uint64_t references = 0;
    const struct fm_phase *next = phase;
    while (next++ < metered && goes_on(phase, next))
        references += next == metered ? repeats * next->references : next->references;
    return references;
}

/* The clock shows the time and the counters, where they are on, the events of the same runs: to
   read one does not disturb the other here. */
static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    struct simulated *sim = self(machine);
    if (!check(sim, string, repeats, err))
        return false;
    if (!sim->walker.hierarchy.runs_code && fm_string_has_jumps(string))
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "the machine file describes no instruction cache at level 1");
    const struct fm_phase *metered = &string->phases[string->phase_count - 1];
    fm_walker_begin(&sim->walker);
    for (const struct fm_phase *phase = string->phases; phase < metered; phase++) {
        fm_walk(&sim->walker, string, phase, 0, to_come(phase, metered, repeats));
        fm_sim_clock_pass(&sim->walker.clock, fm_walker_cycles(&sim->walker, phase->references));
    }
    size_t position = 0;
    for (unsigned i = 0; i < repeats; i++) {
        fm_walker_read_clock(&sim->walker);
        position = fm_walk(&sim->walker, string, metered, position,
                           (repeats - i - 1) * metered->references);
        samples[i] = (struct fm_sample){
            .ns = fm_sim_clock_time(&sim->walker.clock,
                                    fm_walker_cycles(&sim->walker, metered->references)),
            .references = metered->references,
            .counted = sim->counting,
        };
        if (sim->counting)
            fm_walker_count(&sim->walker, metered->references, &samples[i].counts);
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
    fm_walker_close(&sim->walker);
    free(sim);
}

static const struct fm_machine_ops ops = {
    .place = place,
    .run = run,
    .count = run,
    .chain = chain,
    .elapsed = elapsed,
    .observe = observe,
    .close = close_machine,
};

static void add_page_size(struct fm_machine_info *info, size_t bytes)
{
    size_t at = 0;
    while (at < info->page_size_count && info->page_sizes[at] < bytes)
        at++;
    if (bytes <= info->page_size || info->page_size_count == FM_OTHER_PAGES ||
        (at < info->page_size_count && info->page_sizes[at] == bytes))
        return;
    memmove(&info->page_sizes[at + 1], &info->page_sizes[at],
            (info->page_size_count - at) * sizeof info->page_sizes[0]);
    info->page_sizes[at] = bytes;
    info->page_size_count++;
}

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
    for (size_t i = 0; i < sim->description.tlb_count; i++)
        for (size_t j = 0; j < sim->description.tlbs[i].page_size_count; j++)
            add_page_size(info, (size_t)sim->description.tlbs[i].page_sizes[j]);
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
    if (!fm_walker_open(&sim->walker, description, seed, err)) {
        close_machine(&sim->machine);
        return NULL;
    }
    introduce(sim);
    return &sim->machine;
}

/* One event a structure that is there, but for those that the file says have none. */
static struct fm_counters all_counters(const struct simulated *sim)
{
    struct fm_counters counters = {.meter = "sim"};
    for (unsigned i = 0; i < sim->walker.hierarchy.count; i++)
        counters.events |= FM_COUNTS_CACHE(i);
    if (sim->walker.hierarchy.code_count)
        counters.events |= FM_COUNTS_CODE | FM_COUNTS_TARGETS;
    for (unsigned i = 0; i < sim->walker.tlbs.count; i++) {
        const struct fm_tlb_level *tlb = &sim->walker.tlbs.all[i];
        if (tlb->holds != FM_HOLDS_INSTRUCTIONS)
            counters.events |= FM_COUNTS_TLB(tlb->level);
        /* Of a TLB for both, what jumps miss is an event of its own. */
        if (tlb->holds != FM_HOLDS_DATA && tlb->level == 0)
            counters.events |= FM_COUNTS_CODE_TLB;
    }
    counters.events &= ~sim->description.no_counter;
    return counters;
}

void fm_simulated_count(struct fm_machine *machine, bool on)
{
    struct simulated *sim = self(machine);
    sim->counting = on;
    fm_front_count_targets(&sim->walker.front, on);
    machine->info.counters = on ? all_counters(sim) : (struct fm_counters){0};
}
