#include "analysis/crossing.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/isotonic.h"
#include "analysis/median.h"
#include "core/rng.h"

struct work {
    const struct fm_placements *data;
    double level;
    double *weight, *mean, *k, *fit; /* of the footprints that have values */
};

/* The crossing of the mean of the drawn placements, as log k; -INFINITY or INFINITY where the
   curve is above from the start or never. NAN when memory is out. */
static double crossing_of(const struct work *work, const size_t *drawn)
{
    const struct fm_placements *data = work->data;
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++) {
        double sum = 0, count = 0;
        for (size_t j = 0; j < data->count; j++) {
            double m = data->misses[drawn[j] * data->n + i];
            if (!isnan(m)) {
                sum += m;
                count++;
            }
        }
        if (count == 0)
            continue;
        work->weight[n] = count;
        work->mean[n] = sum / count;
        work->k[n++] = log(data->k[i]);
    }
    if (!fm_isotonic(work->mean, work->weight, n, work->fit))
        return NAN;
    size_t above = 0;
    while (above < n && work->fit[above] <= work->level)
        above++;
    if (above == 0 || above == n)
        return above == 0 ? -INFINITY : INFINITY;
    double from = work->fit[above - 1], to = work->fit[above];
    double part = (work->level - from) / (to - from);
    return work->k[above - 1] + part * (work->k[above] - work->k[above - 1]);
}

/* The normal quantile z with P(|Z| <= z) = confidence. */
static double normal_quantile(double confidence)
{
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        *(erf(z / sqrt(2)) < confidence ? &low : &high) = z;
    }
    return low;
}

/* How much wider an interval from `count` draws must be than the spread of their resampled mean:
   the mean's spread is underrated by resampling, and Student's t (expanded in the inverse of its
   degrees of freedom) stands in for the normal. */
static double few_draws(size_t count, double confidence)
{
    double z = normal_quantile(confidence), v = (double)count - 1;
    double z2 = z * z;
    double t = z * (1 + (z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
                    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v));
    return t / z * sqrt((v + 1) / v);
}

static double widened(double at, double bound, double factor)
{
    return isfinite(bound) && isfinite(at) ? at + factor * (bound - at) : bound;
}

static bool bootstrap(const struct work *work, double at, double confidence, unsigned resamples,
                      uint64_t seed, size_t *drawn, double *found, struct fm_crossing *crossing)
{
    size_t count = work->data->count;
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    for (unsigned r = 0; r < resamples; r++) {
        for (size_t j = 0; j < count; j++)
            drawn[j] = fm_rng_below(&rng, count);
        found[r] = crossing_of(work, drawn);
        if (isnan(found[r]))
            return false;
    }
    fm_sort(found, resamples);
    size_t cut = (size_t)((1 - confidence) / 2 * resamples);
    double factor = few_draws(count, confidence);
    crossing->low = exp(widened(at, fmin(at, found[cut]), factor));
    crossing->high = exp(widened(at, fmax(at, found[resamples - 1 - cut]), factor));
    return true;
}

static bool solve(struct work *work, double confidence, unsigned resamples, uint64_t seed,
                  size_t *drawn, double *found, struct fm_crossing *crossing)
{
    const struct fm_placements *data = work->data;
    for (size_t j = 0; j < data->count; j++)
        drawn[j] = j;
    double at = crossing_of(work, drawn);
    if (isnan(at))
        return false;
    double first = data->k[0], last = data->k[data->n - 1];
    *crossing = (struct fm_crossing){.inside = isfinite(at), .low = first, .high = last};
    crossing->at = isfinite(at) ? exp(at) : at > 0 ? last : first;
    if (data->count < 2 || resamples == 0)
        return true;
    return bootstrap(work, at, confidence, resamples, seed, drawn, found, crossing);
}

bool fm_find_crossing(const struct fm_placements *data, double level, double confidence,
                      unsigned resamples, uint64_t seed, struct fm_crossing *crossing)
{
    if (data->n == 0 || data->count == 0)
        return false;
    double *room = malloc((4 * data->n + resamples) * sizeof *room);
    size_t *drawn = malloc(data->count * sizeof *drawn);
    bool done = false;
    if (room && drawn) {
        struct work work = {
            data, level, room, room + data->n, room + 2 * data->n, room + 3 * data->n};
        done = solve(&work, confidence, resamples, seed, drawn, room + 4 * data->n, crossing);
    }
    free(drawn);
    free(room);
    return done;
}
