#include <stdlib.h>
#include <string.h>

#include "api/config.h"
#include "api/handles.h"
#include "api/page.h"
#include "format/file.h"
#include "format/json_result.h"
#include "report/html.h"
#include "report/report.h"
#include "survey/survey.h"

struct fm_look fm_api_look(const struct fathom_look *look)
{
    struct fm_look inner = {.width = 80};
    if (!look)
        return inner;
    inner.width = look->width ? look->width : 80;
    inner.unicode = look->unicode;
    inner.colour = look->colour;
    inner.verbose = look->verbose;
    inner.terse = look->terse;
    return inner;
}

/* What the handles hold, as the other rooms take it; NULL when memory is out. */
static const struct fm_result **inner_results(struct fathom_result *const *results, size_t count)
{
    const struct fm_result **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = &results[i]->result;
    return list;
}

static char *json_text(const struct fm_result *const *results, size_t count,
                       struct fathom_error *err)
{
    char *text = count == 1 ? fm_result_to_json(results[0], FM_VERSION)
                            : fm_results_to_json(results, count, FM_VERSION);
    if (!text)
        fm_api_out_of_memory(err);
    return text;
}

static bool draw(FILE *out, const struct fm_result *const *results, size_t count,
                 enum fathom_format format, const struct fm_look *look, struct fm_error *err)
{
    if (format == FATHOM_HTML)
        return fm_report_html(
            out, &(struct fm_html){.results = results, .count = count, .version = FM_VERSION}, err);
    for (size_t i = 0; i < count; i++) {
        if (format == FATHOM_CSV) {
            fm_report_csv(out, results[i], i == 0);
            continue;
        }
        if (i > 0)
            putc('\n', out);
        if (!fm_report_table(out, results[i], look, err))
            return false;
    }
    return true;
}

char *fathom_text(struct fathom_result *const *results, size_t count, enum fathom_format format,
                  const struct fathom_look *look, struct fathom_error *err)
{
    const struct fm_result **list = inner_results(results, count);
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_page page;
    char *text = NULL;

    if (list && format == FATHOM_JSON)
        text = json_text(list, count, err);
    else if (list && fm_page_open(&page))
        text = fm_page_close(&page, draw(page.out, list, count, format, &inner, &failure), &failure,
                             err);
    else
        fm_api_out_of_memory(err);
    free(list);
    return text;
}

bool fathom_can_render(enum fathom_format format, struct fathom_error *err)
{
    struct fm_error inner;
    return format != FATHOM_HTML || fm_html_available(&inner) || fm_api_fail(err, &inner);
}

char *fathom_curve_text(const struct fathom_curve *curve, enum fathom_format format,
                        const struct fathom_look *look, struct fathom_error *err)
{
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_page page;
    bool drawn = true;

    if (!fm_page_open(&page)) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    if (format == FATHOM_CSV)
        fm_report_points(page.out, (const struct fm_curve *)curve);
    else
        drawn = fm_report_plot(page.out, (const struct fm_curve *)curve, &inner, &failure);
    return fm_page_close(&page, drawn, &failure, err);
}

/* A table of texts, and a line below it where there is one. */
static char *list_text(const char *const *headings, size_t columns, const char **cells, size_t rows,
                       size_t wrapped, const char *below, const struct fathom_look *look,
                       struct fathom_error *err)
{
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_page page;

    if (!cells || !fm_page_open(&page)) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    const bool drawn =
        fm_report_list(page.out, headings, columns, cells, rows, wrapped, &inner, &failure);
    if (drawn && below)
        fprintf(page.out, "not here: %s\n", below);
    return fm_page_close(&page, drawn, &failure, err);
}

size_t fathom_probe_count(void)
{
    return fm_probe_count();
}

struct fathom_probe fathom_probe_at(size_t index)
{
    const struct fm_probe_info probe = fm_probe_at(index);
    return (struct fathom_probe){probe.name, probe.finds, probe.needs, probe.curve};
}

char *fathom_shelf_text(const struct fathom_shelf *shelf, const struct fathom_look *look,
                        struct fathom_error *err)
{
    static const char *const headings[] = {"NAME", "DATA CACHES", "SOURCE"};
    const size_t count = fathom_shelf_count(shelf);
    const char **cells = calloc(count * 3 + 1, sizeof *cells);

    for (size_t i = 0; cells && i < count; i++) {
        const struct fathom_shelf_entry entry = fathom_shelf_at(shelf, i);
        cells[i * 3] = entry.name;
        cells[i * 3 + 1] = entry.caches;
        cells[i * 3 + 2] = entry.source;
    }
    char *text = list_text(headings, 3, cells, count, 1, NULL, look, err);
    free(cells);
    return text;
}

bool fathom_save(const char *file, const char *text, struct fathom_error *err)
{
    struct fm_error inner;
    return fm_file_write(file, text, strlen(text), &inner) || fm_api_fail(err, &inner);
}

bool fathom_can_save(const char *file, struct fathom_error *err)
{
    struct fm_error inner;
    return fm_file_check_writable(file, &inner) || fm_api_fail(err, &inner);
}
