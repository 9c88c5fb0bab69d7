/* What the counters showed (misses.c), beside what the clock said. Each finding carries the meter
 * among its witnesses; where clock and counters do not agree both values are handed on, and neither
 * is called measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "probe/counted.h"
#include "probe/probe.h"
#include "probe/served.h"
#include "probe/split.h"

#define METHOD "misses"
/* Counts are exact, but what was asked of them is not everything. */
#define SURE      0.995
#define SURE_SOFT 0.95

static struct fm_finding *finding_of(struct fm_lab *lab, unsigned bit, const char *attribute,
                                     const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit), attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void report_number(struct fm_lab *lab, unsigned bit, struct fm_finding *finding,
                          double value, double low, double high, double sure)
{
    char evidence[48];
    snprintf(evidence, sizeof evidence, "curve:misses-%.*s", (int)strcspn(finding->property, "."),
             finding->property);
    fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                               .method = METHOD,
                                               .evidence = evidence,
                                               .value = fm_number(value),
                                               .low = fmin(low, value),
                                               .high = fmax(high, value),
                                               .confidence = sure});
}

static void report_exact(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                         double value)
{
    struct fm_finding *finding = finding_of(lab, bit, attribute, unit);
    if (finding)
        report_number(lab, bit, finding, value, value, value, SURE);
}

static void give_reason(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                        const char *reason)
{
    struct fm_finding *finding = finding_of(lab, bit, attribute, unit);
    if (finding && finding->status != FM_MEASURED && !finding->note[0])
        fm_undetermined(finding, reason);
}

static void report_ways(struct fm_lab *lab, unsigned bit, const struct fm_counted *found)
{
    if (!found->full) {
        report_exact(lab, bit, "ways", "", (double)found->ways);
        return;
    }
    struct fm_finding *finding = finding_of(lab, bit, "ways", "");
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_text("full"),
                                                   .confidence = SURE});
}

static void report_shape(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                         const char *line)
{
    if (found->line)
        report_exact(lab, bit, line, "B", (double)found->line);
    else
        give_reason(lab, bit, line, "B", "no width of stripes made the difference in misses");
    if (found->ways)
        report_ways(lab, bit, found);
    else
        give_reason(lab, bit, "ways", "",
                    found->sharp ? "no number of ways explains which blocks miss"
                                 : "where the pages lie decides what misses");
}

static void report_cache(struct fm_lab *lab, unsigned bit, const struct fm_counted *found)
{
    struct fm_finding *capacity = finding_of(lab, bit, "capacity", "B");
    if (capacity && found->ways)
        report_number(lab, bit, capacity, found->bytes, found->bytes, found->bytes, SURE);
    else if (capacity)
        report_number(lab, bit, capacity, found->effective, found->low, found->high, SURE_SOFT);
    if (found->ways)
        report_exact(lab, bit, "physical_capacity", "B", found->bytes);
    else
        give_reason(lab, bit, "physical_capacity", "B", "the counters show no number of ways");
    report_shape(lab, bit, found, "line");
}

static void report_tlb(struct fm_lab *lab, unsigned bit, const struct fm_counted *found)
{
    report_shape(lab, bit, found, "page_size");
    /* What begins to miss before it is full does not show what it reaches. */
    if (found->sharp)
        report_exact(lab, bit, "reach", "B", found->bytes);
    else
        give_reason(lab, bit, "reach", "B", "it misses before it is full: its index may be hashed");
    if (found->line)
        report_exact(lab, bit, "entries", "", found->bytes / (double)found->line);
    else
        give_reason(lab, bit, "entries", "", "what an entry maps was not found");
}

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
    for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
        if (!fm_lab_counted(lab, bit))
            continue;
        struct fm_counted found = *fm_lab_counted(lab, bit);
        if (!split_line(lab, bit, &found, err))
            return false;
        (fm_event_is_tlb(bit) ? report_tlb : report_cache)(lab, bit, &found);
    }
    return true;
}

static const char *const properties[] = {NULL};

const struct fm_probe fm_probe_counters = {
    .name = "counters",
    .finds = "capacity, line and ways of every cache and TLB that has an event, by counting",
    .needs = "misses",
    .curve = "misses-l1d",
    .share = 0.01,
    .reads = FM_READS_COUNTERS,
    .run = run,
    .properties = properties,
};
