#include <stdlib.h>
#include <string.h>

#include "api/config.h"
#include "api/handles.h"
#include "api/page.h"
#include "report/diff.h"
#include "report/html.h"

struct fathom_diff {
    struct fm_diff diff;
    const struct fm_result **results;
    char **names;
};

static bool fill(struct fathom_diff *diff, struct fathom_result *const *results,
                 const char *const *names, size_t count)
{
    diff->results = calloc(count, sizeof *diff->results);
    diff->names = calloc(count + 1, sizeof *diff->names); /* NULL ends it */
    if (!diff->results || !diff->names)
        return false;
    for (size_t i = 0; i < count; i++) {
        diff->results[i] = &results[i]->result;
        diff->names[i] = strdup(names[i]);
        if (!diff->names[i])
            return false;
    }
    return fm_diff_make(&diff->diff, diff->results, (const char *const *)diff->names, count);
}

struct fathom_diff *fathom_diff(struct fathom_result *const *results, const char *const *names,
                                size_t count, struct fathom_error *err)
{
    struct fm_error inner;
    if (count < 2) {
        fm_fail(&inner, FM_ERR_USAGE, "diff: one result differs from nothing: give two or more");
        fm_api_fail(err, &inner);
        return NULL;
    }
    struct fathom_diff *diff = calloc(1, sizeof *diff);
    if (diff && fill(diff, results, names, count))
        return diff;
    fathom_diff_free(diff);
    fm_api_out_of_memory(err);
    return NULL;
}

size_t fathom_diff_count(const struct fathom_diff *diff)
{
    return diff->diff.count;
}

const char *fathom_diff_property(const struct fathom_diff *diff, size_t index)
{
    return index < diff->diff.count ? diff->diff.items[index].property : NULL;
}

bool fathom_diff_odd(const struct fathom_diff *diff, size_t index, size_t result)
{
    return index < diff->diff.count && result < diff->diff.result_count &&
           diff->diff.items[index].sides[result].odd;
}

static bool draw(FILE *out, const struct fm_diff *diff, enum fathom_format format,
                 const struct fm_look *look, struct fm_error *err)
{
    const struct fm_html page = {
        .results = diff->results, .count = diff->result_count, .diff = diff, .version = FM_VERSION};
    switch (format) {
    case FATHOM_TABLE:
        return fm_diff_table(out, diff, look, err);
    case FATHOM_HTML:
        return fm_report_html(out, &page, err);
    default:
        return fm_fail(err, FM_ERR_USAGE,
                       "format: differences are a table, JSON or HTML: use one of them");
    }
}

char *fathom_diff_text(const struct fathom_diff *diff, enum fathom_format format,
                       const struct fathom_look *look, struct fathom_error *err)
{
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_page page;

    if (format == FATHOM_JSON) {
        char *json = fm_diff_json(&diff->diff, FM_VERSION);
        if (!json)
            fm_api_out_of_memory(err);
        return json;
    }
    if (!fm_page_open(&page)) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    const bool drawn = draw(page.out, &diff->diff, format, &inner, &failure);
    return fm_page_close(&page, drawn, &failure, err);
}

void fathom_diff_free(struct fathom_diff *diff)
{
    if (!diff)
        return;
    fm_diff_free(&diff->diff);
    for (size_t i = 0; diff->names && diff->names[i]; i++)
        free(diff->names[i]);
    free(diff->names);
    free(diff->results);
    free(diff);
}
