#include "machine/native/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOOK_INTERVAL 0.05

static double seconds_on(clockid_t clock)
{
    struct timespec time = {0, 0};
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Ticks stolen from the CPU since the system started: the eighth number of its line. Lines are
   shorter than 256 bytes, so the read is cut off behind the one we want. */
static bool read_steal(const struct fm_watch *watch, uint64_t *ticks)
{
    if (watch->stat < 0)
        return false;
    const size_t size = ((size_t)watch->cpu + 2) * 256;
    char *text = malloc(size);
    const ssize_t length = text ? pread(watch->stat, text, size - 1, 0) : -1;
    bool found = false;
    if (length > 0) {
        char key[32];
        text[length] = '\0';
        snprintf(key, sizeof key, "\ncpu%d ", watch->cpu);
        const char *line = strstr(text, key);
        found =
            line && sscanf(line + strlen(key), "%*u %*u %*u %*u %*u %*u %*u %" SCNu64, ticks) == 1;
    }
    free(text);
    return found;
}

static long switches(struct rusage *usage)
{
    getrusage(RUSAGE_THREAD, usage);
    return usage->ru_nivcsw;
}

struct fm_watch_mark fm_watch_now(void)
{
    struct rusage usage = {0};
    const long events = switches(&usage) + usage.ru_minflt + usage.ru_majflt;
    const double ran = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    return (struct fm_watch_mark){(uint64_t)events, (seconds_on(CLOCK_MONOTONIC) - ran) * 1e9};
}

struct fm_watch_mark fm_watch_between(struct fm_watch_mark from, struct fm_watch_mark to)
{
    return (struct fm_watch_mark){to.events - from.events, to.away_ns - from.away_ns};
}

/* Of one run: what it cost is the time away and the cached lines that were lost, some hundred at
   least. A run of many milliseconds on a busy computer never goes without; it is believed as long
   as that is a small part of it. */
static bool touched(const struct fm_sample *sample, struct fm_watch_mark seen)
{
    const double lines_lost_ns = 10e3, small_part = 0.005;
    return seen.away_ns + (double)seen.events * lines_lost_ns > small_part * sample->ns;
}

/* An event costs more than a microsecond, so a run that is no slower than the fastest saw none of
   them; that the fastest saw none is sure only when there are fewer events than runs. */
static void judge_several(struct fm_sample *samples, size_t count, uint64_t events)
{
    const double least_cost_ns = 1000;
    double fastest = samples[0].ns;
    for (size_t i = 1; i < count; i++)
        fastest = samples[i].ns < fastest ? samples[i].ns : fastest;
    for (size_t i = 0; i < count; i++)
        samples[i].disturbed = events >= count || samples[i].ns > fastest + least_cost_ns;
}

void fm_watch_judge(struct fm_sample *samples, size_t count, struct fm_watch_mark seen)
{
    if (seen.events == 0)
        return;
    if (count == 1)
        samples[0].disturbed = touched(&samples[0], seen);
    else
        judge_several(samples, count, seen.events);
}

void fm_watch_open(struct fm_watch *watch, int cpu)
{
    *watch = (struct fm_watch){.cpu = cpu, .stat = open("/proc/stat", O_RDONLY | O_CLOEXEC)};
    if (!read_steal(watch, &watch->steal_first))
        fm_watch_close(watch);
    watch->steal_last = watch->steal_first;
    struct rusage usage = {0};
    watch->switches_first = switches(&usage);
    watch->opened = watch->steal_looked = seconds_on(CLOCK_MONOTONIC);
}

void fm_watch_close(struct fm_watch *watch)
{
    if (watch->stat >= 0)
        close(watch->stat);
    watch->stat = -1;
}

bool fm_watch_stolen(struct fm_watch *watch)
{
    const double now = seconds_on(CLOCK_MONOTONIC);
    uint64_t ticks;
    if (now - watch->steal_looked < LOOK_INTERVAL || !read_steal(watch, &ticks))
        return false;
    const bool grew = ticks > watch->steal_last;
    watch->steal_last = ticks;
    watch->steal_looked = now;
    return grew;
}

double fm_watch_steal(struct fm_watch *watch)
{
    uint64_t ticks;
    if (!read_steal(watch, &ticks))
        return -1;
    const double stolen = (double)(ticks - watch->steal_first) / (double)sysconf(_SC_CLK_TCK);
    const double passed = fm_watch_seconds(watch);
    return stolen > 0 && passed > 0 ? (stolen < passed ? stolen / passed : 1) : 0;
}

long fm_watch_switches(const struct fm_watch *watch)
{
    struct rusage usage = {0};
    return switches(&usage) - watch->switches_first;
}

double fm_watch_seconds(const struct fm_watch *watch)
{
    return seconds_on(CLOCK_MONOTONIC) - watch->opened;
}
