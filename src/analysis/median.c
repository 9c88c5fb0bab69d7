#include "analysis/median.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void fm_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
}

double fm_median(double *values, size_t n)
{
    fm_sort(values, n);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
