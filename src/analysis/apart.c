#include "analysis/apart.h"

#include <math.h>
#include <string.h>

/* In octaves between the middles of two rises. */
#define LEAST_DISTANCE 0.75

/* log2 of the footprint at which the curve passes half way between two plateaus. */
static double middle_of_rise(const double *bytes, const double *latency, size_t n,
                             const struct fm_level *below, const struct fm_level *above)
{
    const double half = (below->height + above->height) / 2;
    for (size_t i = 1; i < n; i++)
        if (bytes[i] > below->flat_from && latency[i] >= half) {
            const double part = (half - latency[i - 1]) / (latency[i] - latency[i - 1]);
            const double from = log2(bytes[i - 1]), to = log2(bytes[i]);
            return part > 0 && part < 1 ? from + part * (to - from) : to;
        }
    return log2(above->flat_from);
}

size_t fm_join_close_levels(const double *bytes, const double *latency, size_t n,
                            struct fm_level *levels, size_t count)
{
    for (;;) {
        size_t closest = 0;
        double least = LEAST_DISTANCE;
        for (size_t i = 1; i + 1 < count; i++) {
            const double before = middle_of_rise(bytes, latency, n, &levels[i - 1], &levels[i]);
            const double after = middle_of_rise(bytes, latency, n, &levels[i], &levels[i + 1]);
            if (after - before < least) {
                least = after - before;
                closest = i;
            }
        }
        if (!closest)
            return count;
        memmove(&levels[closest], &levels[closest + 1], (count - closest - 1) * sizeof *levels);
        count--;
        levels[closest - 1].rise_to = levels[closest].flat_from;
    }
}
