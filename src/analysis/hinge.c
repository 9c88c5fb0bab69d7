#include "analysis/hinge.h"

#include <math.h>

/* Places that are tried between two readings, and readings that a rise needs at least. */
#define PLACES 8
#define LEAST  6

/* Readings up to `count`, by a hinge at a place: the slope that fits best with a level before it,
   and what remains. */
static double remains(const double *x, const double *y, size_t count, double at, double *slope)
{
    double mean_x = 0, mean_y = 0, product = 0, square = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += fmax(0, x[i] - at) / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double beyond = fmax(0, x[i] - at) - mean_x;
        product += beyond * (y[i] - mean_y);
        square += beyond * beyond;
    }
    *slope = square > 0 ? product / square : 0;
    for (size_t i = 0; i < count; i++) {
        const double off = y[i] - mean_y - *slope * (fmax(0, x[i] - at) - mean_x);
        rest += off * off;
    }
    return rest;
}

static size_t count_up_to(const double *x, size_t count, double most)
{
    size_t within = 0;
    while (within < count && x[within] <= most)
        within++;
    return within;
}

/* The straight line through some readings. */
static double slope_of(const double *x, const double *y, size_t count)
{
    double mean_x = 0, mean_y = 0, product = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += x[i] / (double)count;
        mean_y += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        product += (x[i] - mean_x) * (y[i] - mean_y);
        square += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return square > 0 ? product / square : 0;
}

/* A straight line is known half as well at its end as in its middle, and the level before it adds
   to that. By the readings that a hinge at each place would have, which are more the further it
   lies: what remains is compared for each of them. */
bool fm_fit_hinge(const double *x, const double *y, size_t count, double reach,
                  struct fm_hinge *hinge)
{
    double least = count ? x[count - 1] - x[0] : 0;
    bool found = false;
    for (size_t i = 1; i < count; i++)
        for (int part = 0; part < PLACES; part++) {
            const double at = x[i - 1] + (x[i] - x[i - 1]) * part / PLACES;
            const size_t within = count_up_to(x, count, at * (1 + reach));
            double slope;
            if (i < LEAST / 2 || within < i + LEAST)
                continue;
            const double noise =
                sqrt(remains(x, y, within, at, &slope) / (double)(within - 3)) + 1e-9;
            const double error = slope > 0 ? noise / slope : INFINITY;
            if (error >= least)
                continue;
            least = error;
            found = true;
            const size_t rise = within - i, half = rise / 2;
            const double first = slope_of(x + i, y + i, half);
            *hinge = (struct fm_hinge){
                .at = at,
                .slope = slope,
                .error = error * sqrt(4 / (double)rise + 1 / (double)i),
                .noise = noise,
                .bend = first > 0 ? slope_of(x + i + half, y + i + half, rise - half) / first
                                  : INFINITY};
        }
    return found;
}
