#include "analysis/knee.h"

#include <math.h>

#include "analysis/occupancy.h"

/* A chance that makes no difference. */
#define RARE 1e-7
/* With more pages a part of one makes no difference. */
#define FEW_PAGES 64

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

/* What a set misses of so many lines more than it has ways. */
static double misses_of(const struct fm_knee *knee, double excess)
{
    if (excess <= 0)
        return 0;
    return knee->partly && excess <= FM_KNEE_EXCESS ? knee->misses_of[(int)excess - 1] : 1;
}

/* Sets overflow one after the other, from full to one line more each. */
static double contiguous(const struct fm_knee *knee, double load)
{
    const double each = load * knee->ways, fewer = floor(each), more = each - fewer;
    if (each <= knee->ways)
        return 0;
    return ((1 - more) * fewer * misses_of(knee, fewer - knee->ways) +
            more * (fewer + 1) * misses_of(knee, fewer + 1 - knee->ways)) /
           each;
}

/* The chance that a line meets at least so many others, where so many pages lie in colours at
   random. Of the last page there may be a part: the lines of all pages that lie as that part does
   meet one page more than the others. */
static double meet_in_colours(double pages, double colours, unsigned others)
{
    const double whole = floor(pages), part = pages - whole;
    if (whole > FEW_PAGES)
        return fm_occupancy_misses_mean(pages, colours, others);
    return (part * (whole + 1) * fm_occupancy_misses_mean(whole + 1, colours, others) +
            (1 - part) * whole * fm_occupancy_misses_mean(whole, colours, others)) /
           pages;
}

/* Chances that a set has more lines than ways by one at least, by two …, each weighed with what
   that many miss more than one fewer. */
static double scattered(const struct fm_knee *knee, double load)
{
    const double lines = load * knee->ways;
    double sum = 0, before = 0, chance = lines > 0 ? 1 : 0;
    for (unsigned i = 0; i <= FM_KNEE_EXCESS && before < 1 && chance > RARE; i++) {
        const unsigned others = knee->ways + i;
        const double misses = misses_of(knee, i + 1);
        chance = knee->shape == FM_KNEE_PAGES
                     ? meet_in_colours(lines * knee->colours, knee->colours, others)
                     : fm_occupancy_misses_poisson(lines / others, others);
        sum += chance * (misses - before);
        before = misses;
    }
    return fmin(1, fmax(0, sum));
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
    case FM_KNEE_PAGES:
        return scattered(knee, load);
    case FM_KNEE_RANDOM:
        return scattered_random(load, knee->ways);
    case FM_KNEE_CONTIGUOUS_RANDOM:
        return contiguous_random(load, knee->ways);
    case FM_KNEE_CONTIGUOUS:
        break;
    }
    return contiguous(knee, load);
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
