#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/smart.h"
#include "report/text.h"
#include "report/values.h"

#define CELL_TEXT  1024
#define LEAST_WRAP 16 /* columns below which wrapped text is no longer read */

struct libscols_table *fm_smart_table(FILE *out, const struct fm_look *look)
{
    struct libscols_table *table = scols_new_table();
    if (!table)
        return NULL;
    scols_table_set_stream(table, out);
    /* The caller knows the width; without force smartcols would ask the terminal itself. */
    scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
    scols_table_set_termwidth(table, look->width);
    /* Cells are made safe before they come here; escaping twice would show in the text. */
    scols_table_enable_noencoding(table, 1);
    return table;
}

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

/* Breaks text into lines at blanks; smartcols by itself would break inside words. */
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

static bool set_cell(struct libscols_line *line, size_t column, const char *text, bool wraps,
                     unsigned width, bool unicode)
{
    char safe[CELL_TEXT];
    fm_show(text, unicode, safe, sizeof safe);
    if (!wraps)
        return scols_line_set_data(line, column, safe) == 0;
    char *lines = filled(safe, width);
    return lines && scols_line_refer_data(line, column, lines) == 0;
}

static bool add_column(struct libscols_table *table, const char *heading, bool wraps)
{
    struct libscols_column *column =
        scols_table_new_column(table, heading, 0, wraps ? SCOLS_FL_WRAP : 0);
    return column && (!wraps || scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
                                                          scols_wrapnl_nextchunk, NULL) == 0);
}

static bool fill_list(struct libscols_table *table, const char *const *headings, size_t columns,
                      const char *const *cells, size_t rows, size_t wrapped,
                      const struct fm_look *look)
{
    const unsigned width = width_left(headings, columns, cells, rows, wrapped, look->width);
    for (size_t i = 0; i < columns; i++)
        if (!add_column(table, headings[i], i == wrapped))
            return false;
    for (size_t row = 0; row < rows; row++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        for (size_t i = 0; i < columns; i++)
            if (!line ||
                !set_cell(line, i, cells[row * columns + i], i == wrapped, width, look->unicode))
                return false;
    }
    return scols_print_table(table) == 0;
}

bool fm_report_list(FILE *out, const char *const *headings, size_t columns,
                    const char *const *cells, size_t rows, size_t wrapped,
                    const struct fm_look *look, struct fm_error *err)
{
    struct libscols_table *table = fm_smart_table(out, look);
    const bool done = table && fill_list(table, headings, columns, cells, rows, wrapped, look);
    scols_unref_table(table);
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
