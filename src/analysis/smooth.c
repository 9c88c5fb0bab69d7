#include "analysis/smooth.h"

#include <math.h>

/* Beyond this many standard deviations a Gaussian adds nothing that a double would keep. */
#define REACH 8.0

static double share_of(const double *x, size_t n, size_t i)
{
    if (n == 1)
        return 1;
    if (i == 0)
        return x[1] - x[0];
    if (i == n - 1)
        return x[i] - x[i - 1];
    return (x[i + 1] - x[i - 1]) / 2;
}

void fm_axis_shares(const double *x, size_t n, double *share)
{
    for (size_t i = 0; i < n; i++)
        share[i] = share_of(x, n, i);
}

void fm_smooth(const double *x, const double *y, size_t n, double sigma, double *out)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = y[i];
        if (sigma <= 0)
            continue;
        while (x[i] - x[first] > REACH * sigma)
            first++;
        double sum = 0, weight = 0;
        for (size_t j = first; j < n && x[j] - x[i] <= REACH * sigma; j++) {
            double z = (x[j] - x[i]) / sigma;
            double w = exp(-z * z / 2) * share_of(x, n, j);
            sum += w * y[j];
            weight += w;
        }
        out[i] = sum / weight;
    }
}
