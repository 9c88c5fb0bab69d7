/* The core's cycle time, from dependent chains that touch no memory. An add takes one cycle on
 * nearly every processor, but half a cycle on a Pentium 4 and two on some POWERs; a rotate by a
 * constant takes one where adds are fast or slow. Where the two agree the cycle is plain; where one
 * is a small multiple of the other the rotate decides; otherwise nobody knows. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "probe/cycle.h"
#include "probe/probe.h"

#define READINGS 12
#define TURNS    8
#define AGREE    0.03
/* Part of a cycle by which the clock is another. */
#define CHANGED 0.01
/* … and as much less as passes for the same, from one survey to the next. */
#define LEAST_WIDTH 0.005
/* Long enough for a core that was idle to have reached its speed. */
#define WARM_UP_NS 2e6

static bool time_chain(struct fm_lab *lab, enum fm_chain kind, double *least, double *spread,
                       struct fm_error *err)
{
    const struct fm_clock_info *clock = &lab->machine->info.clock;
    uint64_t operations = 1024;
    struct fm_sample sample;
    do {
        operations *= 2;
        if (!lab->machine->ops->chain(lab->machine, kind, operations, &sample, err))
            return false;
    } while (sample.ns < 1000 * clock->resolution_ns && operations < (1u << 24));

    for (double spent = 0; spent < WARM_UP_NS && lab->fastest_ns == 0; spent += sample.ns + 1000)
        if (!lab->machine->ops->chain(lab->machine, kind, operations, &sample, err))
            return false;
    double best = DBL_MAX, second = DBL_MAX;
    for (int i = 0; i < READINGS; i++) {
        if (!lab->machine->ops->chain(lab->machine, kind, operations, &sample, err))
            return false;
        const double each = sample.ns / (double)operations;
        if (each < best) {
            second = best;
            best = each;
        } else if (each < second) {
            second = each;
        }
    }
    *least = best;
    *spread = (second - best) / best + clock->resolution_ns / (best * (double)operations);
    return true;
}

/* Both chains, the least that was seen of each. */
struct chains {
    double add, rotate, add_spread, rotate_spread;
};

/* How many times one is the other. */
static bool is_multiple(const struct chains *chains, double *slow, double *fast)
{
    const double ratio = chains->add / chains->rotate;
    *slow = round(ratio);
    *fast = round(1 / ratio);
    return (*slow >= 1 && *slow <= 3 && fabs(ratio / *slow - 1) < AGREE) ||
           (*fast == 2 && fabs(ratio * *fast - 1) < AGREE);
}

static bool time_once_more(struct fm_lab *lab, enum fm_chain kind, double *least, double *spread,
                           struct fm_error *err)
{
    double ns, wide;
    if (!time_chain(lab, kind, &ns, &wide, err))
        return false;
    if (ns < *least) {
        *least = ns;
        *spread = wide;
    }
    return true;
}

/* In turns until they agree: what disturbs one for a moment has passed by the next. */
static bool time_chains(struct fm_lab *lab, struct chains *chains, struct fm_error *err)
{
    double slow, fast;
    bool agree = false;
    *chains = (struct chains){.add = INFINITY, .rotate = INFINITY};
    for (int turn = 0; turn < TURNS && !agree; turn++) {
        if (!time_once_more(lab, FM_CHAIN_ADD, &chains->add, &chains->add_spread, err) ||
            !time_once_more(lab, FM_CHAIN_ROTATE, &chains->rotate, &chains->rotate_spread, err))
            return false;
        agree = is_multiple(chains, &slow, &fast);
    }
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct chains chains;
    if (!time_chains(lab, &chains, err))
        return false;
    const double add = chains.add, rotate = chains.rotate;
    lab->known.add_ns = add;
    struct fm_finding *cycle = fm_result_finding(lab->result, "cpu.cycle_time", "ns");
    if (!cycle)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");

    double slow, fast;
    cycle->candidate_count = 0;
    lab->known.cycle_ns = 0;
    if (!is_multiple(&chains, &slow, &fast)) {
        fm_undetermined(cycle, "an add chain and a rotate chain do not agree on a cycle");
        cycle->candidates[cycle->candidate_count++] = fm_number(add);
        cycle->candidates[cycle->candidate_count++] = fm_number(rotate);
        return true;
    }
    /* Noise only adds, so the truth is rather below the least reading than above. */
    const double wide = fmax(chains.add_spread + chains.rotate_spread, LEAST_WIDTH);
    fm_measured(cycle, rotate, rotate * (1 - wide), rotate * (1 + wide),
                slow == 1 && fast == 1 ? 0.99 : 0.8, "dependent-chain", NULL);
    fm_list_add(cycle->witnesses[0], sizeof cycle->witnesses[0], FM_LIST, "clock/rotate");
    fm_list_add(cycle->witnesses[0], sizeof cycle->witnesses[0], FM_LIST, "clock/add");
    lab->known.cycle_ns = rotate;
    lab->known.cycle_low = rotate * (1 - wide);
    lab->known.cycle_high = rotate * (1 + wide);

    struct fm_finding *adds = fm_result_finding(lab->result, "cpu.add_latency", "cycles");
    if (adds)
        fm_measured(adds, fast == 2 ? 0.5 : slow, fast == 2 ? 0.5 : slow, fast == 2 ? 0.5 : slow,
                    cycle->confidence, "dependent-chain", NULL);
    return true;
}

/* A clock that has changed stays changed; what disturbs passes. */
bool fm_cycle_drift(struct fm_lab *lab, double *drift, struct fm_error *err)
{
    const double before = lab->known.add_ns;
    double add = INFINITY, spread = 0;
    *drift = 0;
    if (before <= 0)
        return true;
    for (int turn = 0; turn < TURNS; turn++) {
        if (!time_once_more(lab, FM_CHAIN_ADD, &add, &spread, err))
            return false;
        *drift = add / before - 1;
        if (fabs(*drift) <= spread) {
            *drift = 0;
            return true;
        }
    }
    return true;
}

bool fm_cycle_keep_up(struct fm_lab *lab, bool *changed, struct fm_error *err)
{
    double drift;
    if (!fm_cycle_drift(lab, &drift, err))
        return false;
    *changed = fabs(drift) > CHANGED;
    return !*changed || run(lab, err);
}

static const char *const properties[] = {"cpu.cycle_time", "cpu.add_latency", NULL};

const struct fm_probe fm_probe_cycle = {
    .name = "cycle",
    .finds = "the core's cycle time and the latency of an add",
    .needs = "",
    .share = 0.02,
    .vital = true,
    .every_method = true,
    .run = run,
    .properties = properties,
};
