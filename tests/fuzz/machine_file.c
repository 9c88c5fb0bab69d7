/* Whatever is taken for a machine must be one that can exist. */
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_description machine;
    struct fm_error err = {0};
    if (!fm_description_parse((const char *)data, size, "fuzz.yaml", &machine, &err)) {
        if (err.code != FM_ERR_USAGE || !*err.text || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    if (!machine.cache_count || machine.cache_count > FM_DESCRIBED_CACHES)
        abort();
    for (size_t i = 0; i < machine.cache_count; i++) {
        const struct fm_cache_description *cache = &machine.caches[i];
        if (!cache->ways || cache->line > machine.page_size || cache->latency <= 0 ||
            cache->capacity % ((uint64_t)cache->line * cache->ways))
            abort();
    }
    for (size_t i = 0; i < machine.tlb_count; i++)
        if (!machine.tlbs[i].ways || machine.tlbs[i].entries % machine.tlbs[i].ways ||
            !machine.tlbs[i].page_size_count)
            abort();
    return 0;
}
