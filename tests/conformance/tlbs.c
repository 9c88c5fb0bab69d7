/* Data TLBs of the papers' machines: what the tables say beside what the probe finds. A reach holds
 * if it is the documented one, or one that the paper measured on that machine: where the two
 * differ, entries that the system has pinned make the difference, or the paper took one level for
 * another (docs/tlb.md tells which). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

#define MOST_ROWS 64

enum column { FILE_NAME, LEVEL, DOCUMENTED, PAPER, ENTRIES, WAYS, PAGE, COST, SOURCE, COLUMNS };

struct row {
    char text[256];
    char *cells[COLUMNS];
};

struct table {
    struct row rows[MOST_ROWS];
    size_t count;
};

static bool read_table(const char *path, struct table *table)
{
    char heading[256];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool good = fgets(heading, sizeof heading, file);
    while (good && table->count < MOST_ROWS &&
           fgets(table->rows[table->count].text, sizeof table->rows[0].text, file)) {
        char *text = table->rows[table->count].text;
        for (size_t i = 0; i < COLUMNS && good; i++)
            good = (table->rows[table->count].cells[i] = strsep(&text, ",\n")) != NULL;
        table->count++;
    }
    fclose(file);
    return good;
}

static const struct fm_finding *finding(const struct fm_result *result, const char *level,
                                        const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", level, attribute);
    return fm_result_find(result, property);
}

static double number(const struct fm_result *result, const char *level, const char *attribute)
{
    const struct fm_finding *known = finding(result, level, attribute);
    return known && known->status == FM_MEASURED && known->value.kind == FM_VALUE_NUMBER
               ? known->value.number
               : NAN;
}

static bool survey(const char *root, const char *name, struct fm_result *result)
{
    char path[512];
    struct fm_description machine;
    struct fm_error err;
    const struct fm_survey_options options = {.effort = FM_NORMAL, .seed = 1, .only = "tlb"};
    snprintf(path, sizeof path, "%s/machines/%s", root, name);
    struct fm_machine *simulated =
        fm_description_read(path, &machine, &err) ? fm_simulated_open(&machine, 1, &err) : NULL;
    const bool good = simulated && fm_survey(simulated, NULL, &options, result, &err);
    if (!good)
        fprintf(stderr, "%s: %s\n", name, err.text);
    if (simulated)
        simulated->ops->close(simulated);
    return good;
}

/* Whether a reach is one that the table has for this machine. */
static bool reach_holds(const struct table *table, const struct row *row, double reach)
{
    if (reach == strtod(row->cells[DOCUMENTED], NULL))
        return true;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].cells[FILE_NAME], row->cells[FILE_NAME]) == 0 &&
            reach == strtod(table->rows[i].cells[PAPER], NULL))
            return true;
    return false;
}

/* An empty cell asks for nothing. */
static bool number_holds(const char *cell, double ours, double slack)
{
    return !*cell || fabs(ours - strtod(cell, NULL)) <= slack;
}

static bool ways_hold(const char *cell, const struct fm_finding *ways)
{
    if (!*cell)
        return true;
    if (!ways || ways->status != FM_MEASURED)
        return false;
    return ways->value.kind == FM_VALUE_TEXT ? strcmp(ways->value.text, cell) == 0
                                             : ways->value.number == strtod(cell, NULL);
}

static bool judge(const struct table *table, const struct row *row, const struct fm_result *result)
{
    const char *level = row->cells[LEVEL];
    return reach_holds(table, row, number(result, level, "reach")) &&
           number_holds(row->cells[ENTRIES], number(result, level, "entries"), 0) &&
           ways_hold(row->cells[WAYS], finding(result, level, "ways")) &&
           number_holds(row->cells[PAGE], number(result, level, "page_size"), 0) &&
           number_holds(row->cells[COST], number(result, level, "miss_cost_cycles"), 1);
}

static void print_kib(const char *cell)
{
    if (*cell)
        printf("%8.5g", strtod(cell, NULL) / 1024);
    else
        printf("%8s", "-");
}

static void print_row(const struct row *row, const struct fm_result *result, bool good)
{
    const char *level = row->cells[LEVEL];
    const struct fm_finding *ways = finding(result, level, "ways");
    printf("%-34s%-6s", row->cells[FILE_NAME], level);
    print_kib(row->cells[DOCUMENTED]);
    print_kib(row->cells[PAPER]);
    printf("%8.5g%8.5g", number(result, level, "reach") / 1024, number(result, level, "entries"));
    if (ways && ways->status == FM_MEASURED && ways->value.kind == FM_VALUE_TEXT)
        printf("%6s", ways->value.text);
    else
        printf("%6g", number(result, level, "ways"));
    printf("%8.1f  %s\n", number(result, level, "miss_cost_cycles"), good ? "ok" : "NOT");
}

int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const char *root = getenv("FATHOM_SOURCE") ? getenv("FATHOM_SOURCE") : ".";
    static struct table table;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/published_tlbs.csv", root);
    if (!read_table(path, &table)) {
        fprintf(stderr, "conformance: %s cannot be read\n", path);
        return 2;
    }
    if (check)
        printf("1..%zu\n", table.count);
    else
        printf("%-40s%8s%8s%8s%8s%6s%8s\n", "reach in KiB", "doc", "paper", "ours", "entries",
               "ways", "cycles");
    struct fm_result result;
    fm_result_init(&result);
    const char *surveyed = "";
    size_t held = 0;
    for (size_t i = 0; i < table.count; i++) {
        const struct row *row = &table.rows[i];
        if (strcmp(surveyed, row->cells[FILE_NAME]) != 0) {
            fm_result_free(&result);
            fm_result_init(&result);
            surveyed = row->cells[FILE_NAME];
            survey(root, surveyed, &result);
        }
        const bool good = judge(&table, row, &result);
        held += good;
        if (check)
            printf("%sok %zu - %s %s\n", good ? "" : "not ", i + 1, surveyed, row->cells[LEVEL]);
        else
            print_row(row, &result, good);
    }
    fm_result_free(&result);
    if (!check)
        printf("%zu of %zu rows hold\n", held, table.count);
    return held == table.count ? 0 : 1;
}
