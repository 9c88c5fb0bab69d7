/* The perf meter: the processor's own counters, through perf_event_open. No root is needed where
 * perf_event_paranoid is 2 or less: we count our own program in user mode. */
#ifndef FM_METER_PERF_H
#define FM_METER_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/meter.h"

/* The calls on the kernel, so that tests can refuse what the kernel at hand does not. Each returns
   what the system call does, with errno set. */
struct fm_perf_system {
    int (*open)(struct perf_event_attr *attr, pid_t pid, int group);
    ssize_t (*read)(int fd, void *into, size_t size);
    int (*control)(int fd, unsigned long request);
};
extern const struct fm_perf_system fm_perf_kernel;

/* One way to count a logical event: native events by the names libpfm4 knows them by, their counts
   added up ("A+B"); or a generic encoding, which has a name for people alone. */
struct fm_perf_way {
    const char *name;
    bool generic, kernel; /* kernel: what happens there alone, and so is counted there too */
    uint32_t type;
    uint64_t config, plus; /* plus: another one that is added; 0: none */
};

/* The ways to count the misses of one structure, best first; the first that opens is used. */
#define FM_PERF_WAYS 6
struct fm_perf_event {
    unsigned bit;
    struct fm_perf_way ways[FM_PERF_WAYS]; /* ends with one that has no name */
};

#define FM_PERF_EVENTS 10
struct fm_perf_events {
    struct fm_perf_event list[FM_PERF_EVENTS];
    size_t count;
};
extern const struct fm_perf_events fm_perf_misses;

/* Those, but for structures that a list names an event of: "l1d=NAME,dtlb1=A+B". USAGE with what is
   wrong where it is no such list, or an event is not known; `known` may be NULL: any name is. */
#define FM_PERF_NAMED_TEXT 512
struct fm_perf_named {
    struct fm_perf_events events; /* names are in text */
    unsigned bits;                /* events that were named */
    char text[FM_PERF_NAMED_TEXT];
};
bool fm_perf_name_events(const char *list, bool (*known)(const char *name),
                         struct fm_perf_named *named, struct fm_error *err);
/* Whether libpfm4 knows an event of this processor by that name. */
bool fm_perf_is_known(const char *name);

/* What came of each structure's event: which way is used, or why none is. */
struct fm_perf_account {
    char by[FM_EVENTS][96];   /* "L1D_CACHE_REFILL"; empty: not counted */
    char why[FM_EVENTS][160]; /* and then the reason, with the remedy */
};

/* Opens what can be opened. NULL with err filled (UNSUPPORTED, the reason and the remedy of the
   first structure's event) when that is nothing. account may be NULL. */
struct fm_tally *fm_perf_open(const struct fm_perf_events *events,
                              const struct fm_perf_system *system, struct fm_perf_account *account,
                              struct fm_error *err);

/* Whether counts had to be scaled since the meter was opened, there being more events than
   counters. */
bool fm_perf_was_scaled(const struct fm_tally *tally);

/* What is counted of commands, by enum fm_command_event, and the meter that does. NULL with err
   filled as above; what did not open is said when the counts are read. */
extern const struct fm_perf_events fm_perf_of_commands;
struct fm_command_meter *fm_perf_command_open(const struct fm_perf_events *events,
                                              const struct fm_perf_system *system,
                                              struct fm_error *err);

/* Says why an event could not be opened, and what would help; `paranoid` is the kernel's setting.
 */
void fm_perf_explain(int error, int paranoid, char *text, size_t size);

#endif
