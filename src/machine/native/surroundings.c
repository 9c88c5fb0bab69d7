/* What the system tells of the computer's surroundings: facts for the result, used for nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/result.h"
#include "core/smallfile.h"
#include "core/units.h"
#include "machine/native/computer.h"
#include "machine/native/hypervisor.h"
#include "machine/native/pages.h"

/* The kernel marks the choice in force: "always [madvise] never". */
static bool chosen(const char *text, char *choice, size_t size)
{
    const char *open = strchr(text, '[');
    const char *close = open ? strchr(open, ']') : NULL;
    if (!close || (size_t)(close - open) > size)
        return false;
    snprintf(choice, size, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

static void note_pages(const struct fm_computer *computer, struct fm_environment *environment)
{
    char text[128], choice[32];
    const uint64_t resized = fm_placements_resized(&computer->placements);
    fm_environment_set(environment, "page_size", fm_number((double)fm_base_page()));
    if (fm_read_small("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) &&
        chosen(text, choice, sizeof choice))
        fm_environment_set(environment, "thp", fm_text(choice));
    if (resized)
        fm_environment_set(environment, FM_PAGES_RESIZED, fm_number((double)resized));
}

static void note_interference(struct fm_computer *computer, struct fm_environment *environment)
{
    const double steal = fm_watch_steal(&computer->watch);
    if (steal >= 0)
        fm_environment_set(environment, "steal", fm_number(steal));
    fm_environment_set(environment, "context_switches",
                       fm_number((double)fm_watch_switches(&computer->watch)));
    fm_environment_set(environment, FM_CORE_SHARED, fm_number(fm_sibling_busy(&computer->sibling)));
    double load;
    if (getloadavg(&load, 1) == 1)
        fm_environment_set(environment, "load_average", fm_number(load));
}

static void note_frequency(int cpu, struct fm_environment *environment)
{
    char text[64];
    uint64_t khz;
    const char *const folder = "/sys/devices/system/cpu/cpu";
    if (fm_read_smallf(text, sizeof text, "%s%d/cpufreq/scaling_governor", folder, cpu))
        fm_environment_set(environment, "governor", fm_text(text));
    if (fm_read_smallf(text, sizeof text, "%s%d/cpufreq/scaling_cur_freq", folder, cpu) &&
        fm_parse_count(text, &khz))
        fm_environment_set(environment, "mhz", fm_number((double)khz / 1000));
}

static void note_system(struct fm_environment *environment)
{
    struct utsname system;
    if (uname(&system) == 0)
        fm_environment_set(environment, "kernel", fm_text(system.release));
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus > 0)
        fm_environment_set(environment, "cpus", fm_number((double)cpus));
    /* Which they are, as in "0-3,8"; a list that is longer than a fact may be is left out. */
    char online[sizeof((struct fm_value *)0)->text + 1], name[32];
    if (fm_read_small("/sys/devices/system/cpu/online", online, sizeof online) &&
        strlen(online) < sizeof online - 1)
        fm_environment_set(environment, "online", fm_text(online));
    bool virtualised;
    if (!fm_hypervisor("", &virtualised, name, sizeof name))
        return;
    fm_environment_set(environment, "virtualised", fm_bool(virtualised));
    if (name[0])
        fm_environment_set(environment, "hypervisor", fm_text(name));
}

void fm_computer_surroundings(struct fm_computer *computer, struct fm_environment *environment)
{
    note_system(environment);
    note_pages(computer, environment);
    note_frequency(computer->pin.cpu, environment);
    note_interference(computer, environment);
}
