/* What a survey asks of a simulated machine: references by the clock alone, and with the machine's
   exact counters beside it, in all and by each probe. */
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "goal.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"
#include "thrifty_machine.h"

#define PROBES 48
/* With counters at most so much of what the clock alone needs. */
#define GOAL 0.5

struct spent {
    struct thrifty machine;
    const char *names[PROBES];
    double at[PROBES]; /* references when the probe was first heard of */
    size_t count;
    double all;
};

static void give_up(const struct fm_error *err)
{
    fprintf(stderr, "bench-references: %s\n", err->text);
    exit(1);
}

/* Probes tell their names as they go on. */
static bool note(void *data, const char *what, double fraction, double left)
{
    (void)fraction;
    (void)left;
    struct spent *spent = data;
    if (spent->count == 0 ||
        (spent->count < PROBES && strcmp(spent->names[spent->count - 1], what) != 0)) {
        spent->names[spent->count] = what;
        spent->at[spent->count++] = spent->machine.references;
    }
    return false;
}

static double of_probe(const struct spent *spent, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < spent->count; i++)
        if (strcmp(spent->names[i], name) == 0)
            sum += (i + 1 < spent->count ? spent->at[i + 1] : spent->all) - spent->at[i];
    return sum;
}

static void survey(const struct fm_description *description, bool counters, struct spent *spent)
{
    struct fm_error err;
    struct fm_result result;
    struct fm_machine *machine = fm_simulated_open(description, 1, &err);
    if (!machine)
        give_up(&err);
    fm_simulated_count(machine, counters);
    *spent = (struct spent){.machine = thrifty_around(machine)};
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = 1, .progress = note, .progress_data = spent};
    fm_result_init(&result);
    if (!fm_survey(&spent->machine.machine, NULL, &options, &result, &err))
        give_up(&err);
    spent->all = spent->machine.references;
    machine->ops->close(machine);
    fm_result_free(&result);
}

static void bench(const char *file, bool every_probe)
{
    const char *folder = getenv("FATHOM_SOURCE");
    char path[4096];
    struct fm_description description;
    struct fm_error err;
    struct spent clock, both;
    snprintf(path, sizeof path, "%s/machines/%s.yaml", folder ? folder : ".", file);
    if (!fm_description_read(strchr(file, '/') ? file : path, &description, &err))
        give_up(&err);
    survey(&description, false, &clock);
    survey(&description, true, &both);
    goal_at_most(file, both.all / 1e6, "million", GOAL * clock.all / 1e6);
    for (size_t i = 0; every_probe && i < fm_probe_count(); i++) {
        const char *name = fm_probe_at(i).name;
        const double alone = of_probe(&clock, name), beside = of_probe(&both, name);
        if (alone > 0 || beside > 0)
            printf("  %-20s clock alone %7.2f, with counters %7.2f million\n", name, alone / 1e6,
                   beside / 1e6);
    }
}

/* Named machines are shown probe by probe. */
int main(int argc, char **argv)
{
    static const char *const some[] = {"intel-pentium-133", "intel-core2-t5600-merom",
                                       "intel-xeon-e5530-nehalem", "intel-pentium4",
                                       "sun-ultrasparc-t1"};
    for (int i = 1; i < argc; i++)
        bench(argv[i], true);
    for (size_t i = 0; argc == 1 && i < sizeof some / sizeof some[0]; i++)
        bench(some[i], false);
    return 0;
}
