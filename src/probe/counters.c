/* What the counters say, beside what the clock said: every structure that has an event, from the
 * inside out. Each finding carries the meter among its witnesses; where clock and counters do not
 * agree both values are handed on, and neither is called measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "probe/counted.h"
#include "probe/probe.h"

#define METHOD "misses"
/* No line is shorter than this. */
#define SHORTEST_LINE 16
#define LONGEST_LINE  512
/* Pieces of a page that an entry might map, and pages it might map together. */
#define PIECES     16
#define MOST_PAGES 16
#define SMALLEST   512
/* Counts are exact, but what was asked of them is not everything. */
#define SURE      0.995
#define SURE_SOFT 0.95
/* Footprints end here, as they do for the clock. */
static const double ends[] = {[FM_QUICK] = 0x1p26, [FM_NORMAL] = 0x1p27, [FM_THOROUGH] = 0x1p30};

static struct fm_finding *finding_of(struct fm_lab *lab, unsigned bit, const char *attribute,
                                     const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit), attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void report_number(struct fm_lab *lab, struct fm_finding *finding, double value, double low,
                          double high, double sure)
{
    char evidence[48];
    snprintf(evidence, sizeof evidence, "curve:misses-%.*s", (int)strcspn(finding->property, "."),
             finding->property);
    fm_testify(finding, &(struct fm_testimony){.meter = lab->machine->info.counters.meter,
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
        report_number(lab, finding, value, value, value, SURE);
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
        fm_testify(finding, &(struct fm_testimony){.meter = lab->machine->info.counters.meter,
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
        report_number(lab, capacity, found->bytes, found->bytes, found->bytes, SURE);
    else if (capacity)
        report_number(lab, capacity, found->effective, found->low, found->high, SURE_SOFT);
    if (found->ways)
        report_exact(lab, bit, "physical_capacity", "B", found->bytes);
    else
        give_reason(lab, bit, "physical_capacity", "B", "the counters show no number of ways");
    report_shape(lab, bit, found, "line");
}

static void report_tlb(struct fm_lab *lab, unsigned bit, const struct fm_counted *found)
{
    report_exact(lab, bit, "reach", "B", found->bytes);
    report_shape(lab, bit, found, "page_size");
    if (found->line)
        report_exact(lab, bit, "entries", "", found->bytes / (double)found->line);
    else
        give_reason(lab, bit, "entries", "", "what an entry maps was not found");
}

static double far_end(const struct fm_lab *lab)
{
    return fmin(ends[lab->options->effort], (double)fm_lab_limit(lab)) / 2;
}

/* From the inside out: a level's line is at least as long as that of the one inside it, and what
   fits there says nothing of this one. */
static bool ask_levels(struct fm_lab *lab, unsigned first, unsigned count, size_t unit,
                       size_t longest,
                       void (*report)(struct fm_lab *, unsigned, const struct fm_counted *),
                       struct fm_error *err)
{
    double inner = 0;
    for (unsigned bit = first; bit < first + count; bit++) {
        char curve[32];
        snprintf(curve, sizeof curve, "misses-%s", fm_event_structure(bit));
        const struct fm_counted_plan plan = {.bit = bit,
                                             .unit = unit,
                                             .longest_line = longest,
                                             .from =
                                                 inner > 0 ? inner : fmax(SMALLEST, (double)unit),
                                             .to = far_end(lab),
                                             .inner = inner,
                                             .curve = curve};
        struct fm_counted found;
        lab->part = (double)bit / FM_EVENTS;
        if (!(lab->machine->info.counters.events & 1u << bit))
            continue;
        if (!fm_count_structure(lab, &plan, &found, err))
            return false;
        if (!found.missed)
            continue;
        report(lab, bit, &found);
        inner = found.bytes;
        /* Footprints are made of whole pages: entries that map several are not units of theirs. */
        if (found.line > unit && found.line <= lab->machine->info.page_size)
            unit = found.line;
    }
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    return ask_levels(lab, 0, FM_CACHE_LEVELS, SHORTEST_LINE, LONGEST_LINE, report_cache, err) &&
           ask_levels(lab, FM_CACHE_LEVELS, FM_TLB_LEVELS, page / PIECES, page * MOST_PAGES,
                      report_tlb, err);
}

static const char *const properties[] = {NULL};

const struct fm_probe fm_probe_counters = {
    .name = "counters",
    .finds = "capacity, line and ways of every cache and TLB that has an event, by counting",
    .needs = "",
    .curve = "misses-l1d",
    .share = 0.3,
    .reads = FM_READS_COUNTERS,
    .run = run,
    .properties = properties,
};
