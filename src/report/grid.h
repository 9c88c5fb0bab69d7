/* Text in columns. Cells come safe to show; a cell may have several lines. */
#ifndef FM_REPORT_GRID_H
#define FM_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fm_grid {
    bool *right;  /* for each column: its cells stand at its right edge */
    char **cells; /* row by row, the headings first; NULL: not set */
    size_t columns, rows, space;
    bool failed; /* memory ran out; nothing is printed then */
};

/* A grid without columns; all zero is one too. */
void fm_grid_free(struct fm_grid *grid);

/* Columns are added before the first row. */
void fm_grid_column(struct fm_grid *grid, const char *heading, bool right);

/* Begins a row, whose cells are then set; those that are not are empty. */
void fm_grid_row(struct fm_grid *grid);
void fm_grid_set(struct fm_grid *grid, size_t column, const char *text);

/* Prints headings and rows, a blank between columns and none at the end of a line; false when
   memory ran out on the way here. */
bool fm_grid_print(FILE *out, const struct fm_grid *grid);

#endif
