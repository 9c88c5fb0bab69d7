#include "meter/perf_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/smallfile.h"
#include "core/units.h"
#include "meter/pfm.h"

#define NAME_TEXT 96
/* What the kernel says when perf_event_paranoid cannot be read: nothing. */
#define UNKNOWN (-1)

/* What read gives with the formats we ask for. */
struct reading {
    uint64_t count, enabled, running;
    uint64_t values[FM_PERF_TERMS];
};

bool fm_perf_group_read(const struct fm_perf_group *group, const struct fm_perf_system *system,
                        uint64_t *sum, bool *scaled)
{
    struct reading reading = {0};
    const size_t size = (3 + group->count) * sizeof(uint64_t);
    *sum = 0;
    if (system->read(group->fds[0], &reading, size) != (ssize_t)size ||
        reading.count != group->count || reading.running == 0)
        return false;
    for (size_t i = 0; i < group->count; i++)
        *sum += reading.values[i];
    if (reading.running < reading.enabled) {
        *scaled = true;
        *sum = (uint64_t)((double)*sum * ((double)reading.enabled / (double)reading.running));
    }
    return true;
}

void fm_perf_group_close(const struct fm_perf_group *group)
{
    for (size_t i = group->count; i-- > 0;)
        close(group->fds[i]);
}

/* Where an event of a group is opened, and how. */
struct opening {
    struct fm_perf_group *group;
    const struct fm_perf_opener *by;
    bool kernel;
};

/* The program's alone, unless that would be nothing: what the kernel does on its behalf belongs to
   no reference of its own, and is not everybody's to count. */
static bool add_to_group(const struct opening *to, struct perf_event_attr *attr)
{
    struct fm_perf_group *group = to->group;
    attr->size = sizeof *attr;
    attr->disabled = group->count == 0;
    attr->exclude_kernel = !to->kernel;
    attr->exclude_hv = 1;
    attr->inherit = to->by->scope == FM_PERF_COMMAND;
    attr->enable_on_exec = to->by->scope == FM_PERF_COMMAND && group->count == 0;
    attr->read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const int fd = to->by->system->open(attr, 0, group->count ? group->fds[0] : -1);
    if (fd < 0)
        return false;
    group->fds[group->count++] = fd;
    return true;
}

/* Opens a sum of native events; errno is 0 where libpfm4 does not know one of them here. */
static bool open_native(const struct opening *to, const char *names)
{
    if (to->by->no_native) {
        errno = to->by->no_native;
        return false;
    }
    for (const char *at = names; *at && to->group->count < FM_PERF_TERMS;) {
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
        if (!add_to_group(to, &attr))
            return false;
    }
    return true;
}

static bool open_generic(const struct opening *to, const struct fm_perf_way *way)
{
    struct perf_event_attr first = {.type = way->type, .config = way->config};
    struct perf_event_attr second = {.type = way->type, .config = way->plus};
    return add_to_group(to, &first) && (!way->plus || add_to_group(to, &second));
}

static int paranoid_level(void)
{
    char text[16];
    uint64_t level;
    if (!fm_read_small("/proc/sys/kernel/perf_event_paranoid", text, sizeof text))
        return UNKNOWN;
    return fm_parse_count(text, &level) ? (int)level : UNKNOWN;
}

int fm_perf_no_counters(const struct fm_perf_system *system)
{
    struct fm_perf_group group = {0};
    const struct fm_perf_opener by = {.system = system, .scope = FM_PERF_COMMAND};
    const struct opening to = {&group, &by, false};
    struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
                                     .config = PERF_COUNT_HW_CPU_CYCLES};
    errno = 0;
    const int refusal = add_to_group(&to, &cycles) ? 0 : errno;
    fm_perf_group_close(&group);
    return refusal;
}

bool fm_perf_group_open(struct fm_perf_group *group, const struct fm_perf_opener *by,
                        const struct fm_perf_event *event, struct fm_perf_account *account)
{
    int refusal = 0;
    for (size_t i = 0; i < FM_PERF_WAYS && event->ways[i].name; i++) {
        const struct fm_perf_way *way = &event->ways[i];
        const struct opening to = {group, by, way->kernel};
        *group = (struct fm_perf_group){.bit = event->bit};
        errno = 0;
        if (way->generic ? open_generic(&to, way) : open_native(&to, way->name)) {
            snprintf(account->by[event->bit], sizeof account->by[0], "%s", way->name);
            return true;
        }
        refusal = refusal ? refusal : errno;
        fm_perf_group_close(group);
    }
    if (refusal)
        fm_perf_explain(refusal, paranoid_level(), account->why[event->bit],
                        sizeof account->why[0]);
    else
        snprintf(account->why[event->bit], sizeof account->why[0],
                 "no event for it is known on this processor");
    return false;
}
