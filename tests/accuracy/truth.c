#include "truth.h"

#include <math.h>

#include "machine/simulated/simulated.h"
#include "refstring/refstring.h"

static bool miss_ratio(struct fm_machine *machine, const struct fm_cache_description *cache,
                       unsigned level, size_t bytes, unsigned placements, double *ratio,
                       struct fm_error *err)
{
    *ratio = 0;
    for (unsigned i = 0; i < placements; i++) {
        const struct fm_swept_plan plan = {
            .bytes = bytes, .unit = cache->line, .page = machine->info.page_size, .seed = i + 1};
        struct fm_string string;
        struct fm_sample sample;
        if (!machine->ops->place(machine, bytes, 0, err) || !fm_swept_string(&string, &plan, err))
            return false;
        fm_string_prime(&string, 4);
        fm_string_time(&string, string.orders[0].count);
        const bool good = machine->ops->run(machine, &string, 1, &sample, err);
        fm_string_free(&string);
        if (!good)
            return false;
        *ratio += (double)sample.counts.cache_miss[level] / (double)sample.references / placements;
    }
    return true;
}

bool fm_true_capacity(const struct fm_description *description, unsigned level, double *bytes,
                      struct fm_error *err)
{
    /* Noise of the clock has no part in the truth; the pages do. */
    struct fm_description quiet = *description;
    quiet.noise = (struct fm_noise_description){.pollution = description->noise.pollution};
    struct fm_machine *machine = fm_simulated_open(&quiet, 99, err);
    if (!machine)
        return false;
    fm_simulated_count(machine, true);
    const struct fm_cache_description *cache = &description->caches[level];
    const double lines = (double)cache->capacity / cache->line;
    unsigned placements = 1;
    if (description->page_mapping == FM_MAPPING_RANDOM && cache->index != FM_INDEX_VIRTUAL)
        placements = (unsigned)fmin(fmax(4e5 / lines, 6), 200);
    double low = 0, high = 4 * (double)cache->capacity;
    bool good = true;
    while (good && high / fmax(low, 1) > 1.004 && high - low >= 2 * cache->line) {
        const double middle = floor((low + high) / 2 / cache->line) * cache->line;
        double ratio;
        good = miss_ratio(machine, cache, level, (size_t)middle, placements, &ratio, err);
        if (ratio <= 0.05)
            low = middle;
        else
            high = middle;
    }
    machine->ops->close(machine);
    *bytes = low;
    return good;
}
