#include "analysis/density.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/smooth.h"

/* Grid steps per bandwidth: fine enough that a maximum is never between two of them. */
#define FINENESS 16.0
/* How far beyond the outermost values the grid goes, in bandwidths. */
#define MARGIN 4.0
/* A grid longer than this means a bandwidth that is no bandwidth. */
#define LONGEST 4e6

struct grid {
    double from, step;
    size_t count;
    double *density;
};

static bool lay_grid(const double *y, size_t n, double bandwidth, struct grid *grid)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i]))
            return false;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    double steps = ((high - low) / bandwidth + 2 * MARGIN) * FINENESS;
    if (n == 0 || !(bandwidth > 0) || !(steps < LONGEST))
        return false;
    grid->from = low - MARGIN * bandwidth;
    grid->step = bandwidth / FINENESS;
    grid->count = (size_t)steps + 1;
    grid->density = calloc(grid->count, sizeof *grid->density);
    return grid->density;
}

static void add_kernel(struct grid *grid, double y, double weight, double bandwidth)
{
    double reach = 8 * bandwidth;
    double first = fmax(0, ceil((y - reach - grid->from) / grid->step));
    for (size_t g = (size_t)first; g < grid->count; g++) {
        double z = (grid->from + (double)g * grid->step - y) / bandwidth;
        if (z > 8)
            break;
        grid->density[g] += weight * exp(-z * z / 2);
    }
}

static bool fill_grid(struct grid *grid, const double *x, const double *y, size_t n,
                      double bandwidth)
{
    double *share = malloc(n * sizeof *share), total = 0;
    if (!share)
        return false;
    fm_axis_shares(x, n, share);
    for (size_t i = 0; i < n; i++)
        total += share[i];
    double scale = 1 / (total * bandwidth * sqrt(2 * acos(-1)));
    for (size_t i = 0; i < n; i++)
        add_kernel(grid, y[i], share[i] * scale, bandwidth);
    free(share);
    return true;
}

/* The lowest ground on the way from `at` to higher ground, in one direction; 0 when there is none
   higher. */
static double lowest_towards(const struct grid *grid, size_t at, int direction)
{
    double lowest = grid->density[at];
    for (size_t g = at + (size_t)direction; g < grid->count; g += (size_t)direction) {
        if (grid->density[g] > grid->density[at])
            return lowest;
        lowest = fmin(lowest, grid->density[g]);
    }
    return 0;
}

static size_t read_peaks(const struct grid *grid, struct fm_peak *peaks, size_t max)
{
    size_t count = 0;
    bool rising = true;
    for (size_t g = 0; g + 1 < grid->count; g++) {
        bool down = grid->density[g + 1] < grid->density[g];
        if (rising && down) {
            double saddle = fmax(lowest_towards(grid, g, -1), lowest_towards(grid, g, 1));
            if (count < max)
                peaks[count] = (struct fm_peak){.position = grid->from + (double)g * grid->step,
                                                .height = grid->density[g],
                                                .prominence = grid->density[g] - saddle};
            count++;
        }
        if (grid->density[g + 1] != grid->density[g])
            rising = !down;
    }
    return count;
}

size_t fm_density_peaks(const double *x_log2, const double *y_log2, size_t n, double bandwidth,
                        struct fm_peak *peaks, size_t max)
{
    struct grid grid;
    if (!lay_grid(y_log2, n, bandwidth, &grid))
        return 0;
    size_t count = 0;
    if (fill_grid(&grid, x_log2, y_log2, n, bandwidth))
        count = read_peaks(&grid, peaks, max);
    free(grid.density);
    return count;
}
