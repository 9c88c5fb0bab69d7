/* The findings about an application: a table with bars. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "report/report.h"
#include "report/values.h"

#define BAR 22

static const struct fm_finding *find(const struct fm_result *result, const char *what,
                                     const char *level)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "app.%s%s%s", what, *level ? "_" : "", level);
    const struct fm_finding *finding = fm_result_find(result, property);
    return finding && finding->status == FM_MEASURED ? finding : NULL;
}

/* Eighths of a cell where the terminal can, whole cells where not. */
static void draw_bar(FILE *out, double share, bool unicode)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int parts = (int)lround(share * BAR * 8);
    int used = parts / 8;
    for (int i = 0; i < used; i++)
        fputs(unicode ? "█" : "#", out);
    if (unicode && parts % 8) {
        fputs(eighths[parts % 8], out);
        used++;
    }
    fprintf(out, "%*s", BAR - used, "");
}

static void print_share(FILE *out, const struct fm_finding *finding)
{
    if (finding)
        fprintf(out, "%7.2f%%", 100 * finding->value.number);
    else
        fprintf(out, "%8s", "-");
}

static void print_range(FILE *out, const struct fm_finding *finding)
{
    char text[32] = "";
    if (finding)
        snprintf(text, sizeof text, "%.1f-%.1f%%", 100 * finding->low.number,
                 100 * finding->high.number);
    fprintf(out, "%13s", text);
}

static void print_seconds(FILE *out, const struct fm_finding *finding)
{
    const double seconds = finding ? finding->high.number : 0;
    if (!finding)
        fprintf(out, "%10s", "");
    else if (seconds >= 1)
        fprintf(out, "%8.2f s", seconds);
    else if (seconds >= 1e-3)
        fprintf(out, "%7.1f ms", seconds * 1e3);
    else
        fprintf(out, "%7.1f us", seconds * 1e6);
}

static void print_level(FILE *out, const struct fm_result *result, const char *level,
                        const char *name, const struct fm_look *look)
{
    const struct fm_finding *served = find(result, "served", level);
    const struct fm_finding *brought = find(result, "fraction", level);
    fprintf(out, "%-6s", name);
    print_share(out, served);
    fputs(" ", out);
    draw_bar(out, served ? served->value.number : 0, look->unicode);
    print_share(out, brought);
    print_range(out, brought);
    print_seconds(out, find(result, "stall", level));
    putc('\n', out);
}

/* Without references there is no table, but a reason. */
static void print_reason(FILE *out, const struct fm_result *result)
{
    const struct fm_finding *references = fm_result_find(result, "app.references");
    char shown[2 * sizeof references->note];
    if (references && references->note[0])
        fprintf(out, "references were not counted: %s\n",
                fm_escape(references->note, strlen(references->note), shown, sizeof shown));
}

static void print_kernels(FILE *out, const struct fm_result *result)
{
    const struct fm_finding *faults = find(result, "page_faults", "");
    const struct fm_finding *switches = find(result, "context_switches", "");
    if (faults)
        fprintf(out, "%.0f page faults", faults->value.number);
    if (faults && switches)
        fprintf(out, ", %.0f context switches", switches->value.number);
    if (faults)
        putc('\n', out);
}

static void print_rest(FILE *out, const struct fm_result *result)
{
    const struct fm_finding *bandwidth = find(result, "memory_bandwidth", "");
    const struct fm_finding *fetch = find(result, "fetch_overhead", "");
    char rate[FM_CELL], most[FM_CELL];
    if (bandwidth)
        fprintf(out, "from memory %s, with what may be written back up to %s\n",
                fm_cell_rate(bandwidth->value.number, rate),
                fm_cell_rate(bandwidth->high.number, most));
    if (fetch)
        fprintf(out, "waiting for instructions %.2g%% of cycles at the least\n",
                100 * fetch->value.number);
}

void fm_report_stat(FILE *out, const struct fm_result *result, const struct fm_look *look)
{
    const struct fm_finding *elapsed = find(result, "elapsed", "");
    const struct fm_finding *idle = find(result, "idle", "");
    const struct fm_finding *references = find(result, "references", "");
    char level[8], name[8], count[FM_CELL];
    if (elapsed && idle)
        fprintf(out, "%.3f s, idle %.0f%%", elapsed->value.number, 100 * idle->value.number);
    if (references)
        fprintf(out, ", %s references", fm_cell_count(references->value.number, count));
    putc('\n', out);
    if (references)
        fprintf(out, "%-6s%8s %-*s%8s%13s%10s\n", "FROM", "SERVED", BAR, "", "BROUGHT", "RANGE",
                "AT MOST");
    for (unsigned i = 1; i <= FM_CACHE_LEVELS; i++) {
        snprintf(level, sizeof level, "l%u", i);
        snprintf(name, sizeof name, "L%u", i);
        if (find(result, "served", level))
            print_level(out, result, level, name, look);
    }
    if (references)
        print_level(out, result, "memory", "Memory", look);
    else
        print_reason(out, result);
    print_rest(out, result);
    print_kernels(out, result);
    if (!look->terse)
        fm_report_notes(out, result, look);
}
