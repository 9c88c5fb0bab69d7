/* Why the kernel refuses an event, in words that help. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "meter/perf.h"

void fm_perf_explain(int error, int paranoid, char *text, size_t size)
{
    switch (error) {
    case EACCES:
    case EPERM:
        if (paranoid > 2)
            snprintf(text, size,
                     "kernel.perf_event_paranoid is %d: set it to 2, or give CAP_PERFMON",
                     paranoid);
        else
            snprintf(text, size,
                     "perf_event_open is forbidden here: allow it in the container's seccomp "
                     "profile, or give CAP_PERFMON");
        return;
    case ENOSYS:
        snprintf(text, size,
                 "the kernel has no perf_event_open, or a seccomp profile hides it: "
                 "allow it there");
        return;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        snprintf(text, size,
                 "no such counter here: in a virtual machine, have the host pass on "
                 "its PMU");
        return;
    case EMFILE:
    case ENFILE:
        snprintf(text, size, "too many open files: raise ulimit -n");
        return;
    case EBUSY:
        snprintf(text, size, "another program has the counters for itself: end it");
        return;
    case EINVAL:
        snprintf(text, size, "the kernel does not take the event: use a newer one");
        return;
    default:
        snprintf(text, size, "%s", strerror(error));
    }
}
