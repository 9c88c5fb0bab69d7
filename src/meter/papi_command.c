/* Commands by PAPI: its counters run in ourselves too, from start to read; but we only wait. */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/command.h"
#include "meter/papi_set.h"

/* PAPI counts what programs inherit in its first component alone, the processor's. */
#define PROCESSOR 0

static const struct fm_papi_event presets[] = {
    {.bit = FM_COMMAND_REFERENCES, .names = {"PAPI_LST_INS", "PAPI_LD_INS+PAPI_SR_INS"}},
    {.bit = FM_COMMAND_FILLS, .names = {"PAPI_L1_DCM", "PAPI_L1_TCM"}},
    {.bit = FM_COMMAND_FILLS + 1, .names = {"PAPI_L2_DCM", "PAPI_L2_TCM"}},
    {.bit = FM_COMMAND_FILLS + 2, .names = {"PAPI_L3_DCM", "PAPI_L3_TCM"}},
    {.bit = FM_COMMAND_FETCH_MISSES, .names = {"PAPI_L1_ICM"}},
    {.bit = FM_COMMAND_CYCLES, .names = {"PAPI_TOT_CYC"}},
    {.bit = FM_COMMAND_TASK_CLOCK, .names = {"perf::TASK-CLOCK"}},
    {.bit = FM_COMMAND_PAGE_FAULTS, .names = {"perf::PAGE-FAULTS"}},
};
const struct fm_papi_plan fm_papi_of_commands = {.presets = presets,
                                                 .count = sizeof presets / sizeof presets[0],
                                                 .native = &fm_perf_of_commands};

struct papi_command {
    struct fm_command_meter meter; /* first: a meter's pointer is ours */
    struct fm_papi_set set;
    struct fm_perf_account account;
};

static struct papi_command *self(struct fm_command_meter *meter)
{
    return (struct papi_command *)meter;
}

static bool start(struct fm_command_meter *meter, struct fm_error *err)
{
    const int result = PAPI_start(self(meter)->set.handle);
    return result == PAPI_OK || fm_fail(err, FM_ERR_UNSUPPORTED,
                                        "meter: PAPI cannot count here: %s", PAPI_strerror(result));
}

static void read_all(struct fm_command_meter *meter, struct fm_command_counts *counts)
{
    const struct fm_papi_set *set = &self(meter)->set;
    long long values[FM_PAPI_TERMS] = {0};
    const bool good = PAPI_stop(set->handle, values) == PAPI_OK;
    counts->scaled = false;
    for (size_t i = 0; i < FM_COMMAND_EVENTS; i++) {
        counts->count[i] = good && meter->counted[i] ? 0 : -1;
        snprintf(counts->why[i], sizeof counts->why[i], "%s", self(meter)->account.why[i]);
    }
    for (size_t i = 0; i < set->count && good; i++)
        counts->count[set->terms[i].bit] += values[i] > 0 ? (double)values[i] : 0;
}

static void close_all(struct fm_command_meter *meter)
{
    fm_papi_set_close(&self(meter)->set);
    free(meter);
}

static const struct fm_command_meter_ops ops = {
    .start = start, .read = read_all, .close = close_all};

static bool follow_programs(const struct fm_papi_set *set, struct fm_error *err)
{
    PAPI_option_t option;
    memset(&option, 0, sizeof option);
    option.inherit.inherit = PAPI_INHERIT_ALL;
    option.inherit.eventset = set->handle;
    const int result = PAPI_set_opt(PAPI_INHERIT, &option);
    return result == PAPI_OK ||
           fm_fail(err, FM_ERR_UNSUPPORTED,
                   "meter: PAPI cannot count other programs here (%s): use perf or callgrind",
                   PAPI_strerror(result));
}

struct fm_command_meter *fm_papi_command_open(const struct fm_papi_plan *plan, struct fm_error *err)
{
    struct papi_command *papi = calloc(1, sizeof *papi);
    if (!papi || !fm_papi_set_open(&papi->set, err)) {
        if (!papi)
            fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        free(papi);
        return NULL;
    }
    papi->meter = (struct fm_command_meter){.ops = &ops, .name = "papi"};
    PAPI_assign_eventset_component(papi->set.handle, PROCESSOR);
    if (follow_programs(&papi->set, err)) {
        const unsigned added = fm_papi_set_fill(&papi->set, plan, &papi->account);
        for (unsigned bit = 0; bit < FM_COMMAND_EVENTS; bit++)
            papi->meter.counted[bit] = added & 1u << bit;
        if (papi->set.count)
            return &papi->meter;
        fm_fail(err, FM_ERR_UNSUPPORTED, "meter: PAPI has no event for commands here: use perf");
    }
    close_all(&papi->meter);
    return NULL;
}
