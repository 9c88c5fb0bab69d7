#include "report/html.h"

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
    for (;;) {
        const size_t plain = strcspn(json, "<>&\xe2");
        fwrite(json, 1, plain, out);
        json += plain;
        if (!*json)
            return;
        if (strncmp(json, "\xe2\x80\xa8", 3) == 0 || strncmp(json, "\xe2\x80\xa9", 3) == 0) {
            fprintf(out, "\\u202%d", json[2] == '\xa8' ? 8 : 9);
            json += 3;
            continue;
        }
        if (*json == '\xe2')
            putc((unsigned char)*json, out);
        else
            fprintf(out, "\\u%04x", *json);
        json++;
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

/* What the page is told beside the results. */
static char *page_json(const struct fm_html *page)
{
    struct fm_json json;
    char *csv = findings_csv(page);
    if (!csv || !fm_json_open(&json)) {
        free(csv);
        return NULL;
    }
    fm_json_begin(&json, NULL, '{', false);
    fm_json_text(&json, "version", page->version);
    fm_json_text(&json, "csv", csv);
    fm_json_end(&json, '}');
    free(csv);
    return fm_json_close(&json);
}

static void write_part(FILE *out, const char *key, const char *json)
{
    fprintf(out, "\"%s\": ", key);
    embed(out, json);
}

bool fm_report_html(FILE *out, const struct fm_html *page, struct fm_error *err)
{
    if (!fm_html_available(err))
        return false;
    char *about = page_json(page);
    char *diff = page->diff ? fm_diff_json(page->diff, page->version) : strdup("null");
    char *results = fm_results_to_json(page->results, page->count, page->version);
    const bool done = about && diff && results;

    if (done) {
        fwrite(fm_template.before, 1, fm_template.before_length, out);
        putc('{', out);
        write_part(out, "page", about);
        putc(',', out);
        write_part(out, "diff", diff);
        putc(',', out);
        write_part(out, "results", results);
        putc('}', out);
        fwrite(fm_template.after, 1, fm_template.after_length, out);
    }
    free(results);
    free(diff);
    free(about);
    return done || fm_fail(err, FM_ERR_NO_MEMORY, "report: not enough memory to write it");
}
