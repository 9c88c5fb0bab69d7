#include "machine/native/native.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/units.h"
#include "machine/native/computer.h"
#include "machine/native/limits.h"
#include "machine/native/pages.h"

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct fm_computer *computer = (struct fm_computer *)machine;
    const uint64_t limit = machine->info.memory_limit;
    if (bytes > limit) {
        char wanted[FM_SIZE_TEXT], allowed[FM_SIZE_TEXT];
        return fm_fail(err, FM_ERR_NO_MEMORY,
                       "an arena of %s is more than the %s that may safely be taken here",
                       fm_format_size(bytes, wanted), fm_format_size(limit, allowed));
    }
    const bool placed = fm_placements_next(&computer->placements, bytes, page_size, limit, err);
    computer->arena = fm_placements_current(&computer->placements);
    return placed;
}

static double elapsed(struct fm_machine *machine)
{
    return fm_watch_seconds(&((struct fm_computer *)machine)->watch);
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    fm_computer_surroundings((struct fm_computer *)machine, environment);
}

static void close_computer(struct fm_machine *machine)
{
    struct fm_computer *computer = (struct fm_computer *)machine;
    fm_placements_free(&computer->placements);
    fm_canary_close(&computer->canary);
    fm_watch_close(&computer->watch);
    fm_unpin(&computer->pin);
    free(computer);
}

static const struct fm_machine_ops ops = {
    .place = place,
    .run = fm_computer_run,
    .count = fm_computer_count,
    .chain = fm_computer_chain,
    .elapsed = elapsed,
    .observe = observe,
    .close = close_computer,
};

/* Half of what is free: the rest of the system, and our own lists and results, live there too. */
static uint64_t safe_memory(void)
{
    const uint64_t free_bytes = fm_limit_memory("");
    return free_bytes < SIZE_MAX ? free_bytes / 2 : SIZE_MAX / 4;
}

struct fm_machine *fm_native_open(int cpu, const struct fm_meter *clock, struct fm_error *err)
{
    struct fm_computer *computer = calloc(1, sizeof *computer);
    if (!computer) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the machine");
        return NULL;
    }
    if (!fm_pin(&computer->pin, cpu, err)) {
        free(computer);
        return NULL;
    }
    fm_watch_open(&computer->watch, computer->pin.cpu);
    computer->clock = clock;
    computer->flush = fm_walk_flusher_here();
    computer->machine.ops = &ops;
    struct fm_machine_info *info = &computer->machine.info;
    snprintf(info->kind, sizeof info->kind, "native");
    fm_computer_name(info->name, sizeof info->name);
    fm_computer_arch(info->arch, sizeof info->arch);
    info->cpu = computer->pin.cpu;
    info->page_size = fm_base_page();
    info->page_size_count = fm_other_pages(info->page_sizes, FM_OTHER_PAGES);
    info->memory_limit = safe_memory();
    info->clock = clock->info;
    fm_canary_open(&computer->canary, clock, info->page_size);
    fm_sibling_open(&computer->sibling, clock);
    return &computer->machine;
}

void fm_native_count(struct fm_machine *machine, struct fm_tally *tally)
{
    ((struct fm_computer *)machine)->tally = tally;
    machine->info.counters = tally->info;
    /* What a model counts is not this computer's. */
    if (tally->info.alone)
        snprintf(machine->info.name, sizeof machine->info.name, "%s's cache model",
                 tally->info.meter);
}
