#include "analysis/tautstring.h"

#include <math.h>

/* A free end is left level. Finds the first knot: where a level line must bend, or n. */
static struct fm_knot first_bend(const double *low, const double *high, size_t n)
{
    size_t floor = 0, ceiling = 0;
    for (size_t i = 1; i < n; i++) {
        if (low[i] > high[ceiling])
            return (struct fm_knot){ceiling, high[ceiling]};
        if (high[i] < low[floor])
            return (struct fm_knot){floor, low[floor]};
        if (low[i] >= low[floor])
            floor = i;
        if (high[i] <= high[ceiling])
            ceiling = i;
    }
    return (struct fm_knot){n, (low[floor] + high[ceiling]) / 2};
}

/* The next knot after `from`, or index n when the string can run level to its end. */
static struct fm_knot next_bend(const double *x, const double *low, const double *high, size_t n,
                                struct fm_knot from)
{
    double rise = -INFINITY, fall = INFINITY; /* the string's slope lies between the two */
    size_t floor = from.index, ceiling = from.index;
    for (size_t i = from.index + 1; i < n; i++) {
        double to_low = (low[i] - from.y) / (x[i] - x[from.index]);
        double to_high = (high[i] - from.y) / (x[i] - x[from.index]);
        if (to_low > fall)
            return (struct fm_knot){ceiling, high[ceiling]};
        if (to_high < rise)
            return (struct fm_knot){floor, low[floor]};
        if (to_low >= rise) {
            rise = to_low;
            floor = i;
        }
        if (to_high <= fall) {
            fall = to_high;
            ceiling = i;
        }
    }
    if (rise > 0)
        return (struct fm_knot){floor, low[floor]};
    if (fall < 0)
        return (struct fm_knot){ceiling, high[ceiling]};
    return (struct fm_knot){n, from.y};
}

size_t fm_taut_string(const double *x, const double *low, const double *high, size_t n,
                      struct fm_knot *knots)
{
    if (n == 0)
        return 0;
    struct fm_knot at = first_bend(low, high, n);
    size_t count = 0;
    knots[count++] = (struct fm_knot){0, at.y};
    while (at.index < n) {
        if (at.index > knots[count - 1].index)
            knots[count++] = at;
        if (at.index == n - 1)
            return count;
        at = next_bend(x, low, high, n, at);
    }
    if (n > 1)
        knots[count++] = (struct fm_knot){n - 1, at.y};
    return count;
}
