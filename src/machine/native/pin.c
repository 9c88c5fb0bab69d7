#include "machine/native/pin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The kernel refuses a set smaller than its own; no kernel is built for more CPUs than this. */
#define MOST_CPUS 16384

/* "0-3,8": as taskset and the kernel write it. */
static void list_cpus(const struct fm_pin *pin, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < MOST_CPUS && used + 16 < size; cpu++) {
        if (!CPU_ISSET_S(cpu, pin->old_size, pin->old))
            continue;
        const int first = cpu;
        while (cpu + 1 < MOST_CPUS && CPU_ISSET_S(cpu + 1, pin->old_size, pin->old))
            cpu++;
        used += (size_t)snprintf(text + used, size - used, first == cpu ? "%s%d" : "%s%d-%d",
                                 used ? "," : "", first, cpu);
    }
}

static bool move_to(struct fm_pin *pin, int cpu, struct fm_error *err)
{
    char allowed[128];
    list_cpus(pin, allowed, sizeof allowed);
    if (cpu < 0 || cpu >= MOST_CPUS || !CPU_ISSET_S(cpu, pin->old_size, pin->old))
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "CPU %d does not exist or is not allowed here; allowed: %s", cpu, allowed);
    cpu_set_t *only = CPU_ALLOC(MOST_CPUS);
    if (!only)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a set of CPUs");
    CPU_ZERO_S(pin->old_size, only);
    CPU_SET_S(cpu, pin->old_size, only);
    const int failed = sched_setaffinity(0, pin->old_size, only);
    const int reason = errno;
    CPU_FREE(only);
    if (failed)
        return fm_fail(err, FM_ERR_UNSUPPORTED, "cannot run on CPU %d (%s); allowed: %s", cpu,
                       strerror(reason), allowed);
    pin->cpu = cpu;
    return true;
}

bool fm_pin(struct fm_pin *pin, int cpu, struct fm_error *err)
{
    pin->old_size = CPU_ALLOC_SIZE(MOST_CPUS);
    pin->old = CPU_ALLOC(MOST_CPUS);
    if (!pin->old)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a set of CPUs");
    CPU_ZERO_S(pin->old_size, pin->old);
    bool pinned;
    if (sched_getaffinity(0, pin->old_size, pin->old) != 0)
        pinned = fm_fail(err, FM_ERR_UNSUPPORTED, "cannot ask which CPUs are allowed: %s",
                         strerror(errno));
    else
        pinned = move_to(pin, cpu == -1 ? sched_getcpu() : cpu, err);
    if (!pinned)
        CPU_FREE(pin->old);
    return pinned;
}

void fm_unpin(struct fm_pin *pin)
{
    sched_setaffinity(0, pin->old_size, pin->old);
    CPU_FREE(pin->old);
    pin->old = NULL;
}
