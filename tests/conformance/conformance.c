/* The survey on the machines of the papers: paper beside us, and whether the rules hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "found.h"
#include "published.h"
#include "rules.h"

#define JOBS 2

struct plan {
    bool check;
    uint64_t seed;
    const char *only; /* part of a file's name; NULL: all machines */
};

static const char *const unit_names[] = {
    [LATENCY_NONE] = "", [LATENCY_ADDS] = "adds", [LATENCY_MISS_CYCLES] = "miss cycles"};

static void print_count(double value, int width)
{
    if (isnan(value))
        printf("%*s", width, "?");
    else if (value == 0)
        printf("%*s", width, "-");
    else
        printf("%*.5g", width, value);
}

static void print_kib(double bytes, int width)
{
    print_count(bytes / 1024, width);
}

static void print_figures(const struct published_figure *table, double ours, int width,
                          void (*print)(double, int))
{
    print(table->documented, width);
    print(table->paper, width + 1);
    print(ours, width + 1);
    printf("  ");
}

static void print_heading(void)
{
    printf("%33s%-17s%-19s%-19s%-25s%s\n", "", "time (s)", "line (B)", "ways", "capacity (KiB)",
           "latency");
    printf(
        "%-31s wall   cpu  level  doc paper  ours   doc paper ours     doc   paper    ours  paper"
        "   ours unit\n",
        "machine");
}

static void print_level(const struct published_level *table, const struct found_level *ours,
                        const char *why)
{
    printf("  %-4s", table->name);
    print_figures(&table->line, ours->line, 5, print_count);
    /* The survey does not ask for the ways of outer levels. */
    const bool first = strcmp(table->name, "l1d") == 0;
    print_figures(&table->ways, first ? ours->ways : 0, 4, print_count);
    print_figures(&table->capacity, ours->capacity, 7, print_kib);
    print_count(table->latency, 5);
    if (isnan(ours->latency) || table->unit == LATENCY_NONE)
        print_count(table->unit == LATENCY_NONE ? 0 : NAN, 7);
    else
        printf("%7.1f", ours->latency);
    printf(" %-11s  %s%s\n", unit_names[table->unit], *why ? "NOT: " : "ok", why);
}

static size_t print_machine(const struct published_machine *machine, const struct found *found)
{
    char why[WHY_TEXT];
    size_t good = 0;
    for (size_t i = 0; i < machine->count; i++) {
        good += level_holds(machine, found, i, why);
        if (i == 0)
            printf("%-31.*s%5.1f%6.1f", (int)strcspn(machine->file, "."), machine->file,
                   found->wall_s, found->cpu_s);
        else
            printf("%42s", "");
        print_level(&machine->levels[i], &found->levels[i], why);
    }
    return good;
}

static bool print_table(const struct published *table, const struct found *found)
{
    size_t good = 0, rows = 0;
    print_heading();
    for (size_t i = 0; i < table->count; i++) {
        good += print_machine(&table->machines[i], &found[i]);
        rows += table->machines[i].count;
    }
    printf("%zu of %zu rows hold\n", good, rows);
    return good == rows;
}

/* One test case a machine, in TAP. */
static bool print_cases(const struct published *table, const struct found *found)
{
    bool all = true;
    printf("1..%zu\n", table->count);
    for (size_t i = 0; i < table->count; i++) {
        const struct published_machine *machine = &table->machines[i];
        char why[PUBLISHED_LEVELS][WHY_TEXT];
        bool good = true;
        for (size_t level = 0; level < machine->count; level++)
            good &= level_holds(machine, &found[i], level, why[level]);
        printf("%sok %zu - %.*s\n", good ? "" : "not ", i + 1, (int)strcspn(machine->file, "."),
               machine->file);
        for (size_t level = 0; level < machine->count; level++)
            if (*why[level])
                printf("# %s: %s\n", machine->levels[level].name, why[level]);
        all &= good;
    }
    return all;
}

static bool read_arguments(int argc, char **argv, struct plan *plan)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            plan->check = true;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc &&
                 fm_parse_count(argv[i + 1], &plan->seed))
            i++;
        else if (argv[i][0] != '-' && !plan->only)
            plan->only = argv[i];
        else {
            fprintf(stderr, "conformance: what is '%s'? [--check] [--seed N] [PART OF A NAME]\n",
                    argv[i]);
            return false;
        }
    }
    return true;
}

static void keep_only(struct published *table, const char *part)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (!part || strstr(table->machines[i].file, part))
            table->machines[kept++] = table->machines[i];
    table->count = kept;
}

int main(int argc, char **argv)
{
    struct plan plan = {.seed = 1};
    if (!read_arguments(argc, argv, &plan))
        return 2;
    const char *root = getenv("FATHOM_SOURCE");
    char path[512];
    struct published table;
    struct fm_error err;
    snprintf(path, sizeof path, "%s/tests/data/published.csv", root ? root : ".");
    if (!published_read(path, &table, &err)) {
        fprintf(stderr, "conformance: %s\n", err.text);
        return 2;
    }
    keep_only(&table, plan.only);
    if (table.count == 0) {
        fprintf(stderr, "conformance: no machine has '%s' in its name\n", plan.only);
        return 2;
    }
    snprintf(path, sizeof path, "%s/machines", root ? root : ".");
    struct found *found = find_all(&table, path, plan.seed, JOBS);
    if (!found) {
        fprintf(stderr, "conformance: no memory\n");
        return 2;
    }
    const bool good = plan.check ? print_cases(&table, found) : print_table(&table, found);
    found_free(found, &table);
    return good ? 0 : 1;
}
