#include "analysis/noise.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/median.h"

/* Points on either side that tell the noise at one. */
#define WINDOW 8
/* What roughness() averages, for noise of standard deviation 1 (by simulation). */
#define PRODUCT_MEAN 0.443

/* Of differences of two such points a quarter is no more than this; and times that which allow for
   luck. */
#define QUARTER_DIFFERS 0.45
#define AT_MOST         3

struct curve {
    const double *x, *y, *fit;
    size_t n;
    double *scratch;
};

/* How far point i lies from the line through its two neighbours, in units of the noise of one. */
static double bend(const struct curve *curve, size_t i)
{
    const double *x = curve->x + i, *y = curve->y + i;
    double t = (x[0] - x[-1]) / (x[1] - x[-1]);
    return (y[0] - (1 - t) * y[-1] - t * y[1]) / sqrt(1 + t * t + (1 - t) * (1 - t));
}

/* The noise that the curve itself shows around point i. Bends of the true curve go the same way at
   neighbouring points, those of noise opposite ways; so minus their product, where positive,
   measures noise alone. The two largest are left out, since an outlier or a sharp knee makes
   those. */
static double roughness(const struct curve *curve, size_t i)
{
    size_t first = i > WINDOW ? i - WINDOW : 1, end = i + WINDOW, count = 0;
    for (size_t j = first; j < end && j + 2 < curve->n; j++)
        curve->scratch[count++] = fmax(0, -bend(curve, j) * bend(curve, j + 1));
    if (count <= 2)
        return 0;
    fm_sort(curve->scratch, count);
    double sum = 0;
    for (size_t j = 0; j + 2 < count; j++)
        sum += curve->scratch[j];
    return sqrt(sum / (double)(count - 2) / PRODUCT_MEAN);
}

/* The noise at point i at the most, by the points around it that differ least from the next: a
   quarter of them at the least lie on plateaus, and differ by noise alone. Sharp knees close
   together bend to and fro as noise does, but leave plateaus at rest. */
static double unrest_of_plateaus(const struct curve *curve, size_t i)
{
    size_t first = i > WINDOW ? i - WINDOW : 0, end = i + WINDOW, count = 0;
    for (size_t j = first; j < end && j + 1 < curve->n; j++)
        curve->scratch[count++] = fabs(curve->y[j + 1] - curve->y[j]);
    if (count == 0)
        return INFINITY;
    fm_sort(curve->scratch, count);
    return AT_MOST * curve->scratch[count / 4] / QUARTER_DIFFERS;
}

/* The noise of the whole curve: what had to be moved to make it non-decreasing, by the median over
   the points that share their value with a neighbour now. Where fewer than one in five do, those
   are outliers. It sees slow waves too, which neighbours do not show. */
static double unrest(const struct curve *curve)
{
    size_t count = 0;
    for (size_t i = 0; i < curve->n; i++)
        if ((i > 0 && curve->fit[i] == curve->fit[i - 1]) ||
            (i + 1 < curve->n && curve->fit[i] == curve->fit[i + 1]))
            curve->scratch[count++] = fabs(curve->y[i] - curve->fit[i]);
    return count == 0 || 5 * count < curve->n ? 0 : 1.4826 * fm_median(curve->scratch, count);
}

bool fm_curve_noise(const double *x, const double *y, const double *fit, size_t n, double *error)
{
    double *scratch = malloc((n + 2 * WINDOW) * sizeof *scratch);
    if (!scratch)
        return false;
    struct curve curve = {x, y, fit, n, scratch};
    double least = unrest(&curve);
    for (size_t i = 0; i < n; i++)
        error[i] = fmax(fmin(roughness(&curve, i), unrest_of_plateaus(&curve, i)), least);
    free(scratch);
    return true;
}
