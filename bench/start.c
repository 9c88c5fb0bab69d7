/* How long the program takes from its start to its end: help, and values that were kept. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "goal.h"

#define TURNS 50

static double run_once(const char *const *arguments)
{
    const double start = clock_seconds(CLOCK_MONOTONIC);
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        execv(arguments[0], (char *const *)(const void *)arguments);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) == 127) {
        fprintf(stderr, "bench-start: %s cannot be run\n", arguments[0]);
        exit(1);
    }
    return (clock_seconds(CLOCK_MONOTONIC) - start) * 1e3;
}

/* The median: half of the starts take no longer. */
static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const char *const *arguments)
{
    double times[TURNS];
    run_once(arguments); /* into the page cache; a survey, where none was kept */
    for (int i = 0; i < TURNS; i++)
        times[i] = run_once(arguments);
    qsort(times, TURNS, sizeof *times, ascending);
    return times[TURNS / 2];
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: bench-start FATHOM\n");
        return 2;
    }
    const char *const help[] = {arguments[1], "--help", NULL};
    const char *const get[] = {arguments[1], "get", "l2.capacity", NULL};
    goal_at_most("start to help", median_of(help), "ms", 20);
    goal_at_most("a value that was kept (get)", median_of(get), "ms", 20);
    return 0;
}
