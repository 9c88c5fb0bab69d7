/* What the counters show of a structure, as findings. */
#include <math.h>
#include <stdio.h>

#include "probe/counted_search.h"
#include "probe/lab.h"

/* Where one in twenty misses is known this well beside an edge that is sharp. */
#define KNOWN_TO 1.01

static struct fm_finding *finding_of(struct fm_lab *lab, unsigned bit, const char *attribute,
                                     const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit), attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void say(struct fm_finding *finding, unsigned bit, const struct fm_counted_voice *voice,
                struct fm_value value, double low, double high, double sure)
{
    char evidence[64];
    if (!finding)
        return;
    snprintf(evidence, sizeof evidence, "curve:%s-%s%s", voice->curves, fm_event_structure(bit),
             voice->kind);
    fm_testify(finding, &(struct fm_testimony){.meter = voice->meter,
                                               .method = voice->method,
                                               .evidence = evidence,
                                               .value = value,
                                               .low = fmin(low, value.number),
                                               .high = fmax(high, value.number),
                                               .confidence = sure});
}

static void say_exact(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                      const struct fm_counted_voice *voice, double value)
{
    say(finding_of(lab, bit, attribute, unit), bit, voice, fm_number(value), value, value,
        voice->sure);
}

static void give_reason(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                        const char *reason)
{
    struct fm_finding *finding = finding_of(lab, bit, attribute, unit);
    if (finding && finding->status != FM_MEASURED && !finding->note[0])
        fm_undetermined(finding, reason);
}

static void report_ways(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                        const struct fm_counted_voice *voice)
{
    if (!found->full)
        say_exact(lab, bit, "ways", "", voice, (double)found->ways);
    else
        say(finding_of(lab, bit, "ways", ""), bit, voice, fm_text("full"), 0, 0, voice->sure);
}

static void report_shape(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                         const struct fm_counted_voice *voice, const char *line)
{
    if (found->line)
        say_exact(lab, bit, line, "B", voice, (double)found->line);
    else
        give_reason(lab, bit, line, "B", "no width of stripes made the difference in misses");
    if (found->ways)
        report_ways(lab, bit, found, voice);
    else
        give_reason(lab, bit, "ways", "",
                    found->sharp
                        ? "no number of ways explains which blocks miss"
                        : "where the pages lie, or who else is there, decides what misses");
}

static void report_cache(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                         const struct fm_counted_voice *voice)
{
    struct fm_finding *capacity = finding_of(lab, bit, "capacity", "B");
    const double high = voice->effective && bit > 0 && bit < FM_CACHE_LEVELS
                            ? fmax(found->bytes, KNOWN_TO * found->effective)
                            : found->bytes;
    /* Where lots are drawn it is not known of what misses whether it would still find its place: it
       may hold all of it or all but that. */
    const double held =
        fm_counts_vary(lab, bit) && bit < FM_CACHE_LEVELS ? 1 - FM_CAPACITY_MISSES : 1;
    if (found->ways)
        say(capacity, bit, voice, fm_number(found->bytes), found->bytes, high, voice->sure);
    else
        say(capacity, bit, voice, fm_number(found->effective), held * found->low,
            found->high / held, voice->sure_soft);
    if (found->ways)
        say_exact(lab, bit, "physical_capacity", "B", voice, found->bytes);
    else
        give_reason(lab, bit, "physical_capacity", "B", "the counters show no number of ways");
    report_shape(lab, bit, found, voice, "line");
}

static void report_tlb(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                       const struct fm_counted_voice *voice)
{
    report_shape(lab, bit, found, voice, "page_size");
    /* What begins to miss before it is full does not show what it reaches. */
    if (found->sharp)
        say_exact(lab, bit, "reach", "B", voice, found->bytes);
    else
        give_reason(lab, bit, "reach", "B", "it misses before it is full: its index may be hashed");
    if (found->sharp && found->line)
        say_exact(lab, bit, "entries", "", voice, found->bytes / (double)found->line);
    else
        give_reason(lab, bit, "entries", "",
                    found->sharp ? "what an entry maps was not found"
                                 : "it misses before it is full: its index may be hashed");
}

void fm_report_counted(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                       const struct fm_counted_voice *voice)
{
    (fm_event_is_tlb(bit) ? report_tlb : report_cache)(lab, bit, found, voice);
}
