#include "analysis/monotone_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isotonic.h"
#include "analysis/median.h"

/* Standard errors that two steps must differ by to be two. */
#define APART 4.0
/* From the median of absolute deviations to a standard deviation, for normal noise. */
#define MAD_TO_DEVIATION 1.4826

struct step {
    double y;
    double precision; /* sum of 1/error^2 */
    size_t count;     /* readings */
};

/* The runs of equal values of a fit. */
static size_t find_steps(const double *fit, const double *error, size_t n, struct step *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || fit[i] > fit[i - 1])
            steps[count++] = (struct step){.y = fit[i]};
        steps[count - 1].precision += 1 / (error[i] * error[i]);
        steps[count - 1].count++;
    }
    return count;
}

/* How many standard errors two steps are apart when the noise is one. */
static double distance(const struct step *a, const struct step *b)
{
    return (b->y - a->y) / sqrt(1 / a->precision + 1 / b->precision);
}

/* Joins the closest two until all are apart. */
static size_t join(struct step *steps, size_t count, double noise)
{
    while (count > 1) {
        size_t closest = 0;
        for (size_t i = 1; i + 1 < count; i++)
            if (distance(&steps[i], &steps[i + 1]) < distance(&steps[closest], &steps[closest + 1]))
                closest = i;
        struct step *a = &steps[closest], *b = a + 1;
        if (distance(a, b) > APART * noise)
            break;
        const double precision = a->precision + b->precision;
        *a = (struct step){(a->y * a->precision + b->y * b->precision) / precision, precision,
                           a->count + b->count};
        memmove(b, b + 1, (count - closest - 2) * sizeof *b);
        count--;
    }
    return count;
}

bool fm_monotone_steps(const double *y, const double *error, size_t n, double *fit)
{
    struct step *steps = malloc((n ? n : 1) * sizeof *steps);
    double *weight = malloc((n ? n : 1) * sizeof *weight);
    double *monotone = malloc((n ? n : 1) * sizeof *monotone);
    bool good = steps && weight && monotone;
    for (size_t i = 0; i < n && good; i++)
        weight[i] = 1 / error[i];
    good = good && fm_isotonic_median(y, weight, n, monotone);
    if (good && n > 0) {
        size_t count = find_steps(monotone, error, n, steps);
        for (size_t i = 0; i < n; i++)
            monotone[i] = fabs(y[i] - monotone[i]) / error[i];
        count = join(steps, count, MAD_TO_DEVIATION * fm_median(monotone, n));
        for (size_t i = 0, at = 0; i < count; i++)
            for (size_t j = 0; j < steps[i].count; j++)
                fit[at++] = steps[i].y;
    }
    free(steps);
    free(weight);
    free(monotone);
    return good;
}
