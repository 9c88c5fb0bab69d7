#include "meter/perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter/perf_group.h"

struct perf {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    const struct fm_perf_system *system;
    struct fm_perf_group groups[FM_PERF_EVENTS];
    size_t count;
    struct fm_counts *runs;
    unsigned run, space;
    bool scaled, failed;
};

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static ssize_t kernel_read(int fd, void *into, size_t size)
{
    return read(fd, into, size);
}

static int kernel_control(int fd, unsigned long request)
{
    return ioctl(fd, request, PERF_IOC_FLAG_GROUP);
}

const struct fm_perf_system fm_perf_kernel = {
    .open = kernel_open, .read = kernel_read, .control = kernel_control};

static struct perf *self(struct fm_tally *tally)
{
    return (struct perf *)tally;
}

static bool prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    struct perf *perf = self(tally);
    perf->run = 0;
    perf->failed = false;
    if (runs > perf->space) {
        struct fm_counts *larger = realloc(perf->runs, runs * sizeof *larger);
        if (!larger)
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for counts");
        perf->runs = larger;
        perf->space = runs;
    }
    memset(perf->runs, 0, runs * sizeof *perf->runs);
    return true;
}

static void control_all(const struct perf *perf, unsigned long request)
{
    for (size_t i = 0; i < perf->count; i++)
        perf->system->control(perf->groups[i].fds[0], request);
}

static void start(struct fm_tally *tally)
{
    control_all(self(tally), PERF_EVENT_IOC_RESET);
    control_all(self(tally), PERF_EVENT_IOC_ENABLE);
}

static void stop(struct fm_tally *tally)
{
    struct perf *perf = self(tally);
    control_all(perf, PERF_EVENT_IOC_DISABLE);
    struct fm_counts *counts = &perf->runs[perf->run < perf->space ? perf->run : 0];
    for (size_t i = 0; i < perf->count; i++) {
        uint64_t sum;
        perf->failed |= !fm_perf_group_read(&perf->groups[i], perf->system, &sum, &perf->scaled);
        fm_event_add(counts, perf->groups[i].bit, sum);
    }
    perf->run++;
}

static bool collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                    struct fm_error *err)
{
    const struct perf *perf = self(tally);
    if (perf->failed)
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "perf: a counter was never running: another program may hold it");
    memcpy(counts, perf->runs, runs * sizeof *counts);
    return true;
}

static void close_perf(struct fm_tally *tally)
{
    struct perf *perf = self(tally);
    for (size_t i = 0; i < perf->count; i++)
        fm_perf_group_close(&perf->groups[i]);
    free(perf->runs);
    free(perf);
}

static const struct fm_tally_ops ops = {
    .prepare = prepare,
    .start = start,
    .stop = stop,
    .collect = collect,
    .close = close_perf,
};

struct fm_tally *fm_perf_open(const struct fm_perf_events *events,
                              const struct fm_perf_system *system, struct fm_perf_account *account,
                              struct fm_error *err)
{
    struct fm_perf_account own = {.by = {""}};
    struct perf *perf = calloc(1, sizeof *perf);
    if (!perf) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    account = account ? account : &own;
    memset(account, 0, sizeof *account);
    perf->system = system;
    perf->tally.ops = &ops;
    snprintf(perf->tally.info.meter, sizeof perf->tally.info.meter, "perf");
    const struct fm_perf_opener by = {.system = system, .scope = FM_PERF_OURS};
    for (size_t i = 0; i < events->count; i++)
        if (fm_perf_group_open(&perf->groups[perf->count], &by, &events->list[i], account)) {
            perf->tally.info.events |= 1u << events->list[i].bit;
            perf->count++;
        }
    if (perf->count)
        return &perf->tally;
    fm_fail(err, FM_ERR_UNSUPPORTED, "meter: perf counts nothing here: %s",
            events->count ? account->why[events->list[0].bit] : "no event was asked for");
    close_perf(&perf->tally);
    return NULL;
}

bool fm_perf_was_scaled(const struct fm_tally *tally)
{
    return ((const struct perf *)tally)->scaled;
}
