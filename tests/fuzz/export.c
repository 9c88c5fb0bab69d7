/* Whatever is taken for a result can be given to every other program, and held against itself. */
#include <stdlib.h>
#include <string.h>

#include "format/json_result.h"
#include "report/diff.h"
#include "report/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void export_to_all(const struct fm_result *result)
{
    for (size_t i = 0; fm_exports[i]; i++) {
        char *text = NULL, *missing = NULL;
        size_t length = 0, missing_length = 0;
        struct fm_export_page page = {.result = result,
                                      .version = "0",
                                      .out = open_memstream(&text, &length),
                                      .left_out = open_memstream(&missing, &missing_length)};
        fm_exports[i]->write(&page);
        fclose(page.out);
        fclose(page.left_out);
        free(text);
        free(missing);
    }
}

static void compare_with_itself(const struct fm_result *result)
{
    const struct fm_result *const both[] = {result, result};
    static const char *const names[] = {"a", "b"};
    struct fm_diff diff;
    if (!fm_diff_make(&diff, both, names, 2) || diff.count != 0)
        abort();
    free(fm_diff_json(&diff, "0"));
    fm_diff_free(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_result result;
    if (!fm_result_from_json((const char *)data, size, "fuzz.json", &result, NULL))
        return 0;
    export_to_all(&result);
    compare_with_itself(&result);
    fm_result_free(&result);
    return 0;
}
