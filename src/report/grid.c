#include "report/grid.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"

void fm_grid_free(struct fm_grid *grid)
{
    for (size_t i = 0; i < grid->rows * grid->columns; i++)
        free(grid->cells[i]);
    free(grid->cells);
    free(grid->right);
    *grid = (struct fm_grid){0};
}

/* Room for so many cells, those that are new empty. */
static bool make_room(struct fm_grid *grid, size_t cells)
{
    if (cells <= grid->space)
        return true;
    const size_t larger = cells * 2;
    char **moved = realloc(grid->cells, larger * sizeof *moved);
    if (!moved)
        return false;
    memset(moved + grid->space, 0, (larger - grid->space) * sizeof *moved);
    grid->cells = moved;
    grid->space = larger;
    return true;
}

void fm_grid_column(struct fm_grid *grid, const char *heading, bool right)
{
    bool *aligned = realloc(grid->right, (grid->columns + 1) * sizeof *aligned);
    if (!aligned || !make_room(grid, grid->columns + 1)) {
        grid->right = aligned ? aligned : grid->right;
        grid->failed = true;
        return;
    }
    grid->right = aligned;
    aligned[grid->columns++] = right;
    grid->rows = 1;
    fm_grid_set(grid, grid->columns - 1, heading);
}

void fm_grid_row(struct fm_grid *grid)
{
    if (make_room(grid, (grid->rows + 1) * grid->columns))
        grid->rows++;
    else
        grid->failed = true;
}

void fm_grid_set(struct fm_grid *grid, size_t column, const char *text)
{
    if (grid->failed)
        return; /* the row may not be there */
    char **cell = &grid->cells[(grid->rows - 1) * grid->columns + column];
    free(*cell);
    *cell = strdup(text);
    grid->failed = !*cell;
}

/* The line of a cell, counted from 0; its length is 0 past the last. */
static const char *line_of(const char *cell, size_t line, size_t *length)
{
    const char *at = cell ? cell : "";
    for (; line && *at; line--) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *length = line ? 0 : strcspn(at, "\n");
    return at;
}

static size_t lines_in(const char *cell)
{
    size_t lines = 1;
    for (; cell && *cell; cell++)
        lines += *cell == '\n';
    return lines;
}

static size_t width_of(const struct fm_grid *grid, size_t column)
{
    size_t widest = 0;
    for (size_t row = 0; row < grid->rows; row++) {
        const char *cell = grid->cells[row * grid->columns + column];
        for (size_t line = 0; line < lines_in(cell); line++) {
            size_t length;
            const char *text = line_of(cell, line, &length);
            const size_t width = fm_columns_of(text, length);
            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

/* One line of a row. Blanks are held back until there is text behind them. */
static void print_line(FILE *out, const struct fm_grid *grid, const size_t *widths,
                       char *const *cells, size_t line)
{
    size_t blanks = 0;
    for (size_t i = 0; i < grid->columns; i++) {
        size_t length;
        const char *text = line_of(cells[i], line, &length);
        const size_t rest = widths[i] - fm_columns_of(text, length);
        blanks += (i ? 1 : 0) + (grid->right[i] ? rest : 0);
        if (length) {
            fprintf(out, "%*s%.*s", (int)blanks, "", (int)length, text);
            blanks = 0;
        }
        blanks += grid->right[i] ? 0 : rest;
    }
    putc('\n', out);
}

bool fm_grid_print(FILE *out, const struct fm_grid *grid)
{
    size_t *widths = calloc(grid->columns + 1, sizeof *widths);
    if (!widths || grid->failed) {
        free(widths);
        return false;
    }
    for (size_t i = 0; i < grid->columns; i++)
        widths[i] = width_of(grid, i);
    for (size_t row = 0; row < grid->rows; row++) {
        char *const *cells = grid->cells + row * grid->columns;
        size_t lines = 1;
        for (size_t i = 0; i < grid->columns; i++)
            lines = lines_in(cells[i]) > lines ? lines_in(cells[i]) : lines;
        for (size_t line = 0; line < lines; line++)
            print_line(out, grid, widths, cells, line);
    }
    free(widths);
    return true;
}
