#include <ctype.h>
#include <string.h>

#include "report/report.h"
#include "report/smart.h"
#include "report/text.h"
#include "report/values.h"

#define LEVELS (FM_CACHE_LEVELS * 4)

/* The structures that make a row, in the order they were found; memory comes last. */
struct levels {
    char name[LEVELS][FM_PROPERTY_TEXT];
    size_t count;
};

static const struct fm_finding *find(const struct fm_result *result, const char *structure,
                                     const char *attribute)
{
    char property[FM_PROPERTY_TEXT * 2];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    return fm_result_find(result, property);
}

static void add_level(struct levels *levels, const char *name)
{
    for (size_t i = 0; i < levels->count; i++)
        if (strcmp(levels->name[i], name) == 0)
            return;
    if (levels->count < LEVELS)
        strcpy(levels->name[levels->count++], name);
}

static bool is_absent(const struct fm_result *result, const char *structure)
{
    const struct fm_finding *capacity = find(result, structure, "capacity");
    return capacity && capacity->status == FM_ABSENT;
}

static void collect_levels(const struct fm_result *result, struct levels *levels)
{
    char name[FM_PROPERTY_TEXT];
    levels->count = 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        const char *property = result->findings[i].property;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(property, "."), property);
        if (name[0] == 'l' && isdigit((unsigned char)name[1]) && !is_absent(result, name))
            add_level(levels, name);
    }
    if (find(result, "memory", "latency"))
        add_level(levels, "memory");
}

static char *claim_cell(const struct fm_finding *finding, char cell[FM_CELL])
{
    *cell = '\0';
    return finding ? fm_cell_value(&finding->claimed, finding->unit, cell) : cell;
}

static char *added_cell(const struct fm_finding *finding, char cell[FM_CELL])
{
    char text[FM_CELL];
    fm_cell_finding(finding, text);
    snprintf(cell, FM_CELL, "%s%.32s", isdigit((unsigned char)*text) ? "+" : "", text);
    return cell;
}

/* A column shows one side of one attribute. An optional one is left out when it would be empty. */
static const struct column {
    const char *heading, *attribute;
    char *(*cell)(const struct fm_finding *finding, char cell[FM_CELL]);
    bool optional;
} columns[] = {
    {"CAPACITY", "capacity", fm_cell_finding, false},
    {"RANGE", "capacity", fm_cell_range, true},
    {"CLAIMED", "capacity", claim_cell, true},
    {"LINE", "line", fm_cell_finding, false},
    {"WAYS", "ways", fm_cell_finding, false},
    {"LATENCY", "latency", fm_cell_finding, false},
    {"CYCLES", "latency_cycles", fm_cell_finding, false},
    {"MISS", "miss_latency", added_cell, true},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static bool is_shown(const struct fm_result *result, const struct levels *levels,
                     const struct column *column)
{
    char cell[FM_CELL];
    for (size_t i = 0; column->optional && i < levels->count; i++) {
        column->cell(find(result, levels->name[i], column->attribute), cell);
        if (*cell && strcmp(cell, "-") != 0)
            return true;
    }
    return !column->optional;
}

static bool add_row(struct libscols_table *table, const struct fm_result *result,
                    const char *structure, const bool shown[COLUMNS])
{
    char cell[FM_CELL];
    struct libscols_line *line = scols_table_new_line(table, NULL);
    size_t at = 0;

    if (!line || scols_line_set_data(line, at++, fm_cell_structure(structure, cell)) != 0)
        return false;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!shown[i])
            continue;
        columns[i].cell(find(result, structure, columns[i].attribute), cell);
        if (scols_line_set_data(line, at++, cell) != 0)
            return false;
    }
    return true;
}

static bool fill_table(struct libscols_table *table, const struct fm_result *result,
                       const struct levels *levels)
{
    bool shown[COLUMNS];

    if (!scols_table_new_column(table, "NAME", 0, 0))
        return false;
    for (size_t i = 0; i < COLUMNS; i++) {
        shown[i] = is_shown(result, levels, &columns[i]);
        if (shown[i] && !scols_table_new_column(table, columns[i].heading, 0, SCOLS_FL_RIGHT))
            return false;
    }
    for (size_t i = 0; i < levels->count; i++)
        if (!add_row(table, result, levels->name[i], shown))
            return false;
    return scols_print_table(table) == 0;
}

/* "Neoverse-N1 (aarch64), CPU 0, a cycle is 0.385 ns (2.60 GHz)" */
static void print_heading(FILE *out, const struct fm_result *result, const struct fm_look *look)
{
    const struct fm_machine_info *machine = &result->machine;
    const bool native = strcmp(machine->kind, "native") == 0;
    const struct fm_finding *cycle = fm_result_find(result, "cpu.cycle_time");
    char name[FM_INFO_TEXT * 4], text[FM_INFO_TEXT * 8];
    int used = snprintf(text, sizeof text, "%s (%s)",
                        fm_show(machine->name, look->unicode, name, sizeof name),
                        native ? machine->arch : machine->kind);

    if (native && machine->cpu >= 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", CPU %d", machine->cpu);
    if (cycle && cycle->status == FM_MEASURED && cycle->value.number > 0)
        snprintf(text + used, sizeof text - (size_t)used, ", a cycle is %.3f ns (%.2f GHz)",
                 cycle->value.number, 1 / cycle->value.number);
    if (look->colour)
        fputs("\033[1m", out);
    fm_fill(out, text, look->width, 0, 0);
    if (look->colour)
        fputs("\033[0m", out);
}

bool fm_report_table(FILE *out, const struct fm_result *result, const struct fm_look *look,
                     struct fm_error *err)
{
    struct levels levels;
    collect_levels(result, &levels);
    print_heading(out, result, look);

    struct libscols_table *table = fm_smart_table(out, look);
    const bool done = table && fill_table(table, result, &levels);
    scols_unref_table(table);
    if (!done)
        return fm_fail(err, FM_ERR_NO_MEMORY, "table: not enough memory to draw it");

    if (look->verbose)
        fm_report_sentences(out, result, look);
    if (!look->terse)
        fm_report_notes(out, result, look);
    return true;
}
