#include "analysis/tlb_steps.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/monotone_steps.h"

/* A rise from one point to the next that ends a plateau; walks grow by less. */
#define RISE 0.15
/* Two rises are at least so many times the pages apart. */
#define APART 1.4
/* … and in errors of the readings. */
#define ERRORS 3
static double tolerance(const struct fm_tlb_point *point, double cost)
{
    return fmax(RISE * cost, ERRORS * point->error);
}

/* Whether the cost at i and at the next point is above a plateau. */
static bool leaves(const struct fm_tlb_point *points, size_t n, size_t i, double plateau)
{
    for (size_t j = i; j < i + 2; j++)
        if (j == n || points[j].cost <= plateau + tolerance(&points[j], plateau))
            return false;
    return true;
}

/* The first point from i on whose next is not much dearer. */
static size_t end_of_rise(const struct fm_tlb_point *points, size_t n, size_t i)
{
    while (i + 1 < n && points[i + 1].cost > points[i].cost + tolerance(&points[i], points[i].cost))
        i++;
    return i;
}

size_t fm_read_tlb_steps(const struct fm_tlb_point *points, size_t n, struct fm_tlb_step *steps,
                         size_t most)
{
    size_t count = 0;
    double plateau = 0;
    for (size_t i = 1; i < n && count < most; i++) {
        if (!leaves(points, n, i, plateau)) {
            plateau = fmax(0, points[i].cost);
            continue;
        }
        const size_t end = end_of_rise(points, n, i);
        struct fm_tlb_step step = {points[i - 1].pages, points[end].pages, plateau,
                                   points[end].cost};
        /* A plateau's first point is still a little low where the rise is not over. */
        if (end + 1 < n)
            step.cost = fmax(step.cost, points[end + 1].cost);
        plateau = points[end].cost;
        i = end;
        /* One that sets out where the last has hardly ended is the rest of it. */
        if (count && step.held < steps[count - 1].missed * APART) {
            steps[count - 1].missed = step.missed;
            steps[count - 1].cost = step.cost;
            continue;
        }
        if (count == 0 || step.cost > FM_TLB_LEAST_STEP * steps[count - 1].cost)
            steps[count++] = step;
    }
    return count;
}

bool fm_smooth_tlb_points(struct fm_tlb_point *points, size_t n)
{
    double *cost = malloc(2 * (n + 1) * sizeof *cost), *error = cost ? cost + n : NULL;
    for (size_t i = 0; cost && i < n; i++) {
        cost[i] = points[i].cost;
        error[i] = points[i].error;
    }
    const bool good = cost && (n == 0 || fm_monotone_steps(cost, error, n, cost));
    for (size_t i = 0; good && i < n; i++)
        points[i].cost = cost[i];
    free(cost);
    return good;
}
