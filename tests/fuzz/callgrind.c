/* A model that is taken must be one that callgrind takes; a dump may be anything. */
#include <stdlib.h>
#include <string.h>

#include "format/callgrind_model.h"
#include "meter/callgrind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct fm_description model;
    struct fm_counts counts;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (fm_callgrind_model(text, &model, NULL))
        for (size_t i = 0; i < model.cache_count; i++) {
            const struct fm_cache_description *cache = &model.caches[i];
            const uint64_t sets = cache->capacity / cache->line / cache->ways;
            char option[FM_CALLGRIND_OPTION];
            if (sets * cache->line * cache->ways != cache->capacity || (sets & (sets - 1)) ||
                strlen(fm_callgrind_option(cache, option)) >= sizeof option - 1)
                abort();
        }
    fm_callgrind_read_dump(text, &counts);
    free(text);
    return 0;
}
