/* Whatever is taken for a result must come out and go in again unchanged. */
#include <stdlib.h>
#include <string.h>

#include "format/json_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_result first, second;
    struct fm_error err = {0};
    if (!fm_result_from_json((const char *)data, size, "fuzz.json", &first, &err)) {
        if (err.code != FM_ERR_USAGE || !*err.text || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    char *once = fm_result_to_json(&first, "0");
    if (!fm_result_from_json(once, strlen(once), "fuzz.json", &second, &err))
        abort();
    char *twice = fm_result_to_json(&second, "0");
    if (strcmp(once, twice) != 0)
        abort();
    free(once);
    free(twice);
    fm_result_free(&first);
    fm_result_free(&second);
    return 0;
}
