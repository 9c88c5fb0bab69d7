#include "report/html.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/json_out.h"
#include "format/json_result.h"
#include "report/report.h"
#include "report/template.h"

bool fm_html_available(struct fm_error *err)
{
    return fm_template.before ||
           fm_fail(err, FM_ERR_UNSUPPORTED,
                   "this fathom was built without the HTML report: install node and npm and build "
                   "it again with -Dreport=enabled, or use json");
}

/* Writes JSON so that an HTML parser finds nothing in it that could end the script element it
   stands in or begin another, and a script parser no end of a line. All of these can only occur
   within strings, where JSON has an escape for them. */
static void embed(FILE *out, const char *json)
{
    for (const char *c = json; *c; c++) {
        if (strchr("<>&", *c))
            fprintf(out, "\\u%04x", *c);
        else if (strncmp(c, "\xe2\x80\xa8", 3) == 0 || strncmp(c, "\xe2\x80\xa9", 3) == 0) {
            fprintf(out, "\\u202%d", c[2] == '\xa8' ? 8 : 9);
            c += 2;
        } else
            putc(*c, out);
    }
}

/* The findings as `--format csv` has them, for who downloads them from the page. */
static char *findings_csv(const struct fm_html *page)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < page->count; i++)
        fm_report_csv(out, page->results[i], i == 0);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void write_list(struct fm_json *json, const char *key, const char *const *list, size_t count)
{
    fm_json_begin(json, key, '[', true);
    for (size_t i = 0; list && i < count && list[i]; i++)
        fm_json_text(json, NULL, list[i]);
    fm_json_end(json, ']');
}

/* What the page is told beside the results. */
static char *page_json(const struct fm_html *page, const char *csv)
{
    struct fm_json json;
    if (!fm_json_open(&json))
        return NULL;
    fm_json_begin(&json, NULL, '{', false);
    fm_json_text(&json, "version", page->version);
    fm_json_bool(&json, "compared", page->compared);
    write_list(&json, "labels", page->labels, page->count);
    write_list(&json, "differs", page->differs, SIZE_MAX);
    fm_json_text(&json, "csv", csv);
    fm_json_end(&json, '}');
    return fm_json_close(&json);
}

bool fm_report_html(FILE *out, const struct fm_html *page, struct fm_error *err)
{
    if (!fm_html_available(err))
        return false;
    char *csv = findings_csv(page);
    char *about = csv ? page_json(page, csv) : NULL;
    char *results = fm_results_to_json(page->results, page->count, page->version);
    const bool done = about && results;

    if (done) {
        fwrite(fm_template.before, 1, fm_template.before_length, out);
        fputs("{\"page\": ", out);
        embed(out, about);
        fputs(", \"results\": ", out);
        embed(out, results);
        putc('}', out);
        fwrite(fm_template.after, 1, fm_template.after_length, out);
    }
    free(results);
    free(about);
    free(csv);
    return done || fm_fail(err, FM_ERR_NO_MEMORY, "report: not enough memory to write it");
}
