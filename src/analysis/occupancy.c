#include "analysis/occupancy.h"

#include <math.h>

/* A binomial law, or the Poisson law it tends to. */
struct law {
    double trials; /* INFINITY: Poisson */
    double chance, mean;
};

/* lgamma without its global sign. */
static double log_factorial(double n)
{
    int sign;
    return lgamma_r(n + 1, &sign);
}

static double log_term(const struct law *law, double i)
{
    if (isinf(law->trials))
        return i * log(law->mean) - law->mean - log_factorial(i);
    if (i > law->trials)
        return -INFINITY;
    return log_factorial(law->trials) - log_factorial(i) - log_factorial(law->trials - i) +
           i * log(law->chance) + (law->trials - i) * log1p(-law->chance);
}

/* Term i+1 over term i. */
static double ratio(const struct law *law, double i)
{
    if (isinf(law->trials))
        return law->mean / (i + 1);
    return (law->trials - i) / (i + 1) * law->chance / (1 - law->chance);
}

/* The chance of k or more: sums whichever side of k is the smaller part, so that neither a tiny
   chance nor one close to 1 loses its digits. */
static double at_least(const struct law *law, double k)
{
    double sum = 0;
    if (k > law->mean) {
        double term = exp(log_term(law, k));
        for (double i = k; term > 0 && term > sum * 1e-17; i++) {
            sum += term;
            term *= ratio(law, i);
        }
        return fmin(sum, 1);
    }
    double term = exp(log_term(law, k - 1));
    for (double i = k - 1; i >= 0 && term > sum * 1e-17; i--) {
        sum += term;
        term /= i > 0 ? ratio(law, i - 1) : 1;
    }
    return fmax(1 - sum, 0);
}

double fm_occupancy_misses_mean(double pages, double colours, uint32_t ways)
{
    if (pages <= ways)
        return 0;
    if (colours <= 1)
        return 1;
    struct law law = {.trials = pages - 1, .chance = 1 / colours};
    law.mean = law.trials * law.chance;
    return at_least(&law, ways);
}

double fm_occupancy_misses(uint64_t pages, uint64_t colours, uint32_t ways)
{
    return fm_occupancy_misses_mean((double)pages, (double)colours, ways);
}

double fm_occupancy_misses_poisson(double load, uint32_t ways)
{
    if (!(load > 0))
        return 0;
    struct law law = {.trials = INFINITY, .mean = load * ways};
    return at_least(&law, ways);
}

uint64_t fm_occupancy_pages(double misses, uint64_t colours, uint32_t ways)
{
    uint64_t low = ways, high = 2 * colours * ways;
    while (fm_occupancy_misses(high, colours, ways) <= misses)
        high *= 2;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(fm_occupancy_misses(middle, colours, ways) <= misses ? &low : &high) = middle;
    }
    return low;
}

double fm_occupancy_load(double misses, uint32_t ways)
{
    double low = 0, high = 2;
    while (fm_occupancy_misses_poisson(high, ways) <= misses && high < 1e6)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        double middle = (low + high) / 2;
        *(fm_occupancy_misses_poisson(middle, ways) <= misses ? &low : &high) = middle;
    }
    return low;
}
