#include "analysis/occupancy_fit.h"

#include <math.h>

#include "analysis/occupancy.h"

#define UNKNOWNS 3
/* From one number of sets that is tried to the next, at first and in the end. */
#define COARSE 1.02
#define FINE   1.0005
/* The largest odd factor of a number of sets. */
#define LARGEST_ODD 15

/* Solves a * x = b for three unknowns by elimination; false: it has no one solution. */
static bool solve(double a[UNKNOWNS][UNKNOWNS + 1], double x[UNKNOWNS])
{
    for (int i = 0; i < UNKNOWNS; i++) {
        int pivot = i;
        for (int j = i + 1; j < UNKNOWNS; j++)
            if (fabs(a[j][i]) > fabs(a[pivot][i]))
                pivot = j;
        if (!(fabs(a[pivot][i]) > 0))
            return false;
        for (int k = 0; k <= UNKNOWNS; k++) {
            const double kept = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = kept;
        }
        for (int j = 0; j < UNKNOWNS; j++) {
            const double times = j == i ? 0 : a[j][i] / a[i][i];
            for (int k = i; k <= UNKNOWNS; k++)
                a[j][k] -= times * a[i][k];
        }
    }
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] = a[i][UNKNOWNS] / a[i][i];
    return true;
}

/* What a reference takes, in terms of: its part of what the lap takes besides, a hit, a miss. */
static void terms_of(const struct fm_lap_time *lap, double sets, uint32_t ways, double all,
                     double terms[UNKNOWNS])
{
    terms[0] = all / lap->lines;
    terms[1] = 1;
    terms[2] = fm_occupancy_misses_mean(lap->lines / lap->apart, sets / lap->apart, ways);
}

/* What is left of a reference, and what a miss takes, where the laps are described as well as they
   can be with so many sets; INFINITY: it would take nothing. */
static double left_with(const struct fm_lap_time *laps, size_t count, uint32_t ways, double sets,
                        double *miss)
{
    const double all = laps[count - 1].lines;
    double a[UNKNOWNS][UNKNOWNS + 1] = {{0}}, x[UNKNOWNS], terms[UNKNOWNS], left = 0;
    for (size_t i = 0; i < count; i++) {
        const double each = laps[i].ns / laps[i].lines;
        terms_of(&laps[i], sets, ways, all, terms);
        for (int j = 0; j < UNKNOWNS; j++) {
            for (int k = 0; k < UNKNOWNS; k++)
                a[j][k] += terms[j] * terms[k];
            a[j][UNKNOWNS] += terms[j] * each;
        }
    }
    if (!solve(a, x) || x[2] <= 0)
        return INFINITY;
    for (size_t i = 0; i < count; i++) {
        double each = laps[i].ns / laps[i].lines;
        terms_of(&laps[i], sets, ways, all, terms);
        for (int j = 0; j < UNKNOWNS; j++)
            each -= x[j] * terms[j];
        left += each * each;
    }
    *miss = x[2];
    return sqrt(left / (double)count);
}

static struct fm_sets_fit best_between(const struct fm_lap_time *laps, size_t count, uint32_t ways,
                                       double low, double high, double step)
{
    struct fm_sets_fit best = {0, INFINITY};
    double least = INFINITY;
    for (double sets = low; sets <= high; sets *= step) {
        double miss = 0;
        const double left = left_with(laps, count, ways, sets, &miss);
        if (left < least) {
            least = left;
            best = (struct fm_sets_fit){sets, left / miss};
        }
    }
    return best;
}

bool fm_occupancy_sets(const struct fm_lap_time *laps, size_t count, uint32_t ways, double low,
                       double high, struct fm_sets_fit *fit)
{
    if (count < UNKNOWNS + 2)
        return false;
    *fit = best_between(laps, count, ways, low, high, COARSE);
    if (fit->sets <= low * COARSE || fit->sets >= high / COARSE)
        return false;
    *fit = best_between(laps, count, ways, fit->sets / COARSE, fit->sets * COARSE, FINE);
    return true;
}

/* The least number from `low` on that is an odd one times a power of two. A number that is one
   itself must not be missed by the last digit. */
static double from(double low, double odd)
{
    return odd * exp2(fmax(ceil(log2(low / odd) - 1e-9), 0));
}

double fm_round_sets_from(double low)
{
    double least = INFINITY;
    for (double odd = 1; odd <= LARGEST_ODD; odd += 2)
        least = fmin(least, from(low, odd));
    return least;
}

double fm_round_sets(double low, double high)
{
    const double sets = fm_round_sets_from(low);
    return sets <= high && fm_round_sets_from(sets + 1) > high ? sets : 0;
}

double fm_simplest_sets(double low, double high)
{
    for (double odd = 1; odd <= LARGEST_ODD; odd += 2)
        if (from(low, odd) <= high)
            return from(low, odd);
    return 0;
}
