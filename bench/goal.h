/* One line of a benchmark: a figure, and how it stands to its goal or floor. */
#ifndef FM_BENCH_GOAL_H
#define FM_BENCH_GOAL_H

#include <stdio.h>
#include <time.h>

/* Reached when the ratio is 1 or more. */
static inline void goal_at_least(const char *what, double value, const char *unit, double goal)
{
    printf("%-44s %9.4g %-8s at least %-8.4g ratio %.2f\n", what, value, unit, goal, value / goal);
}

/* Reached when the ratio is 1 or less. */
static inline void goal_at_most(const char *what, double value, const char *unit, double goal)
{
    printf("%-44s %9.4g %-8s at most  %-8.4g ratio %.2f\n", what, value, unit, goal, value / goal);
}

/* How many times as long as anything of the kind must take. */
static inline void beside_floor(const char *what, double value, const char *unit, double floor)
{
    printf("%-44s %9.4g %-8s floor    %-8.4g ratio %.2f\n", what, value, unit, floor,
           value / floor);
}

static inline double clock_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
