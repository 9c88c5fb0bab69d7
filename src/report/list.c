#include <stdlib.h>
#include <string.h>

#include "report/grid.h"
#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

#define CELL_TEXT  1024
#define LEAST_WRAP 16 /* columns below which wrapped text is no longer read */

/* What the other columns leave of the width. */
static unsigned width_left(const char *const *headings, size_t columns, const char *const *cells,
                           size_t rows, size_t wrapped, unsigned width)
{
    size_t used = columns - 1;
    for (size_t column = 0; column < columns; column++) {
        size_t widest = strlen(headings[column]);
        for (size_t row = 0; row < rows; row++) {
            char safe[CELL_TEXT];
            fm_show(cells[row * columns + column], true, safe, sizeof safe);
            const size_t length = fm_columns(safe);
            widest = length > widest ? length : widest;
        }
        used += column == wrapped ? 0 : widest;
    }
    return used + LEAST_WRAP < width ? width - (unsigned)used : LEAST_WRAP;
}

/* Breaks text into lines at blanks. */
static char *filled(const char *text, unsigned width)
{
    char *lines = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&lines, &length);
    if (!out)
        return NULL;
    fm_fill(out, text, width, 0, 0);
    if (fclose(out) != 0) {
        free(lines);
        return NULL;
    }
    lines[length - 1] = '\0';
    return lines;
}

static void set_cell(struct fm_grid *grid, size_t column, const char *text, bool wraps,
                     unsigned width, bool unicode)
{
    char safe[CELL_TEXT];
    fm_show(text, unicode, safe, sizeof safe);
    char *lines = wraps ? filled(safe, width) : NULL;
    if (wraps && !lines)
        grid->failed = true;
    else
        fm_grid_set(grid, column, wraps ? lines : safe);
    free(lines);
}

bool fm_report_list(FILE *out, const char *const *headings, size_t columns,
                    const char *const *cells, size_t rows, size_t wrapped,
                    const struct fm_look *look, struct fm_error *err)
{
    const unsigned width = width_left(headings, columns, cells, rows, wrapped, look->width);
    struct fm_grid grid = {0};
    for (size_t i = 0; i < columns; i++)
        fm_grid_column(&grid, headings[i], false);
    for (size_t row = 0; row < rows; row++) {
        fm_grid_row(&grid);
        for (size_t i = 0; i < columns; i++)
            set_cell(&grid, i, cells[row * columns + i], i == wrapped, width, look->unicode);
    }
    const bool done = fm_grid_print(out, &grid);
    fm_grid_free(&grid);
    return done || fm_fail(err, FM_ERR_NO_MEMORY, "table: not enough memory to draw it");
}

char *fm_report_caches(const struct fm_description *description, char *text, size_t space)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < description->cache_count; i++) {
        const struct fm_cache_description *cache = &description->caches[i];
        char name[FM_CELL], size[FM_CELL];
        if (cache->holds == FM_HOLDS_INSTRUCTIONS || used >= space)
            continue;
        used += (size_t)snprintf(text + used, space - used, "%s%s %s", used ? ", " : "",
                                 fm_cell_structure(cache->name, name),
                                 fm_cell_size((double)cache->capacity, size));
    }
    return text;
}
