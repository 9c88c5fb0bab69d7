#include "truth.h"

#include <math.h>

#include "machine/simulated/simulated.h"
#include "refstring/refstring.h"

/* A cache of a machine, and how its misses are counted. */
struct count {
    struct fm_machine *machine;
    unsigned level;
    size_t unit; /* one word is touched in each */
};

static bool miss_ratio(const struct count *count, size_t bytes, unsigned placements, double *ratio,
                       struct fm_error *err)
{
    struct fm_machine *machine = count->machine;
    *ratio = 0;
    for (unsigned i = 0; i < placements; i++) {
        const struct fm_swept_plan plan = {
            .bytes = bytes, .unit = count->unit, .page = machine->info.page_size, .seed = i + 1};
        struct fm_string string;
        struct fm_sample sample;
        if (!machine->ops->place(machine, bytes, 0, err) || !fm_swept_string(&string, &plan, err))
            return false;
        fm_string_prime(&string, 3);
        fm_string_time(&string, string.orders[0].count);
        const bool good = machine->ops->run(machine, &string, 1, &sample, err);
        fm_string_free(&string);
        if (!good)
            return false;
        *ratio +=
            (double)sample.counts.cache_miss[count->level] / (double)sample.references / placements;
    }
    return true;
}

#define MISSES 0.05

/* Halves down to where the ratio is crossed, to within a part of it. */
static bool bracket(const struct count *count, unsigned placements, double within, double *low,
                    double *high, struct fm_error *err)
{
    while (*high / fmax(*low, 1) > 1 + within && *high - *low >= 2 * (double)count->unit) {
        const double unit = (double)count->unit;
        const double middle = floor((*low + *high) / 2 / unit) * unit;
        double ratio;
        if (!miss_ratio(count, (size_t)middle, placements, &ratio, err))
            return false;
        if (ratio <= MISSES)
            *low = middle;
        else
            *high = middle;
    }
    return true;
}

/* On scattered pages a few placements say little, and halving by them goes astray: around where
   they lead, ratios are averaged over many and a straight line is put through them. */
#define AROUND  5
#define FARTHER 0.12

static bool average(const struct count *count, unsigned placements, double *bytes,
                    struct fm_error *err)
{
    double x[AROUND], y[AROUND], mean_x = 0, mean_y = 0, xy = 0, xx = 0;
    for (int i = 0; i < AROUND; i++) {
        const double unit = (double)count->unit;
        const double part = 1 + FARTHER * (2.0 * i / (AROUND - 1) - 1);
        x[i] = fmax(1, round(*bytes * part / unit)) * unit;
        if (!miss_ratio(count, (size_t)x[i], placements, &y[i], err))
            return false;
        mean_x += x[i] / AROUND;
        mean_y += y[i] / AROUND;
    }
    for (int i = 0; i < AROUND; i++) {
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        xx += (x[i] - mean_x) * (x[i] - mean_x);
    }
    /* No further than was looked. */
    const double there = xy > 0 ? mean_x + (MISSES - mean_y) * xx / xy : mean_x;
    *bytes = fmin(fmax(there, x[0]), x[AROUND - 1]);
    return true;
}

bool fm_true_capacity(const struct fm_description *description, unsigned level, double *bytes,
                      struct fm_error *err)
{
    /* Noise of the clock has no part in the truth; the pages do. */
    struct fm_description quiet = *description;
    quiet.noise = (struct fm_noise_description){.pollution = description->noise.pollution};
    const struct fm_cache_description *cache = &description->caches[level];
    struct count count = {fm_simulated_open(&quiet, 99, err), level, cache->line};
    if (!count.machine)
        return false;
    fm_simulated_count(count.machine, true);
    const bool moves =
        description->page_mapping == FM_MAPPING_RANDOM && cache->index != FM_INDEX_VIRTUAL;
    double low = 0, high = 4 * (double)cache->capacity;
    bool good;
    if (!moves) {
        good = bracket(&count, 1, 0.004, &low, &high, err);
        *bytes = low;
    } else {
        /* The more lines, the less luck there is. */
        const double lines = (double)cache->capacity / cache->line;
        const double few = fmin(fmax(1e5 / lines, 6), 40), many = fmin(fmax(6e5 / lines, 12), 400);
        good = bracket(&count, (unsigned)few, 0.05, &low, &high, err);
        *bytes = (low + high) / 2;
        good = good && average(&count, (unsigned)many, bytes, err);
    }
    count.machine->ops->close(count.machine);
    return good;
}
