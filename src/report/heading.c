/* The line above the tables. */
#include <string.h>

#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

#define INDENT 2

/* "Neoverse-N1 (aarch64), CPU 0" */
static void name_machine(const struct fm_machine_info *machine, bool unicode, char *text,
                         size_t space)
{
    const bool native = strcmp(machine->kind, "native") == 0;
    char name[FM_INFO_TEXT * 4];
    const int used =
        snprintf(text, space, "%s (%s)", fm_show(machine->name, unicode, name, sizeof name),
                 native ? machine->arch : machine->kind);
    if (native && machine->cpu >= 0)
        snprintf(text + used, space - (size_t)used, ", CPU %d", machine->cpu);
}

/* "a cycle is 0.385 ns (2.60 GHz)"; empty where that is not known. */
static void name_cycle(const struct fm_result *result, char *text, size_t space)
{
    const struct fm_finding *cycle = fm_result_find(result, "cpu.cycle_time");
    char clock[FM_CELL];
    *text = '\0';
    if (cycle && cycle->status == FM_MEASURED && cycle->value.number > 0)
        snprintf(text, space, "a cycle is %.3f ns (%s)", cycle->value.number,
                 fm_cell_clock(1 / cycle->value.number, clock));
}

/* What does not fit on one line is broken between the two. */
void fm_report_heading(FILE *out, const struct fm_result *result, const struct fm_look *look)
{
    char machine[FM_INFO_TEXT * 6], cycle[2 * FM_CELL], line[sizeof machine + sizeof cycle];
    name_machine(&result->machine, look->unicode, machine, sizeof machine);
    name_cycle(result, cycle, sizeof cycle);
    snprintf(line, sizeof line, "%s%s%s", machine, *cycle ? ", " : "", cycle);
    const bool one = !*cycle || fm_columns(line) <= look->width;
    if (look->colour)
        fputs("\033[1m", out);
    if (!one) {
        snprintf(line, sizeof line, "%s,", machine);
        fm_fill(out, line, look->width, 0, INDENT);
        fprintf(out, "%*s", INDENT, "");
    }
    fm_fill(out, one ? line : cycle, look->width, one ? 0 : INDENT, INDENT);
    if (look->colour)
        fputs("\033[0m", out);
}
