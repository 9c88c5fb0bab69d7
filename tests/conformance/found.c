#include "found.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/machine_file.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

const struct fm_cache_description *data_cache(const struct fm_description *machine, size_t level)
{
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].level == level + 1 &&
            machine->caches[i].holds != FM_HOLDS_INSTRUCTIONS)
            return &machine->caches[i];
    return NULL;
}

static double number(const struct fm_result *result, const char *structure, const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    const struct fm_finding *finding = fm_result_find(result, property);
    const bool known =
        finding && finding->status == FM_MEASURED && finding->value.kind == FM_VALUE_NUMBER;
    return known ? finding->value.number : NAN;
}

static double latency(const struct fm_result *result, const char *structure, enum latency_unit unit)
{
    const double cycle = number(result, "cpu", "cycle_time");
    if (unit == LATENCY_MISS_CYCLES)
        return number(result, structure, "miss_latency") / cycle;
    return number(result, structure, "latency") / (cycle * number(result, "cpu", "add_latency"));
}

/* How many levels the survey tells apart, memory not counted. */
static size_t levels_in(const struct fm_result *result)
{
    char name[FM_PROPERTY_TEXT] = "l1d.capacity";
    size_t count = 0;
    for (; fm_result_find(result, name); count++)
        snprintf(name, sizeof name, "l%zu.capacity", count + 2);
    return count;
}

static void take(struct found *found, const struct published_machine *machine,
                 const struct fm_result *result)
{
    found->level_count = levels_in(result);
    for (size_t i = 0; i < machine->count; i++) {
        const struct published_level *level = &machine->levels[i];
        found->levels[i] = (struct found_level){
            .line = number(result, level->name, "line"),
            .ways = number(result, level->name, "ways"),
            .capacity = number(result, level->name, "capacity"),
            .latency = latency(result, level->name, level->unit),
        };
    }
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool survey(struct found *found, const struct published_machine *machine, const char *folder,
                   uint64_t seed, struct fm_error *err)
{
    char path[512];
    const struct fm_survey_options options = {.effort = FM_NORMAL, .seed = seed};
    snprintf(path, sizeof path, "%s/%s", folder, machine->file);
    if (!fm_description_read(path, &found->machine, err))
        return false;
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    struct fm_machine *simulated = fm_simulated_open(&found->machine, seed, err);
    if (!simulated)
        return false;
    struct fm_result result;
    fm_result_init(&result);
    const bool good = fm_survey(simulated, NULL, &options, &result, err);
    found->wall_s = now(CLOCK_MONOTONIC) - wall;
    found->cpu_s = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (good)
        take(found, machine, &result);
    fm_result_free(&result);
    simulated->ops->close(simulated);
    return good;
}

static bool start(struct found *found, const struct published_machine *machine, const char *folder,
                  uint64_t seed)
{
    /* Stands until the job replaces it, so that a crash does not go unseen. */
    snprintf(found->problem, sizeof found->problem, "the survey did not come to its end");
    const pid_t job = fork();
    if (job != 0)
        return job > 0;
    struct fm_error err = {0};
    found->surveyed = survey(found, machine, folder, seed, &err);
    snprintf(found->problem, sizeof found->problem, "%.250s", err.text);
    _exit(0);
}

struct found *find_all(const struct published *table, const char *folder, uint64_t seed,
                       unsigned jobs)
{
    /* Shared with the jobs, which write their answers here. */
    struct found *found = mmap(NULL, table->count * sizeof *found, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return NULL;
    unsigned running = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (running == jobs && wait(NULL) > 0)
            running--;
        running += start(&found[i], &table->machines[i], folder, seed);
    }
    while (running-- && wait(NULL) > 0)
        ;
    return found;
}

void found_free(struct found *found, const struct published *table)
{
    munmap(found, table->count * sizeof *found);
}
