#include "analysis/cooper_sandoval.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/density.h"
#include "analysis/isotonic.h"
#include "analysis/smooth.h"
#include "analysis/stepfit.h"

/* The paper names two window widths and leaves open what a Gaussian's width is: here it is the full
   width at half height, 2.355 standard deviations. */
#define WIDTH_PER_SIGMA 2.3548200450309493
/* Levels are at least a factor 2 apart in capacity ... */
#define OCTAVE 1.0
/* ... and a miss costs at least a quarter more: log2 1.25. */
#define LEAST_MISS 0.32192809488736235

/* Points per octave at which the density is taken. */
#define FINENESS 32.0

static bool load(const double *bytes, const double *latency, size_t n, double add, bool whole,
                 double *x, double *y)
{
    for (size_t i = 0; i < n; i++) {
        double adds = latency[i] / add;
        if (whole)
            adds = fmax(1, floor(adds + 0.5));
        x[i] = log2(bytes[i]);
        y[i] = adds;
        if (!isfinite(x[i]) || !isfinite(y[i]) || y[i] <= 0 || (i > 0 && x[i] <= x[i - 1]))
            return false;
    }
    return n > 0;
}

/* The curve joined by lines and read at `fine` even steps: a histogram of the points themselves
   would have a peak at every point of a rise that is sampled coarsely. */
static void refine(const double *x, const double *y, size_t n, double *fine_x, double *fine_y,
                   size_t fine)
{
    for (size_t f = 0, i = 0; f < fine; f++) {
        fine_x[f] = x[0] + (double)f / FINENESS;
        while (i + 2 < n && x[i + 1] < fine_x[f])
            i++;
        double part = n > 1 ? (fine_x[f] - x[i]) / (x[i + 1] - x[i]) : 0;
        fine_y[f] = n > 1 ? y[i] + part * (y[i + 1] - y[i]) : y[0];
    }
}

static size_t count_levels(const double *x, const double *y, size_t n)
{
    size_t fine = (size_t)((x[n - 1] - x[0]) * FINENESS) + 1;
    double *room = malloc(3 * fine * sizeof *room);
    size_t count = 0;
    if (room) {
        double *fine_y = room + fine, *smooth = room + 2 * fine;
        refine(x, y, n, room, fine_y, fine);
        fm_smooth(room, fine_y, fine, OCTAVE / WIDTH_PER_SIGMA, smooth);
        count = fm_density_peaks(room, smooth, fine, LEAST_MISS / WIDTH_PER_SIGMA, NULL, 0);
    }
    free(room);
    return count;
}

/* y holds the latencies in adds and is overwritten. */
static size_t analyse(const double *bytes, const double *x, double *y, size_t n,
                      struct fm_published_level *levels, size_t max)
{
    if (!fm_isotonic(y, NULL, n, y))
        return 0;
    for (size_t i = 0; i < n; i++)
        y[i] = log2(y[i]);
    size_t steps = count_levels(x, y, n);
    if (steps > max)
        steps = max;
    size_t *ends = malloc((steps + 1) * sizeof *ends);
    bool fitted = ends && fm_step_fit_top(y, NULL, n, steps, ends, NULL, NULL);
    for (size_t s = 0; fitted && s < steps; s++)
        levels[s] = (struct fm_published_level){bytes[ends[s]], exp2(y[ends[s]])};
    free(ends);
    return fitted ? steps : 0;
}

size_t fm_cooper_sandoval(const double *bytes, const double *latency, size_t n, double add,
                          bool whole, struct fm_published_level *levels, size_t max)
{
    double *room = malloc(2 * (n + 1) * sizeof *room);
    size_t count = 0;
    if (room && add > 0 && load(bytes, latency, n, add, whole, room, room + n))
        count = analyse(bytes, room, room + n, n, levels, max);
    free(room);
    return count;
}
