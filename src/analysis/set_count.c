#include "analysis/set_count.h"

#include <math.h>

/* Numbers of sets that are looked among, to an octave. */
#define DENSITY 48
#define OCTAVES 14
#define STEPS   (DENSITY * OCTAVES)
/* By so much less likely is what a standard error is off. */
#define AN_ERROR 0.5
/* Steps of a search for a root, the least slope that it goes by, a step that is none, and a chance
   that is none. */
#define NEWTON      6
#define LEAST_SLOPE 1e-3
#define THERE       1e-6
#define CERTAIN     1e-12

/* The part of sets that are full, where lines would be so many to a set if none were turned away:
   Erlang's loss formula. */
static double part_full(double offered, unsigned ways)
{
    double full = 1;
    for (unsigned k = 1; k <= ways; k++)
        full = offered * full / (k + offered * full);
    return full;
}

/* The same where so many to a set are there; *offered is where the search begins, and ends. */
static double part_full_of(double held, unsigned ways, double *offered)
{
    double full = 0;
    *offered = fmax(*offered, held);
    for (int i = 0; i < NEWTON; i++) {
        full = part_full(*offered, ways);
        const double slope = 1 - full - full * (ways - *offered + *offered * full);
        const double step = (held - *offered * (1 - full)) / fmax(slope, LEAST_SLOPE);
        *offered += step;
        if (fabs(step) < THERE * *offered)
            break;
    }
    return full;
}

void fm_expect_conflicts(double sets, unsigned ways, unsigned most,
                         double expected[FM_MOST_OTHERS + 1])
{
    const double others = fmax(1, sets - 1);
    double offered = 0, sum = 0;
    expected[0] = 0;
    for (unsigned n = 1; n <= most; n++) {
        const double held = (n - 1) / others;
        const double full = held < ways ? part_full_of(held, ways, &offered) : 1;
        sum -= log(fmax((1 - 1 / sets) * (1 - full), CERTAIN));
        expected[n] = sum;
    }
}

/* How likely it is that just those trials have shown a conflict which did, as a logarithm. */
static double likelihood(const struct fm_set_trials *seen, double sets, unsigned ways)
{
    double expected[FM_MOST_OTHERS + 1], sum = 0;
    unsigned most = FM_MOST_OTHERS;
    while (most > 0 && !seen->trials[most])
        most--;
    fm_expect_conflicts(sets, ways, most, expected);
    for (unsigned n = 1; n <= most; n++)
        if (seen->trials[n])
            sum += seen->hits[n] * log1p(-exp(-expected[n])) -
                   (seen->trials[n] - seen->hits[n]) * expected[n];
    return sum;
}

struct fm_set_count fm_count_sets(const struct fm_set_trials *seen, unsigned ways)
{
    double by_step[STEPS];
    int best = 0, low, high;
    for (int i = 0; i < STEPS; i++) {
        by_step[i] = likelihood(seen, exp2((i + 0.5) / DENSITY), ways);
        best = by_step[i] > by_step[best] ? i : best;
    }
    for (low = best; low > 0 && by_step[low] > by_step[best] - AN_ERROR;)
        low--;
    for (high = best; high < STEPS - 1 && by_step[high] > by_step[best] - AN_ERROR;)
        high++;
    return (struct fm_set_count){.sets = exp2((best + 0.5) / DENSITY),
                                 .error = exp2((high - low) / 2.0 / DENSITY) - 1};
}
