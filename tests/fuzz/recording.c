/* Whatever is taken for a recording must come out and go in again unchanged. */
#include <stdlib.h>
#include <string.h>

#include "format/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_recording first, second;
    struct fm_error err = {0};
    if (!fm_recording_parse((const char *)data, size, "fuzz.rec", &first, &err)) {
        if (err.code != FM_ERR_USAGE || !*err.text || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    char *once = fm_recording_to_text(&first, "0");
    if (!fm_recording_parse(once, strlen(once), "fuzz.rec", &second, &err))
        abort();
    char *twice = fm_recording_to_text(&second, "0");
    if (strcmp(once, twice) != 0)
        abort();
    free(once);
    free(twice);
    fm_recording_free(&first);
    fm_recording_free(&second);
    return 0;
}
