/* What a survey asks of a simulated machine: references by the clock alone, and with the machine's
   exact counters beside it, in all and by each probe. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "goal.h"
#include "machine/simulated/simulated.h"
#include "random_machine.h"
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

static void show_probes(const struct spent *clock, const struct spent *both)
{
    for (size_t i = 0; i < fm_probe_count(); i++) {
        const char *name = fm_probe_at(i).name;
        const double alone = of_probe(clock, name), beside = of_probe(both, name);
        if (alone > 0 || beside > 0)
            printf("  %-20s clock alone %7.2f, with counters %7.2f million\n", name, alone / 1e6,
                   beside / 1e6);
    }
}

/* Whether counters save as much as they are to. */
static bool bench(const char *name, const struct fm_description *description, bool every_probe)
{
    struct spent clock, both;
    survey(description, false, &clock);
    survey(description, true, &both);
    goal_at_most(name, both.all / 1e6, "million", GOAL * clock.all / 1e6);
    fflush(stdout);
    if (every_probe)
        show_probes(&clock, &both);
    return both.all <= GOAL * clock.all;
}

static bool bench_file(const char *file, bool every_probe)
{
    const char *folder = getenv("FATHOM_SOURCE");
    char path[4096];
    struct fm_description description;
    struct fm_error err;
    snprintf(path, sizeof path, "%s/machines/%s.yaml", folder ? folder : ".", file);
    if (!fm_description_read(strchr(file, '/') ? file : path, &description, &err))
        give_up(&err);
    return bench(file, &description, every_probe);
}

/* Random machines, by turns quiet and with noise on scattered pages; every fourth has no TLB. */
static bool bench_random(unsigned number, bool every_probe)
{
    const bool noise = number % 2, translates = number % 8 < 6;
    struct fm_description description;
    char name[64];
    fm_random_machine(1, number, noise, &description);
    if (!translates)
        description.tlb_count = 0;
    snprintf(name, sizeof name, "random %u%s%s", number, noise ? ", noise" : "",
             translates ? "" : ", no TLB");
    return bench(name, &description, every_probe);
}

static bool is_number(const char *text, unsigned *number)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (unsigned)value;
    return *end == '\0' && end != text && value <= UINT_MAX;
}

static bool bench_range(const char *first, const char *count)
{
    unsigned from, machines;
    bool good = true;
    if (!is_number(first, &from) || !is_number(count, &machines))
        give_up(&(struct fm_error){.text = "bench-references --random FIRST COUNT"});
    for (unsigned i = 0; i < machines; i++)
        good &= bench_random(from + i, machines == 1);
    return good;
}

/* bench-references [MACHINE...]: machines that are shipped, and random ones by their numbers; alone
   or after --probes they are shown probe by probe.
   bench-references --random FIRST COUNT: random ones in a row.
   Fails if one of them misses the goal. */
int main(int argc, char **argv)
{
    static const char *const some[] = {"intel-pentium-133", "intel-core2-t5600-merom",
                                       "intel-xeon-e5530-nehalem", "intel-pentium4",
                                       "sun-ultrasparc-t1"};
    if (argc == 4 && strcmp(argv[1], "--random") == 0)
        return !bench_range(argv[2], argv[3]);
    const bool probes = argc > 1 && strcmp(argv[1], "--probes") == 0;
    const int given = argc - 1 - probes;
    const char *const *machines = given ? (const char *const *)(argv + 1 + probes) : some;
    const int count = given ? given : (int)(sizeof some / sizeof some[0]);
    bool good = true;
    for (int i = 0; i < count; i++) {
        unsigned number;
        const bool every_probe = probes || given == 1;
        good &= is_number(machines[i], &number) ? bench_random(number, every_probe)
                                                : bench_file(machines[i], every_probe);
    }
    return !good;
}
