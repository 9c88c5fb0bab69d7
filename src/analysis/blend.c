#include "analysis/blend.h"

#include "analysis/median.h"

/* Part of the readings that is left out on each side, and of the variance of normal ones that is
   left. */
#define OUTERMOST 0.01
#define LEFT      0.873

struct fm_spread fm_spread_of(double *readings, size_t n)
{
    fm_sort(readings, n);
    const size_t out = (size_t)(OUTERMOST * (double)n);
    const double count = (double)(n - 2 * out);
    double sum = 0, squares = 0;
    for (size_t i = out; i < n - out; i++)
        sum += readings[i];
    const double mean = sum / count;
    for (size_t i = out; i < n - out; i++)
        squares += (readings[i] - mean) * (readings[i] - mean);
    return (struct fm_spread){.mean = mean, .variance = squares / count / (out ? LEFT : 1)};
}

double fm_blend_variance(double mean, double low, double high, double references)
{
    return mean > low && mean < high ? (mean - low) * (high - mean) / references : 0;
}
