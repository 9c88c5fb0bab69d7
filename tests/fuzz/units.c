/* Whatever is taken for a size must be a finite, exact number of bytes, and print in little room.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char shown[FM_SIZE_TEXT];
    uint64_t bytes, count;
    double number;
    if (fm_parse_size(text, &bytes) && strlen(fm_format_size(bytes, shown)) >= sizeof shown - 1)
        abort();
    /* A count is a size too, and the same one. */
    if (fm_parse_count(text, &count) && (!fm_parse_size(text, &bytes) || bytes != count))
        abort();
    if (fm_parse_number(text, &number) && !isfinite(number))
        abort();
    free(text);
    return 0;
}
