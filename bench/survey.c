/* How long surveys take: of three of the papers' machines, and of this one beside the time that
   reading its memory takes in any case. */
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "goal.h"
#include "machine/native/native.h"
#include "machine/simulated/simulated.h"
#include "meter/clock.h"
#include "survey/survey.h"

struct took {
    double wall, processor;
};

static void give_up(const struct fm_error *err)
{
    fprintf(stderr, "bench-survey: %s\n", err->text);
    exit(1);
}

static struct took survey(struct fm_machine *machine, enum fm_effort effort,
                          struct fm_result *result)
{
    const struct fm_survey_options options = {.effort = effort, .seed = 1};
    struct fm_error err;
    const double wall = clock_seconds(CLOCK_MONOTONIC);
    const double processor = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    fm_result_init(result);
    if (!fm_survey(machine, NULL, &options, result, &err))
        give_up(&err);
    return (struct took){clock_seconds(CLOCK_MONOTONIC) - wall,
                         clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor};
}

static void print_took(const char *what, struct took took, double goal)
{
    char line[64];
    snprintf(line, sizeof line, "%s, wall", what);
    goal_at_most(line, took.wall, "s", goal);
    snprintf(line, sizeof line, "%s, processor", what);
    goal_at_most(line, took.processor, "s", goal);
}

static void bench_published(const char *folder, const char *file, const char *what, double goal)
{
    char path[4096];
    struct fm_description description;
    struct fm_result result;
    struct fm_error err;
    snprintf(path, sizeof path, "%s/machines/%s", folder, file);
    if (!fm_description_read(path, &description, &err))
        give_up(&err);
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    if (!machine)
        give_up(&err);
    print_took(what, survey(machine, FM_NORMAL, &result), goal);
    machine->ops->close(machine);
    fm_result_free(&result);
}

/* One pass to warm up and one to time over each footprint of the walk, a load to a line. */
static double floor_of(const struct fm_result *result)
{
    const struct fm_curve *curve = fm_result_find_curve(result, "cache-only");
    const struct fm_finding *line = fm_result_find(result, "l1d.line");
    const double unit = line && line->status == FM_MEASURED ? line->value.number : 64;
    double ns = 0;
    for (size_t i = 0; curve && i < curve->point_count; i++)
        ns += 2 * curve->points[i].x / unit * curve->points[i].y;
    return ns * 1e-9;
}

static void bench_native(const char *what, enum fm_effort effort, double goal)
{
    char line[64];
    struct fm_error err;
    struct fm_result result;
    struct fm_meter *clock = fm_clock_open(&err);
    struct fm_machine *machine = clock ? fm_native_open(-1, clock, &err) : NULL;
    if (!machine)
        give_up(&err);
    const struct took took = survey(machine, effort, &result);
    print_took(what, took, goal);
    snprintf(line, sizeof line, "%s, beside two passes", what);
    beside_floor(line, took.wall, "s", floor_of(&result));
    machine->ops->close(machine);
    clock->ops->close(clock);
    fm_result_free(&result);
}

int main(void)
{
    const char *folder = getenv("FATHOM_SOURCE");
    if (!folder)
        folder = ".";
    bench_published(folder, "intel-pentium-133.yaml", "published: smallest (Pentium)", 1);
    bench_published(folder, "intel-xeon-e5530-nehalem.yaml", "published: typical (Nehalem)", 1);
    bench_published(folder, "ibm-power7.yaml", "published: largest (POWER7)", 2);
    bench_native("this computer, default", FM_NORMAL, 5);
    bench_native("this computer, quick", FM_QUICK, 2);
    return 0;
}
