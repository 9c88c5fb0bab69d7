#include "analysis/isotonic.h"

#include <stdlib.h>

struct pool {
    size_t first, end; /* points first .. end-1 */
    double weight, value;
};

struct weighted {
    double y, weight;
};

static double weight_at(const double *weight, size_t i)
{
    return weight ? weight[i] : 1.0;
}

static void spread(const struct pool *pools, size_t count, double *fit)
{
    for (size_t p = 0; p < count; p++)
        for (size_t i = pools[p].first; i < pools[p].end; i++)
            fit[i] = pools[p].value;
}

bool fm_isotonic(const double *y, const double *weight, size_t n, double *fit)
{
    struct pool *pools = malloc((n + 1) * sizeof *pools);
    if (!pools)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        pools[count++] = (struct pool){i, i + 1, weight_at(weight, i), y[i]};
        while (count > 1 && pools[count - 2].value > pools[count - 1].value) {
            struct pool *a = &pools[count - 2], *b = &pools[count - 1];
            double sum = a->weight + b->weight;
            a->value = (a->weight * a->value + b->weight * b->value) / sum;
            a->weight = sum;
            a->end = b->end;
            count--;
        }
    }
    spread(pools, count, fit);
    free(pools);
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->y, y = ((const struct weighted *)b)->y;
    return (x > y) - (x < y);
}

/* The middle of the interval of weighted medians; scratch holds the points of the pool. */
static double median_of(const double *y, const double *weight, const struct pool *pool,
                        struct weighted *scratch)
{
    size_t n = pool->end - pool->first;
    double half = 0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (struct weighted){y[pool->first + i], weight_at(weight, pool->first + i)};
        half += scratch[i].weight / 2;
    }
    qsort(scratch, n, sizeof *scratch, by_value);
    double below = 0;
    size_t i = 0;
    while (i + 1 < n && below + scratch[i].weight < half * (1 - 1e-12))
        below += scratch[i++].weight;
    bool exactly_half = below + scratch[i].weight <= half * (1 + 1e-12);
    return exactly_half && i + 1 < n ? (scratch[i].y + scratch[i + 1].y) / 2 : scratch[i].y;
}

bool fm_isotonic_median(const double *y, const double *weight, size_t n, double *fit)
{
    struct pool *pools = malloc((n + 1) * sizeof *pools);
    struct weighted *scratch = malloc((n + 1) * sizeof *scratch);
    bool done = pools && scratch;
    size_t count = 0;
    for (size_t i = 0; done && i < n; i++) {
        pools[count++] = (struct pool){i, i + 1, 0, y[i]};
        while (count > 1 && pools[count - 2].value > pools[count - 1].value) {
            pools[count - 2].end = pools[count - 1].end;
            count--;
            pools[count - 1].value = median_of(y, weight, &pools[count - 1], scratch);
        }
    }
    if (done)
        spread(pools, count, fit);
    free(scratch);
    free(pools);
    return done;
}
