#include <ctype.h>
#include <string.h>

#include "report/grid.h"
#include "report/order.h"
#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

#define MOST_ROWS    (FM_CACHE_LEVELS * 4)
#define MOST_COLUMNS 9

/* A column shows one side of one attribute. An optional one is left out when it would be empty. */
struct column {
    const char *heading, *attribute;
    char *(*cell)(const struct fm_finding *finding, char cell[FM_CELL]);
    bool optional;
    const char * or ; /* the attribute it shows of a row that has not the first */
};

/* One table: the structures that make its rows, and what is shown of each. */
struct layout {
    const char *prefix;    /* of the structures' names, before the number of the level */
    const char *also;      /* NULL, or another */
    const char *existence; /* the attribute that is absent, or cannot be asked for, where
                              the structure is or cannot */
    bool must_exist;       /* only structures that have it make rows */
    const char *last;      /* NULL, or the property whose structure makes the last row */
    bool nests;            /* what is asked of a row is asked of the next one outward too */
    struct column columns[MOST_COLUMNS + 1]; /* no heading ends the list */
};

/* The structures that make a row, in their order whichever was found first. */
struct rows {
    char name[MOST_ROWS][FM_PROPERTY_TEXT];
    size_t count;
};

static const struct fm_finding *find(const struct fm_result *result, const char *structure,
                                     const char *attribute)
{
    char property[FM_PROPERTY_TEXT * 2];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    return fm_result_find(result, property);
}

static void structure_of(const char *property, char name[FM_PROPERTY_TEXT])
{
    snprintf(name, FM_PROPERTY_TEXT, "%.*s", (int)strcspn(property, "."), property);
}

static void add_name(struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->name[i], name) == 0)
            return;
    if (rows->count == MOST_ROWS)
        return;
    size_t at = rows->count++;
    for (; at && fm_order(name, rows->name[at - 1]) < 0; at--)
        strcpy(rows->name[at], rows->name[at - 1]);
    strcpy(rows->name[at], name);
}

static bool is_numbered(const char *structure, const char *prefix)
{
    const size_t length = prefix ? strlen(prefix) : 0;
    return prefix && strncmp(structure, prefix, length) == 0 &&
           isdigit((unsigned char)structure[length]);
}

static bool makes_row(const struct fm_result *result, const struct layout *layout,
                      const char *structure)
{
    const struct fm_finding *existence = find(result, structure, layout->existence);
    if (!existence && layout->must_exist)
        return false;
    return (is_numbered(structure, layout->prefix) || is_numbered(structure, layout->also)) &&
           !(existence && (existence->status == FM_ABSENT || existence->status == FM_UNSUPPORTED));
}

static void collect_rows(const struct fm_result *result, const struct layout *layout,
                         struct rows *rows)
{
    char name[FM_PROPERTY_TEXT];
    rows->count = 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        structure_of(result->findings[i].property, name);
        /* What is not supported says of a structure that it is not there, or nothing. */
        if (result->findings[i].status != FM_UNSUPPORTED && makes_row(result, layout, name))
            add_name(rows, name);
    }
    const struct fm_finding *last = layout->last ? fm_result_find(result, layout->last) : NULL;
    if (last && last->status != FM_UNSUPPORTED) {
        structure_of(layout->last, name);
        add_name(rows, name);
    }
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

static const struct layout caches = {
    .prefix = "l",
    .existence = "capacity",
    .last = "memory.latency",
    .nests = true,
    .columns = {{"CAPACITY", "capacity", fm_cell_finding, false},
                {"RANGE", "capacity", fm_cell_range, true},
                {"CLAIMED", "capacity", claim_cell, true},
                {"LINE", "line", fm_cell_finding, false},
                {"WAYS", "ways", fm_cell_finding, false},
                {"LATENCY", "latency", fm_cell_finding, false},
                {"CYCLES", "latency_cycles", fm_cell_finding, false},
                {"MISS", "miss_latency", added_cell, true},
                {"UNIFIED", "unified", fm_cell_finding, true}},
};

static const struct layout fetches = {
    .prefix = "l",
    .existence = "fetch_latency",
    .must_exist = true,
    .last = "memory.fetch_latency",
    .columns = {{"CODE", "code_capacity", fm_cell_finding, false, "capacity"},
                {"RANGE", "code_capacity", fm_cell_range, true, "capacity"},
                {"FETCH", "fetch_latency", added_cell, false},
                {"CYCLES", "fetch_latency_cycles", fm_cell_finding, false}},
};

static const struct layout tlbs = {
    .prefix = "dtlb",
    .also = "itlb",
    .existence = "entries",
    .last = "walk.cost_cold",
    .columns = {{"ENTRIES", "entries", fm_cell_finding, false},
                {"REACH", "reach", fm_cell_finding, false},
                {"WAYS", "ways", fm_cell_finding, false},
                {"MISS", "miss_cost", added_cell, false, "cost_cold"},
                {"CYCLES", "miss_cost_cycles", fm_cell_finding, false, "cost_cold_cycles"},
                {"PAGE", "page_size", fm_cell_finding, false},
                {"UNIFIED", "unified", fm_cell_finding, true}},
};

static const struct layout targets = {
    .prefix = "btb",
    .existence = "entries",
    .last = "btb.entries",
    .columns = {{"ENTRIES", "entries", fm_cell_finding, false},
                {"RANGE", "entries", fm_cell_range, true},
                {"MISS", "miss_cost", added_cell, false}},
};

static bool is_shown(const struct fm_result *result, const struct rows *rows,
                     const struct column *column)
{
    char cell[FM_CELL];
    for (size_t i = 0; column->optional && i < rows->count; i++) {
        column->cell(find(result, rows->name[i], column->attribute), cell);
        if (*cell && strcmp(cell, "-") != 0)
            return true;
    }
    return !column->optional;
}

static bool holds_code_alone(const char *structure)
{
    return structure[strcspn(structure, "@") - 1] == 'i';
}

/* Of a level that is claimed but was not made out there is only the capacity: what was asked of the
   next level inside would have been asked of it too. */
static bool was_asked(const struct fm_result *result, const struct rows *rows, size_t row,
                      const char *attribute)
{
    const char *structure = rows->name[row];
    const struct fm_finding *capacity = find(result, structure, "capacity");
    if (!capacity || capacity->status != FM_UNDETERMINED)
        return false;
    while (row-- > 0)
        if (holds_code_alone(rows->name[row]) == holds_code_alone(structure)) {
            const struct fm_finding *inside = find(result, rows->name[row], attribute);
            return inside && inside->status != FM_UNSUPPORTED && inside->status != FM_ABSENT;
        }
    return false;
}

static void add_row(struct fm_grid *grid, const struct fm_result *result,
                    const struct layout *layout, const struct rows *rows, size_t row,
                    const struct column *const *columns)
{
    const char *structure = rows->name[row];
    char cell[FM_CELL];
    size_t at = 0;

    fm_grid_row(grid);
    fm_grid_set(grid, at++, fm_cell_structure(structure, cell));
    for (; *columns; columns++) {
        const struct fm_finding *finding = find(result, structure, (*columns)->attribute);
        if (!finding && (*columns)->or)
            finding = find(result, structure, (*columns)->or);
        const bool open =
            !finding && layout->nests && was_asked(result, rows, row, (*columns)->attribute);
        fm_grid_set(grid, at++, open ? "?" : (*columns)->cell(finding, cell));
    }
}

static void fill_grid(struct fm_grid *grid, const struct fm_result *result,
                      const struct layout *layout, const struct rows *rows)
{
    const struct column *shown[MOST_COLUMNS + 1] = {NULL};
    size_t count = 0;

    fm_grid_column(grid, "NAME", false);
    for (const struct column *column = layout->columns; column->heading; column++)
        if (is_shown(result, rows, column)) {
            shown[count++] = column;
            fm_grid_column(grid, column->heading, true);
        }
    for (size_t i = 0; i < rows->count; i++)
        add_row(grid, result, layout, rows, i, shown);
}

/* Draws a table if it has rows. A blank line parts it from the table before, if one was drawn. */
static bool draw_table(FILE *out, const struct fm_result *result, const struct layout *layout,
                       bool *drawn)
{
    struct rows rows;
    collect_rows(result, layout, &rows);
    if (rows.count == 0)
        return true;
    if (*drawn)
        putc('\n', out);
    *drawn = true;

    struct fm_grid grid = {0};
    fill_grid(&grid, result, layout, &rows);
    const bool done = fm_grid_print(out, &grid);
    fm_grid_free(&grid);
    return done;
}

bool fm_report_table(FILE *out, const struct fm_result *result, const struct fm_look *look,
                     struct fm_error *err)
{
    bool drawn = false;
    fm_report_heading(out, result, look);
    if (!draw_table(out, result, &caches, &drawn) || !draw_table(out, result, &fetches, &drawn) ||
        !draw_table(out, result, &tlbs, &drawn) || !draw_table(out, result, &targets, &drawn))
        return fm_fail(err, FM_ERR_NO_MEMORY, "table: not enough memory to draw it");

    if (look->verbose)
        fm_report_sentences(out, result, look);
    if (look->terse)
        return true;
    fm_report_notes(out, result, look);
    return fm_report_ledger(out, result, look, err);
}
