#include "analysis/knee.h"

#include <math.h>

#include "analysis/occupancy.h"

/* The part of the references to n lines in a set of so many ways that miss when a victim is picked
   at random: a line stays while none of the misses since its last use hit it. Policies between this
   and LRU have knees in between. */
static double random_victims(double n, double ways)
{
    if (n <= ways)
        return 0;
    const double stay = log1p(-1 / fmax(ways, 1.0001));
    double misses = 1;
    for (int i = 0; i < 12; i++)
        misses = -expm1(stay * misses * n);
    return misses;
}

/* Random placement and random victims: the mean over how many lines share a set with a line. */
static double scattered_random(double load, unsigned ways)
{
    const double mean = load * ways;
    double chance = exp(-mean), within = 0, sum = 0;
    for (unsigned others = 0; within < 0.9999 && others < 1000; others++) {
        if (chance > 1e-6)
            sum += chance * random_victims(others + 1, ways);
        within += chance;
        chance *= mean / (others + 1);
    }
    return fmin(1, sum + (1 - within));
}

/* Sets overflow one after the other, from full to one line more each. */
static double contiguous(double load, unsigned ways)
{
    const double over = (load - 1) * ways;
    return over <= 0 ? 0 : fmin(1, over * (1 + 1.0 / ways) / load);
}

/* Sets hold as many lines as each other, or one more. */
static double contiguous_random(double load, unsigned ways)
{
    const double each = load * ways, fewer = floor(each), more = each - fewer;
    if (each <= ways)
        return 0;
    return ((1 - more) * fewer * random_victims(fewer, ways) +
            more * (fewer + 1) * random_victims(fewer + 1, ways)) /
           each;
}

double fm_knee_misses(const struct fm_knee *knee, double bytes)
{
    const double load = bytes / knee->capacity;
    switch (knee->shape) {
    case FM_KNEE_LINES:
        return fm_occupancy_misses_poisson(load, knee->ways);
    case FM_KNEE_PAGES:
        return fm_occupancy_misses_mean(load * knee->ways * knee->colours, knee->colours,
                                        knee->ways);
    case FM_KNEE_RANDOM:
        return scattered_random(load, knee->ways);
    case FM_KNEE_CONTIGUOUS_RANDOM:
        return contiguous_random(load, knee->ways);
    case FM_KNEE_CONTIGUOUS:
        break;
    }
    return contiguous(load, knee->ways);
}

double fm_knee_crossing(const struct fm_knee *knee, double misses)
{
    double low = knee->capacity / 64, high = knee->capacity * 8;
    while (high / low > 1.0001) {
        const double middle = sqrt(low * high);
        *(fm_knee_misses(knee, middle) > misses ? &high : &low) = middle;
    }
    return low;
}
