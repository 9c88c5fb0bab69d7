#include "analysis/colours.h"

#include <math.h>

#include "analysis/occupancy.h"

/* Means up to which they count; those that are no rise yet, and the fewest above that which say
   something of its shape. */
#define MOST   0.9
#define SOME   0.02
#define FEWEST 3
/* What readings are off by, squared. */
#define NOISE 0.004
/* Steps of the search: colours to an octave, and the most of them. */
#define DENSITY      64
#define MOST_COLOURS 4096.0

double fm_colour_misses(double pages, double colours, uint32_t ways)
{
    const double whole = floor(pages), part = pages - whole;
    if (pages <= 0)
        return 0;
    /* Of each page the lines that the last one has, too, share their sets with one more. */
    return ((whole + 1) * part * fm_occupancy_misses_mean(whole + 1, colours, ways) +
            whole * (1 - part) * fm_occupancy_misses_mean(whole, colours, ways)) /
           pages;
}

double fm_colour_pages(double misses, double colours, uint32_t ways)
{
    double low = 0, high = ways + 1;
    while (fm_colour_misses(high, colours, ways) < misses)
        high *= 2;
    while (high - low > 1e-4 * high) {
        const double middle = (low + high) / 2;
        if (fm_colour_misses(middle, colours, ways) < misses)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Luck makes means that are near neither end the least sure; and of few pages, since those that
   meet do so together, as many as there are ways and one more. */
static double luck(double expected, double pages, uint32_t ways)
{
    return NOISE + expected * (1 - expected) * fmin(1, (ways + 1) / pages);
}

static double off_by(const struct fm_colour_points *points, struct fm_colours *fit)
{
    double sum = 0, residual = 0, weights = 0;
    for (size_t i = 0; i < points->n; i++) {
        const double expected = fm_colour_misses(points->pages[i], fit->colours, points->ways);
        const double off = points->misses[i] - expected;
        if (points->misses[i] > MOST)
            continue;
        sum += points->weight[i] * off * off / luck(expected, points->pages[i], points->ways);
        residual += points->weight[i] * off * off;
        weights += points->weight[i];
    }
    fit->residual = sqrt(residual / weights);
    return sum;
}

bool fm_fit_colours(const struct fm_colour_points *points, struct fm_colours *fit)
{
    double least = INFINITY;
    size_t rising = 0;
    for (size_t i = 0; i < points->n; i++)
        rising += points->misses[i] > SOME && points->misses[i] <= MOST;
    *fit = (struct fm_colours){0};
    if (rising < FEWEST)
        return false;
    for (double colours = 1; colours <= MOST_COLOURS; colours *= exp2(1.0 / DENSITY)) {
        struct fm_colours one = {.colours = colours};
        const double off = off_by(points, &one);
        if (off < least) {
            least = off;
            *fit = one;
        }
    }
    return true;
}
