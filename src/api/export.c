/* Results that were written before, and results for other programs. */
#include <stdlib.h>
#include <string.h>

#include "api/config.h"
#include "api/handles.h"
#include "api/page.h"
#include "format/json_result.h"
#include "format/text.h"
#include "report/export.h"

struct fathom_result *fathom_result_read(const char *file, struct fathom_error *err)
{
    struct fm_error inner = {0};
    struct fathom_result *result = calloc(1, sizeof *result);
    if (!result) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    if (fm_result_read(file, &result->result, &inner))
        return result;
    free(result);
    fm_api_fail(err, &inner);
    return NULL;
}

size_t fathom_target_count(void)
{
    size_t count = 0;
    while (fm_exports[count])
        count++;
    return count;
}

struct fathom_target fathom_target_at(size_t index)
{
    return (struct fathom_target){fm_exports[index]->name, fm_exports[index]->writes};
}

static bool refuse_target(const char *target, struct fathom_error *err)
{
    struct fm_error inner;
    char names[256] = "", shown[64];
    for (size_t i = 0; fm_exports[i]; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, fm_exports[i]->name);
    }
    fm_fail(&inner, FM_ERR_USAGE, "to: '%s' is no program that fathom exports to: use one of %s",
            fm_escape(target, strlen(target), shown, sizeof shown), names);
    return fm_api_fail(err, &inner);
}

char *fathom_export(const struct fathom_result *result, const char *target, char **left_out,
                    struct fathom_error *err)
{
    const struct fm_export *exporter = fm_export_find(target);
    struct fm_page text;
    char *missing = NULL;
    size_t length = 0;

    if (!exporter) {
        refuse_target(target, err);
        return NULL;
    }
    FILE *second = open_memstream(&missing, &length);
    if (!second || !fm_page_open(&text)) {
        if (second)
            fclose(second);
        free(missing);
        fm_api_out_of_memory(err);
        return NULL;
    }
    struct fm_export_page page = {
        .result = &result->result, .version = FM_VERSION, .out = text.out, .left_out = second};
    exporter->write(&page);
    char *written = fm_page_close(&text, true, NULL, err);
    if (fclose(second) != 0 || !written || !left_out) {
        free(missing);
        missing = NULL;
    }
    if (left_out)
        *left_out = missing;
    return written;
}
