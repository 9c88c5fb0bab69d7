/* Counting before anything is timed: every structure that has an event which can be believed, from
 * the inside out. What is found here is kept in the lab: the clock has less to look for then, and
 * the probe "counters" sets it beside what the clock says. */
#include "probe/believe.h"
#include "probe/counted.h"
#include "probe/probe.h"

static bool ask(struct fm_lab *lab, const struct fm_counted_plan *plan, struct fm_counted *found,
                void *context, struct fm_error *err)
{
    (void)context;
    return fm_count_structure(lab, plan, found, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_counted_round round = {
        .ask = ask, .events = FM_ALL_EVENTS, .curves = "misses", .kind = ""};
    return fm_believe_counters(lab, err) && fm_count_round(lab, &round, lab->counted, err);
}

const struct fm_probe fm_probe_misses = {
    .name = "misses",
    .finds = "misses over footprint of every cache and TLB that has an event, before the clock",
    .needs = "",
    .curve = "misses-l1d",
    .share = 0.2,
    .reads = FM_READS_COUNTERS,
    .run = run,
};
