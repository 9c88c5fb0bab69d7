/* What `fathom stat` with perf events adds to a command's time: the command alone and under stat,
 * in turns, the least of each. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "goal.h"

#define TURNS 15
/* About a second of work that misses caches and makes page faults. */
#define ROUNDS 24
#define WORDS  ((size_t)4 << 20)

static int work(void)
{
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *words = malloc(WORDS * sizeof *words);
        if (!words)
            return 1;
        for (size_t i = 0; i < WORDS; i++)
            words[i] = i * (uint64_t)round;
        for (size_t i = 0; i < WORDS; i++)
            sum += words[(i * 2654435761u) % WORDS];
        free(words);
    }
    return sum == 1;
}

struct times {
    double wall, cpu;
};

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static struct times run_once(const char *const *arguments)
{
    const double start = clock_seconds(CLOCK_MONOTONIC);
    struct rusage usage;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        execv(arguments[0], (char *const *)(const void *)arguments);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "bench-stat: %s failed\n", arguments[0]);
        exit(1);
    }
    return (struct times){clock_seconds(CLOCK_MONOTONIC) - start,
                          seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

static void keep_least(struct times *least, struct times now)
{
    least->wall = now.wall < least->wall ? now.wall : least->wall;
    least->cpu = now.cpu < least->cpu ? now.cpu : least->cpu;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "work") == 0)
        return work();
    if (count != 3) {
        fprintf(stderr, "usage: bench-stat FATHOM MACHINE\n");
        return 2;
    }
    char result[] = "/tmp/bench-stat-XXXXXX";
    const int file = mkstemp(result);
    const char *const survey[] = {arguments[1], "survey", "--quick", "--machine", arguments[2],
                                  "--format",   "json",   "-o",      result,      NULL};
    const char *const alone[] = {arguments[0], "work", NULL};
    const char *const under[] = {arguments[1], "stat", "--quiet",    "--meter", "perf", "--result",
                                 result,       "--",   arguments[0], "work",    NULL};
    struct times without = {1e9, 1e9}, with = {1e9, 1e9};
    if (file < 0)
        return 1;
    close(file);
    run_once(survey);
    for (int i = 0; i < TURNS; i++) {
        keep_least(&without, run_once(alone));
        keep_least(&with, run_once(under));
    }
    unlink(result);
    printf("%-44s %9.4g s        under stat %.4g s\n", "a command, by the wall", without.wall,
           with.wall);
    goal_at_most("what stat adds, by the wall", 100 * (with.wall / without.wall - 1), "%", 2);
    goal_at_most("what stat adds, of processor time", 100 * (with.cpu / without.cpu - 1), "%", 2);
    return 0;
}
