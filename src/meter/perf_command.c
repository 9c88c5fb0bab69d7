/* Commands by perf: the events are opened for ourselves, disabled. A program that we start inherits
 * them, and exec enables them there; its threads and children inherit from it in turn. What they
 * counted comes back to us when they end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/command.h"
#include "meter/perf_group.h"

_Static_assert((int)FM_COMMAND_EVENTS <= (int)FM_EVENTS, "an account has room for each event");

struct perf_command {
    struct fm_command_meter meter; /* first: a meter's pointer is ours */
    const struct fm_perf_system *system;
    struct fm_perf_group groups[FM_PERF_EVENTS];
    size_t count;
    struct fm_perf_account account;
};

static struct perf_command *self(struct fm_command_meter *meter)
{
    return (struct perf_command *)meter;
}

/* Exec does it. */
static bool start(struct fm_command_meter *meter, struct fm_error *err)
{
    (void)meter;
    (void)err;
    return true;
}

static void read_all(struct fm_command_meter *meter, struct fm_command_counts *counts)
{
    struct perf_command *perf = self(meter);
    counts->scaled = false;
    for (size_t i = 0; i < FM_COMMAND_EVENTS; i++) {
        counts->count[i] = -1;
        snprintf(counts->why[i], sizeof counts->why[i], "%s", perf->account.why[i]);
    }
    for (size_t i = 0; i < perf->count; i++) {
        const unsigned bit = perf->groups[i].bit;
        uint64_t sum;
        if (fm_perf_group_read(&perf->groups[i], perf->system, &sum, &counts->scaled))
            counts->count[bit] = (double)sum;
        else
            snprintf(counts->why[bit], sizeof counts->why[bit],
                     "its counter was never running: another program may hold it");
    }
}

static void close_all(struct fm_command_meter *meter)
{
    struct perf_command *perf = self(meter);
    for (size_t i = 0; i < perf->count; i++)
        fm_perf_group_close(&perf->groups[i]);
    free(perf);
}

static const struct fm_command_meter_ops ops = {
    .start = start, .read = read_all, .close = close_all};

struct fm_command_meter *fm_perf_command_open(const struct fm_perf_events *events,
                                              const struct fm_perf_system *system,
                                              struct fm_error *err)
{
    struct perf_command *perf = calloc(1, sizeof *perf);
    if (!perf) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    perf->meter = (struct fm_command_meter){.ops = &ops, .name = "perf"};
    perf->system = system;
    /* A native event is a counter's: where there are none the names need not be looked up, which
       takes libpfm4 milliseconds that the command would wait. */
    const struct fm_perf_opener by = {
        .system = system, .scope = FM_PERF_COMMAND, .no_native = fm_perf_no_counters(system)};
    for (size_t i = 0; i < events->count; i++)
        if (fm_perf_group_open(&perf->groups[perf->count], &by, &events->list[i], &perf->account)) {
            perf->meter.counted[events->list[i].bit] = true;
            perf->count++;
        }
    if (perf->count)
        return &perf->meter;
    fm_fail(err, FM_ERR_UNSUPPORTED, "meter: perf counts nothing here: %s",
            events->count ? perf->account.why[events->list[0].bit] : "no event was asked for");
    close_all(&perf->meter);
    return NULL;
}
