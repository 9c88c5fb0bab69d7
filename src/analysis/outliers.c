#include "analysis/outliers.h"

#include <math.h>
#include <stdlib.h>

/* The best subset that ends in a record (a kept point as high as all kept before it). */
struct chain {
    size_t kept;
    double sum;    /* of the kept y, to prefer the lower of two */
    size_t before; /* the record before, or the point itself if it is the first */
};

static bool is_tolerable(const double *y, const double *error, size_t record, size_t i,
                         double tolerance)
{
    double spread = hypot(error[record], error[i]);
    return y[i] >= y[record] - tolerance * spread;
}

static bool is_better(size_t kept, double sum, const struct chain *than)
{
    return kept > than->kept || (kept == than->kept && sum < than->sum);
}

/* Lets every later record follow record r, and keeps what is tolerable in between. Returns the
   chain that has r as its last record. */
static struct chain extend(const double *y, const double *error, size_t n, double tolerance,
                           size_t r, struct chain *chains)
{
    struct chain all = chains[r];
    for (size_t i = r + 1; i < n; i++) {
        if (y[i] >= y[r]) {
            if (is_better(all.kept + 1, all.sum + y[i], &chains[i]))
                chains[i] = (struct chain){all.kept + 1, all.sum + y[i], r};
        } else if (is_tolerable(y, error, r, i, tolerance)) {
            all.kept++;
            all.sum += y[i];
        }
    }
    return all;
}

static size_t mark(const double *y, const double *error, size_t n, double tolerance,
                   const struct chain *chains, size_t last, bool *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        keep[i] = false;
    for (size_t record = last, end = n;;) {
        keep[record] = true;
        kept++;
        for (size_t i = record + 1; i < end; i++) {
            keep[i] = keep[i] || (y[i] < y[record] && is_tolerable(y, error, record, i, tolerance));
            kept += keep[i];
        }
        if (chains[record].before == record)
            return kept;
        end = record;
        record = chains[record].before;
    }
}

size_t fm_monotone_subset(const double *y, const double *error, size_t n, double tolerance,
                          bool *keep)
{
    struct chain *chains = malloc(n * sizeof *chains);
    if (!chains)
        return 0;
    for (size_t i = 0; i < n; i++)
        chains[i] = (struct chain){1, y[i], i};
    struct chain best = {0};
    size_t last = 0;
    for (size_t r = 0; r < n; r++) {
        struct chain all = extend(y, error, n, tolerance, r, chains);
        if (is_better(all.kept, all.sum, &best)) {
            best = all;
            last = r;
        }
    }
    size_t kept = n > 0 ? mark(y, error, n, tolerance, chains, last, keep) : 0;
    free(chains);
    return kept;
}
