#include "meter/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/smallfile.h"
#include "core/units.h"
#include "meter/pfm.h"

/* Native events that are added up to one. */
#define TERMS     4
#define NAME_TEXT 96
/* What the kernel says when perf_event_paranoid cannot be read: nothing. */
#define UNKNOWN (-1)

/* One logical event: a group of native ones, which are counted at the same time or not at all. */
struct group {
    unsigned bit;
    int fds[TERMS]; /* the first leads */
    size_t count;
};

struct perf {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    const struct fm_perf_system *system;
    struct group groups[FM_PERF_EVENTS];
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

/* What read gives with the formats we ask for. */
struct reading {
    uint64_t count, enabled, running;
    uint64_t values[TERMS];
};

/* The sum of a group's counts; where it had to share its counters with others it is scaled to the
   whole time. False when it was not counted at all. */
static bool read_group(struct perf *perf, const struct group *group, uint64_t *sum)
{
    struct reading reading = {0};
    const size_t size = (3 + group->count) * sizeof(uint64_t);
    *sum = 0;
    if (perf->system->read(group->fds[0], &reading, size) != (ssize_t)size ||
        reading.count != group->count || reading.running == 0)
        return false;
    for (size_t i = 0; i < group->count; i++)
        *sum += reading.values[i];
    if (reading.running < reading.enabled) {
        perf->scaled = true;
        *sum = (uint64_t)((double)*sum * ((double)reading.enabled / (double)reading.running));
    }
    return true;
}

static void stop(struct fm_tally *tally)
{
    struct perf *perf = self(tally);
    control_all(perf, PERF_EVENT_IOC_DISABLE);
    struct fm_counts *counts = &perf->runs[perf->run < perf->space ? perf->run : 0];
    for (size_t i = 0; i < perf->count; i++) {
        const unsigned bit = perf->groups[i].bit;
        uint64_t *into = bit < FM_CACHE_LEVELS ? &counts->cache_miss[bit]
                                               : &counts->tlb_miss[bit - FM_CACHE_LEVELS];
        perf->failed |= !read_group(perf, &perf->groups[i], into);
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

static void close_group(const struct group *group)
{
    for (size_t i = group->count; i-- > 0;)
        close(group->fds[i]);
}

static void close_perf(struct fm_tally *tally)
{
    struct perf *perf = self(tally);
    for (size_t i = 0; i < perf->count; i++)
        close_group(&perf->groups[i]);
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

/* Ours alone: what the kernel does on our behalf belongs to no string. */
static bool add_to_group(const struct perf *perf, struct group *group, struct perf_event_attr *attr)
{
    attr->size = sizeof *attr;
    attr->disabled = group->count == 0;
    attr->exclude_kernel = attr->exclude_hv = 1;
    attr->read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const int fd = perf->system->open(attr, 0, group->count ? group->fds[0] : -1);
    if (fd < 0)
        return false;
    group->fds[group->count++] = fd;
    return true;
}

/* Opens a sum of native events; errno is 0 where libpfm4 does not know one of them here. */
static bool open_native(const struct perf *perf, struct group *group, const char *names)
{
    for (const char *at = names; *at && group->count < TERMS;) {
        char name[NAME_TEXT];
        struct fm_pfm_code code;
        const size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '+');
        errno = 0;
        if (!fm_pfm_encode(name, &code)) {
            errno = 0;
            return false;
        }
        struct perf_event_attr attr = {.type = code.type,
                                       .config = code.config,
                                       .config1 = code.config1,
                                       .config2 = code.config2};
        if (!add_to_group(perf, group, &attr))
            return false;
    }
    return true;
}

static bool open_way(const struct perf *perf, struct group *group, const struct fm_perf_way *way)
{
    if (way->native)
        return open_native(perf, group, way->native);
    struct perf_event_attr attr = {.type = way->type, .config = way->config};
    return add_to_group(perf, group, &attr);
}

static int paranoid_level(void)
{
    char text[16];
    uint64_t level;
    if (!fm_read_small("/proc/sys/kernel/perf_event_paranoid", text, sizeof text))
        return UNKNOWN;
    return fm_parse_count(text, &level) ? (int)level : UNKNOWN;
}

static bool is_last(const struct fm_perf_way *way)
{
    return !way->native && !way->type && !way->config;
}

/* Tries the ways to count a structure's misses until one opens. */
static void open_event(struct perf *perf, const struct fm_perf_event *event,
                       struct fm_perf_account *account)
{
    int refusal = 0;
    for (size_t i = 0; i < FM_PERF_WAYS && !is_last(&event->ways[i]); i++) {
        struct group *group = &perf->groups[perf->count];
        *group = (struct group){.bit = event->bit};
        errno = 0;
        if (open_way(perf, group, &event->ways[i])) {
            const char *name = event->ways[i].native;
            snprintf(account->by[event->bit], sizeof account->by[0], "%s", name ? name : "generic");
            perf->tally.info.events |= 1u << event->bit;
            perf->count++;
            return;
        }
        refusal = refusal ? refusal : errno;
        close_group(group);
    }
    if (refusal)
        fm_perf_explain(refusal, paranoid_level(), account->why[event->bit],
                        sizeof account->why[0]);
    else
        snprintf(account->why[event->bit], sizeof account->why[0],
                 "no event for it is known on this processor");
}

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
    for (size_t i = 0; i < events->count; i++)
        open_event(perf, &events->list[i], account);
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
