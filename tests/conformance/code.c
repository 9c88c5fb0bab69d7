/* AMP's columns of L1 code and ITLB: what the table says beside what the probes find, to the byte,
 * the entry and the way. The ITLB of the UltraSPARC-I has no counter, and so no row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

enum column { FILE_NAME, STRUCTURE, UNIT, SIZE, WAYS, SOURCE, COLUMNS };

static bool survey(const char *root, const char *name, struct fm_result *result)
{
    char path[512];
    struct fm_description machine;
    struct fm_error err;
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = 1, .only = "icache,itlb"};
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

/* A finding as the table would print it; "?" where it is not measured. */
static void show(const struct fm_result *result, const char *structure, const char *attribute,
                 char text[32])
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    const struct fm_finding *finding = fm_result_find(result, property);
    if (!finding || finding->status != FM_MEASURED)
        snprintf(text, 32, "?");
    else if (finding->value.kind == FM_VALUE_TEXT)
        snprintf(text, 32, "%s", finding->value.text);
    else
        snprintf(text, 32, "%.10g", finding->value.number);
}

static bool judge(char *const cells[COLUMNS], const struct fm_result *result)
{
    const bool cache = cells[STRUCTURE][0] == 'l';
    char unit[32], size[32], ways[32];
    show(result, cells[STRUCTURE], cache ? "line" : "page_size", unit);
    show(result, cells[STRUCTURE], cache ? "capacity" : "entries", size);
    show(result, cells[STRUCTURE], "ways", ways);
    const bool good = strcmp(unit, cells[UNIT]) == 0 && strcmp(size, cells[SIZE]) == 0 &&
                      strcmp(ways, cells[WAYS]) == 0;
    printf("# %-30s %-6s paper %5s %5s %4s  ours %5s %5s %4s\n", cells[FILE_NAME], cells[STRUCTURE],
           cells[UNIT], cells[SIZE], cells[WAYS], unit, size, ways);
    return good;
}

/* Goes through the rows whose file has `only` in its name; says how many hold in TAP. */
static bool run(FILE *file, const char *root, const char *only)
{
    char line[256], surveyed[64] = "";
    struct fm_result result;
    size_t rows = 0, held = 0;
    fm_result_init(&result);
    while (fgets(line, sizeof line, file)) {
        char *text = line, *cells[COLUMNS];
        for (size_t i = 0; i < COLUMNS; i++)
            if (!(cells[i] = strsep(&text, ",\n")))
                return false;
        if (!strstr(cells[FILE_NAME], only))
            continue;
        if (strcmp(surveyed, cells[FILE_NAME]) != 0) {
            fm_result_free(&result);
            fm_result_init(&result);
            snprintf(surveyed, sizeof surveyed, "%s", cells[FILE_NAME]);
            survey(root, surveyed, &result);
        }
        const bool good = judge(cells, &result);
        held += good;
        printf("%sok %zu - %s %s\n", good ? "" : "not ", ++rows, cells[FILE_NAME],
               cells[STRUCTURE]);
    }
    fm_result_free(&result);
    printf("1..%zu\n", rows);
    return rows > 0 && held == rows;
}

int main(int argc, char **argv)
{
    const char *root = getenv("FATHOM_SOURCE") ? getenv("FATHOM_SOURCE") : ".";
    char path[512], heading[256];
    snprintf(path, sizeof path, "%s/tests/data/published_code.csv", root);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(heading, sizeof heading, file)) {
        fprintf(stderr, "conformance: %s cannot be read\n", path);
        return 2;
    }
    const bool good = run(file, root, argc > 1 ? argv[1] : "");
    fclose(file);
    return good ? 0 : 1;
}
