/* Differences as a table and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "format/json_result.h"
#include "report/diff.h"
#include "report/grid.h"
#include "report/text.h"
#include "report/values.h"

#define DIFF_SCHEMA "fathom-diff/1"

/* Two results are A and B, with their ranges and the change; more are numbered columns. */
static void column_name(const struct fm_diff *diff, size_t result, char name[FM_CELL])
{
    if (diff->result_count == 2)
        strcpy(name, result ? "B" : "A");
    else
        snprintf(name, FM_CELL, "%zu", result + 1);
}

static void side_cell(const struct fm_side *side, char cell[FM_CELL])
{
    char text[FM_CELL];
    if (side->absent)
        strcpy(text, "none");
    else
        fm_cell_finding(side->finding, text);
    snprintf(cell, FM_CELL, "%.60s%s", text, side->odd ? "*" : "");
}

static void range_cell(const struct fm_side *side, char cell[FM_CELL])
{
    *cell = '\0';
    if (!side->absent && fm_side_answers(side))
        fm_cell_range(side->finding, cell);
}

/* "+66%", "x4" or "1/16": what a reader would work out next. */
static void change_cell(const struct fm_side *a, const struct fm_side *b, char cell[FM_CELL])
{
    *cell = '\0';
    if (a->absent || b->absent || a->finding->value.kind != FM_VALUE_NUMBER ||
        b->finding->value.kind != FM_VALUE_NUMBER || !(a->finding->value.number > 0) ||
        !(b->finding->value.number > 0))
        return;
    fm_cell_change(b->finding->value.number / a->finding->value.number, cell);
}

/* The structure, where the row before was of another one. */
static void name_cell(const struct fm_diff *diff, size_t index, char cell[FM_CELL])
{
    const char *property = diff->items[index].property;
    const size_t length = strcspn(property, ".");
    const bool again =
        index > 0 && strncmp(diff->items[index - 1].property, property, length + 1) == 0;
    if (again)
        *cell = '\0';
    else
        fm_cell_structure(property, cell);
}

static void add_row(struct fm_grid *grid, const struct fm_diff *diff, size_t index)
{
    const struct fm_difference *item = &diff->items[index];
    const bool two = diff->result_count == 2;
    const char *dot = strchr(item->property, '.');
    char cell[FM_CELL];
    size_t at = 0;

    fm_grid_row(grid);
    name_cell(diff, index, cell);
    fm_grid_set(grid, at++, cell);
    fm_grid_set(grid, at++, fm_show(dot ? dot + 1 : "", false, cell, sizeof cell));
    for (size_t i = 0; i < diff->result_count; i++) {
        side_cell(&item->sides[i], cell);
        fm_grid_set(grid, at++, cell);
        if (!two)
            continue;
        range_cell(&item->sides[i], cell);
        fm_grid_set(grid, at++, cell);
    }
    if (two) {
        change_cell(&item->sides[0], &item->sides[1], cell);
        fm_grid_set(grid, at++, cell);
    }
}

static void add_columns(struct fm_grid *grid, const struct fm_diff *diff)
{
    const bool two = diff->result_count == 2;
    fm_grid_column(grid, "NAME", false);
    fm_grid_column(grid, "PROPERTY", false);
    for (size_t i = 0; i < diff->result_count; i++) {
        char name[FM_CELL];
        column_name(diff, i, name);
        fm_grid_column(grid, name, true);
        if (two)
            fm_grid_column(grid, "RANGE", true);
    }
    if (two)
        fm_grid_column(grid, "CHANGE", true);
}

static bool draw(FILE *out, const struct fm_diff *diff)
{
    struct fm_grid grid = {0};
    add_columns(&grid, diff);
    for (size_t i = 0; i < diff->count; i++)
        add_row(&grid, diff, i);
    const bool done = fm_grid_print(out, &grid);
    fm_grid_free(&grid);
    return done;
}

static void legend(FILE *out, const struct fm_diff *diff, const struct fm_look *look)
{
    for (size_t i = 0; i < diff->result_count; i++) {
        char name[FM_CELL], machine[512], file[512];
        column_name(diff, i, name);
        fprintf(out, "%s: %s (%s)\n", name,
                fm_show(diff->results[i]->machine.name, look->unicode, machine, sizeof machine),
                fm_show(diff->names[i], look->unicode, file, sizeof file));
    }
    putc('\n', out);
}

static void conclusion(FILE *out, const struct fm_diff *diff)
{
    if (diff->count)
        fprintf(out, "\n%zu of %zu properties differ%s", diff->count, diff->compared,
                diff->count == 1 ? "s" : "");
    else
        fprintf(out, "none of %zu properties differs beyond its interval", diff->compared);
    if (diff->missing)
        fprintf(out, "; %zu could not be compared", diff->missing);
    putc('\n', out);
    for (size_t i = 0; i < diff->result_count; i++) {
        const size_t odd = fm_diff_odd_count(diff, i);
        if (odd)
            fprintf(out, "* odd one out: %zu, in %zu\n", i + 1, odd);
    }
}

bool fm_diff_table(FILE *out, const struct fm_diff *diff, const struct fm_look *look,
                   struct fm_error *err)
{
    legend(out, diff, look);
    if (diff->count && !draw(out, diff))
        return fm_fail(err, FM_ERR_NO_MEMORY, "table: not enough memory to draw it");
    conclusion(out, diff);
    return true;
}

static void write_side(struct fm_json *json, const struct fm_side *side)
{
    static const struct fm_finding nothing = {.status = FM_UNDETERMINED};
    const struct fm_finding *f = side->finding ? side->finding : &nothing;
    fm_json_begin(json, NULL, '{', true);
    fm_json_text(json, "status", fm_status_name(side->absent ? FM_ABSENT : f->status));
    fm_json_value(json, "value", &f->value);
    fm_json_value(json, "low", &f->low);
    fm_json_value(json, "high", &f->high);
    fm_json_bool(json, "odd", side->odd);
    fm_json_end(json, '}');
}

char *fm_diff_json(const struct fm_diff *diff, const char *version)
{
    struct fm_json json;
    if (!fm_json_open(&json))
        return NULL;
    fm_json_begin(&json, NULL, '{', false);
    fm_json_text(&json, "schema", DIFF_SCHEMA);
    fm_json_begin(&json, "fathom", '{', true);
    fm_json_text(&json, "version", version);
    fm_json_end(&json, '}');
    fm_json_begin(&json, "results", '[', false);
    for (size_t i = 0; i < diff->result_count; i++) {
        fm_json_begin(&json, NULL, '{', true);
        fm_json_text(&json, "file", diff->names[i]);
        fm_json_text(&json, "machine", diff->results[i]->machine.name);
        fm_json_integer(&json, "odd", fm_diff_odd_count(diff, i));
        fm_json_end(&json, '}');
    }
    fm_json_end(&json, ']');
    fm_json_begin(&json, "differences", '[', false);
    for (size_t i = 0; i < diff->count; i++) {
        fm_json_begin(&json, NULL, '{', false);
        fm_json_text(&json, "property", diff->items[i].property);
        fm_json_text(&json, "unit", diff->items[i].unit);
        fm_json_begin(&json, "sides", '[', false);
        for (size_t j = 0; j < diff->result_count; j++)
            write_side(&json, &diff->items[i].sides[j]);
        fm_json_end(&json, ']');
        fm_json_end(&json, '}');
    }
    fm_json_end(&json, ']');
    fm_json_integer(&json, "compared", diff->compared);
    fm_json_integer(&json, "not_compared", diff->missing);
    fm_json_end(&json, '}');
    return fm_json_close(&json);
}
