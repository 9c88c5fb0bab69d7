#include <stdio.h>
#include <string.h>

#include "stat/stat.h"

#define METHOD "fills"
#define SURE   0.99

struct writer {
    struct fm_result *result;
    const char *witness, *why_not;
    bool good;
};

static struct fm_finding *add(struct writer *writer, const char *property, const char *unit)
{
    struct fm_finding *finding = fm_result_finding(writer->result, property, unit);
    writer->good &= finding != NULL;
    return finding;
}

static void measured(struct writer *writer, const char *property, const char *unit,
                     struct fm_share share, const char *witness)
{
    struct fm_finding *finding = add(writer, property, unit);
    if (!finding)
        return;
    finding->status = FM_MEASURED;
    finding->value = fm_number(share.value);
    finding->low = fm_number(share.low);
    finding->high = fm_number(share.high);
    finding->confidence = SURE;
    snprintf(finding->method, sizeof finding->method, "%s", METHOD);
    fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, witness);
}

static void unsupported(struct writer *writer, const char *property, const char *unit,
                        const char *why)
{
    struct fm_finding *finding = add(writer, property, unit);
    if (!finding)
        return;
    finding->status = FM_UNSUPPORTED;
    snprintf(finding->note, sizeof finding->note, "%s", why);
}

/* "app.served_l1" … "app.served_memory". */
static const char *named(const char *what, size_t level, size_t levels, char text[FM_PROPERTY_TEXT])
{
    if (level == levels)
        snprintf(text, FM_PROPERTY_TEXT, "app.%s_memory", what);
    else
        snprintf(text, FM_PROPERTY_TEXT, "app.%s_l%zu", what, level + 1);
    return text;
}

/* A level's share needs what came into it and what came into the one inside it. */
static bool known_served(const struct fm_stat_counts *counts, size_t levels, size_t level)
{
    const bool inside = level == 0 || counts->fills[level - 1] >= 0;
    return counts->references >= 0 && inside && (level == levels || counts->fills[level] >= 0);
}

/* What is left to the first level needs all others. */
static bool known_brought(const struct fm_stat_counts *counts, size_t levels, size_t level)
{
    bool known = known_served(counts, levels, level);
    for (size_t i = 1; level == 0 && i <= levels; i++)
        known = known && known_served(counts, levels, i);
    return known;
}

static void report_shares(struct writer *writer, const char *what, size_t levels,
                          const struct fm_stat_counts *counts,
                          bool (*known)(const struct fm_stat_counts *, size_t, size_t),
                          const struct fm_share *shares)
{
    char property[FM_PROPERTY_TEXT];
    for (size_t i = 0; i <= levels; i++)
        if (known(counts, levels, i))
            measured(writer, named(what, i, levels, property), "", shares[i], writer->witness);
        else
            unsupported(writer, named(what, i, levels, property), "", writer->why_not);
}

/* A level that was not counted is left out: what the one inside it asked for came from further
   out. */
static struct fm_stat_counts without_gaps(const struct fm_stat_counts *counts, size_t levels)
{
    struct fm_stat_counts whole = *counts;
    for (size_t i = 0; i < levels; i++)
        if (whole.fills[i] < 0)
            whole.fills[i] = i ? whole.fills[i - 1] : 0;
    return whole;
}

/* At most: each reference waits for the whole latency, and no two at the same time. */
static void report_stalls(struct writer *writer, const struct fm_stat_counts *counts,
                          const struct fm_stat_machine *machine, const struct fm_share *served)
{
    for (size_t i = 1; i <= machine->count; i++) {
        char property[FM_PROPERTY_TEXT];
        const double latency =
            i == machine->count ? machine->memory_ns : machine->levels[i].latency_ns;
        const double most = served[i].high * counts->references * latency * 1e-9;
        named("stall", i, machine->count, property);
        if (!known_served(counts, machine->count, i))
            unsupported(writer, property, "s", writer->why_not);
        else if (!(latency > 0))
            unsupported(writer, property, "s", "the latency of this level was not measured");
        else
            measured(writer, property, "s", (struct fm_share){most, 0, most}, writer->witness);
    }
}

/* A line that is filled may push a dirty one out, which goes the other way. */
static void report_bandwidth(struct writer *writer, const struct fm_stat_counts *counts,
                             const struct fm_stat_machine *machine,
                             const struct fm_stat_times *times)
{
    static const char property[] = "app.memory_bandwidth";
    if (machine->count == 0 || counts->fills[machine->count - 1] < 0 || !(times->wall_s > 0)) {
        unsupported(writer, property, "B/s", writer->why_not);
        return;
    }
    const double bytes =
        counts->fills[machine->count - 1] * machine->levels[machine->count - 1].line;
    const double rate = bytes / times->wall_s;
    measured(writer, property, "B/s", (struct fm_share){rate, rate, 2 * rate}, writer->witness);
}

static double cycles_of(const struct fm_stat_counts *counts, const struct fm_stat_machine *machine,
                        const struct fm_stat_times *times)
{
    if (counts->cycles > 0)
        return counts->cycles;
    return machine->cycle_ns > 0 && times->cpu_s > 0 ? times->cpu_s * 1e9 / machine->cycle_ns : 0;
}

/* Each fetch that misses loses a cycle at the least, which is how the paper counts it. Cycles that
   were counted as lost are lost to the front end, and not all for want of a line. */
static void report_fetches(struct writer *writer, const struct fm_stat_counts *counts,
                           const struct fm_stat_machine *machine, const struct fm_stat_times *times)
{
    static const char property[] = "app.fetch_overhead";
    const bool stalls = counts->fetch_stalls >= 0;
    const double cycles = cycles_of(counts, machine, times);
    const double lost = stalls ? counts->fetch_stalls : counts->fetch_misses;
    if (lost < 0)
        unsupported(writer, property, "", writer->why_not);
    else if (!(cycles > 0))
        unsupported(writer, property, "", "the cycle time was not measured");
    else {
        const double part = lost / cycles;
        const double value = part > 1 ? 1 : part;
        measured(writer, property, "", (struct fm_share){value, 0, stalls ? value : 1},
                 writer->witness);
    }
}

static void report_exactly(struct writer *writer, const char *property, const char *unit,
                           double value, const char *witness)
{
    if (value < 0)
        unsupported(writer, property, unit, "nothing on this computer counted it");
    else
        measured(writer, property, unit, (struct fm_share){value, value, value}, witness);
}

static void report_times(struct writer *writer, const struct fm_stat_times *times)
{
    if (!(times->wall_s > 0) || times->cpu_s < 0) {
        unsupported(writer, "app.idle", "", "the command's time is not known");
        return;
    }
    const double busy = times->cpu_s / times->wall_s;
    report_exactly(writer, "app.idle", "", busy < 1 ? 1 - busy : 0, times->witness);
    report_exactly(writer, "app.elapsed", "s", times->wall_s, "clock");
    report_exactly(writer, "app.cpu_time", "s", times->cpu_s, times->witness);
    report_exactly(writer, "app.page_faults", "", times->page_faults, times->witness);
    report_exactly(writer, "app.context_switches", "", times->switches, times->witness);
}

bool fm_stat_report(struct fm_result *result, const struct fm_stat_counts *counts,
                    const struct fm_stat_machine *machine, const struct fm_stat_times *times,
                    unsigned element, const char *witness, const char *why_not,
                    struct fm_error *err)
{
    struct writer writer = {result, witness, why_not, true};
    struct fm_share served[FM_STAT_LEVELS + 1], brought[FM_STAT_LEVELS + 1];
    const struct fm_stat_counts whole = without_gaps(counts, machine->count);
    const double all = counts->references;
    if (all >= 0)
        measured(&writer, "app.references", "", (struct fm_share){all, all, all}, witness);
    else
        unsupported(&writer, "app.references", "", why_not);
    fm_shares_served(&whole, machine->count, served);
    fm_shares_brought(&whole, machine, element, brought);
    report_shares(&writer, "fraction", machine->count, counts, known_brought, brought);
    report_shares(&writer, "served", machine->count, counts, known_served, served);
    report_stalls(&writer, counts, machine, served);
    report_bandwidth(&writer, counts, machine, times);
    report_fetches(&writer, counts, machine, times);
    report_times(&writer, times);
    return writer.good || fm_fail(err, FM_ERR_NO_MEMORY, "no memory for findings");
}
