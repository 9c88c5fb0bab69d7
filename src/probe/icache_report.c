/* What is told of the first cache of code. */
#include <math.h>
#include <stdio.h>

#include "probe/icache.h"

/* Where all miss the first cache and few the next. */
#define BEYOND     1.6
#define PLACEMENTS 3
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03

struct fm_finding *fm_l1i_finding(struct fm_lab *lab, const char *attribute, const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "l1i.%s", attribute);
    return fm_result_finding(lab->result, property, unit);
}

void fm_report_l1i_open(struct fm_lab *lab, const char *attribute, const char *unit,
                        const char *reason)
{
    struct fm_finding *finding = fm_l1i_finding(lab, attribute, unit);
    if (finding)
        fm_undetermined(finding, reason);
}

void fm_report_l1i(struct fm_lab *lab, const char *attribute, const char *unit, double value,
                   const char *method)
{
    struct fm_finding *finding = fm_l1i_finding(lab, attribute, unit);
    if (finding)
        fm_measured(finding, value, value, value, 0.98, method, "curve:code");
}

/* … where all miss. */
bool fm_time_code_miss(struct fm_lab *lab, struct fm_icache *icache, double capacity,
                       struct fm_code_miss_cost *miss, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .steps = 256};
    const size_t page = lab->machine->info.page_size;
    *miss = (struct fm_code_miss_cost){.low = INFINITY};
    for (int i = 0; i < PLACEMENTS; i++) {
        struct fm_code_fetch found;
        icache->lines.apart = icache->line / 2;
        fm_code_lines_fill(&icache->lines, (size_t)(BEYOND * capacity), icache->line, page);
        if (!fm_lab_place(lab, (size_t)(BEYOND * capacity) + page, err) ||
            !fm_time_fetch(lab, &icache->lines, &care, &found, err))
            return false;
        miss->ns += found.miss_ns / PLACEMENTS;
        miss->low = fmin(miss->low, found.miss_ns);
        miss->high = fmax(miss->high, found.miss_ns);
    }
    return true;
}

void fm_report_l1i_miss(struct fm_lab *lab, const struct fm_code_miss_cost *miss)
{
    struct fm_finding *finding = fm_l1i_finding(lab, "miss_latency", "ns");
    if (finding)
        fm_measured(finding, miss->ns, miss->low * (1 - LEAST_WIDTH),
                    miss->high * (1 + LEAST_WIDTH), 0.95, "lines", "curve:code");
}

void fm_give_up_l1i(struct fm_lab *lab, const char *reason)
{
    fm_report_l1i_open(lab, "capacity", "B", reason);
    fm_report_l1i_open(lab, "ways", "", reason);
    fm_report_l1i_open(lab, "line", "B", reason);
    /* What a miss costs may be told before it is clear of what. */
    const struct fm_finding *miss = fm_l1i_finding(lab, "miss_latency", "ns");
    if (miss && miss->status != FM_MEASURED)
        fm_report_l1i_open(lab, "miss_latency", "ns", reason);
}

void fm_report_l1i_ways(struct fm_lab *lab, const struct fm_icache *icache)
{
    fm_report_l1i(lab, "capacity", "B", (double)icache->ways * (double)icache->way_bytes,
                  "code-gap");
    fm_report_l1i(lab, "ways", "", icache->ways, "code-gap");
    struct fm_finding *ways = fm_l1i_finding(lab, "ways", "");
    if (ways && icache->way_bytes == icache->line)
        ways->value = ways->low = ways->high = fm_text("full");
}

void fm_report_l1i_line(struct fm_lab *lab, const struct fm_icache *icache, size_t brought)
{
    const bool alone = icache->line == brought;
    fm_report_l1i(lab, "line", "B", (double)icache->line, alone ? "lines" : "code-gap");
    struct fm_finding *line = fm_l1i_finding(lab, "line", "B");
    if (line && !alone)
        snprintf(line->note, sizeof line->note,
                 "a miss brings %zu bytes along, in lines of their own", brought);
}
