/* What the counters showed (misses.c), beside what the clock said. Each finding carries the meter
 * among its witnesses; where clock and counters do not agree both values are handed on, and neither
 * is called measured. */
#include "probe/counted.h"
#include "probe/probe.h"
#include "probe/served.h"
#include "probe/split.h"

#define METHOD "misses"
/* Counts are exact, but what was asked of them is not everything. */
#define SURE      0.995
#define SURE_SOFT 0.95

/* The line as it is for a flush, of what stripes have shown. */
static bool split_line(struct fm_lab *lab, unsigned bit, struct fm_counted *found,
                       struct fm_error *err)
{
    size_t inner = 0;
    if (bit >= FM_CACHE_LEVELS || !fm_levels_are_counted(lab))
        return true;
    for (unsigned i = 0; i < bit; i++)
        inner = lab->counted[i].line ? lab->counted[i].line : inner;
    return fm_split_line(lab, bit, inner, true, &found->line, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    /* A model that nothing else is known of is asked for what it was built as. */
    const bool effective = !lab->machine->info.counters.alone;
    for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
        if (!fm_lab_counted(lab, bit))
            continue;
        struct fm_counted found = *fm_lab_counted(lab, bit);
        if (!split_line(lab, bit, &found, err))
            return false;
        fm_report_counted(lab, bit, &found,
                          &(struct fm_counted_voice){.meter = fm_lab_meter(lab, bit),
                                                     .method = METHOD,
                                                     .curves = METHOD,
                                                     .kind = "",
                                                     .sure = SURE,
                                                     .sure_soft = SURE_SOFT,
                                                     .effective = effective});
    }
    return true;
}

const struct fm_probe fm_probe_counters = {
    .name = "counters",
    .finds = "capacity, line and ways of every cache and TLB that has an event, by counting",
    .needs = "misses",
    .curve = "misses-l1d",
    .share = 0.01,
    .reads = FM_READS_COUNTERS,
    .run = run,
};
