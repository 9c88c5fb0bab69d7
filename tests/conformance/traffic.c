/* Sectors and write allocation of the papers' machines: what the tables say beside what the survey
 * finds. The line that Cooper and Sandoval measured is a sector where it is longer than the
 * documented one, and so is Calibrator's where it is shorter; AMP tells which first levels allocate
 * on a write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

enum column { FILE_NAME, PROPERTY, VALUE, SOURCE, COLUMNS };

static bool survey(const char *root, const char *file, struct fm_result *result,
                   struct fm_error *err)
{
    char path[512];
    struct fm_description description;
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = 1, .only = "fetch,writes"};
    snprintf(path, sizeof path, "%s/machines/%s", root, file);
    if (!fm_description_read(path, &description, err))
        return false;
    struct fm_machine *machine = fm_simulated_open(&description, 1, err);
    if (!machine)
        return false;
    const bool good = fm_survey(machine, NULL, &options, result, err);
    machine->ops->close(machine);
    return good;
}

static void write_value(const struct fm_finding *finding, char *text, size_t space)
{
    if (!finding || finding->status != FM_MEASURED)
        snprintf(text, space, "undetermined (%.200s)", finding ? finding->note : "not asked");
    else if (finding->value.kind == FM_VALUE_NUMBER)
        snprintf(text, space, "%g", finding->value.number);
    else if (finding->value.kind == FM_VALUE_BOOL)
        snprintf(text, space, "%s", finding->value.truth ? "true" : "false");
    else
        snprintf(text, space, "%s", finding->value.text);
}

/* One test case a row, in TAP, which is read as easily. */
static bool print_row(unsigned number, char *const cells[COLUMNS], const struct fm_result *result)
{
    char ours[256];
    write_value(fm_result_find(result, cells[PROPERTY]), ours, sizeof ours);
    const bool good = strcmp(ours, cells[VALUE]) == 0;
    printf("%sok %u - %.*s %s: %s says %s, ours %s\n", good ? "" : "not ", number,
           (int)strcspn(cells[FILE_NAME], "."), cells[FILE_NAME], cells[PROPERTY], cells[SOURCE],
           cells[VALUE], ours);
    return good;
}

int main(void)
{
    const char *root = getenv("FATHOM_SOURCE");
    char path[512], text[256], surveyed[64] = "";
    struct fm_result result;
    struct fm_error err = {0};
    unsigned rows = 0;
    bool good = true;
    snprintf(path, sizeof path, "%s/tests/data/published_traffic.csv", root ? root : ".");
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof text, file)) {
        fprintf(stderr, "traffic-conformance: %s: cannot be read\n", path);
        return 2;
    }
    fm_result_init(&result);
    while (fgets(text, sizeof text, file)) {
        char *rest = text, *cells[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            cells[i] = strsep(&rest, ",\n");
        if (!cells[SOURCE])
            return 2;
        if (strcmp(surveyed, cells[FILE_NAME]) != 0) {
            snprintf(surveyed, sizeof surveyed, "%s", cells[FILE_NAME]);
            fm_result_free(&result);
            fm_result_init(&result);
            if (!survey(root ? root : ".", surveyed, &result, &err))
                printf("# %s: %s\n", surveyed, err.text);
        }
        good &= print_row(++rows, cells, &result);
    }
    printf("1..%u\n", rows);
    fm_result_free(&result);
    fclose(file);
    return good ? 0 : 1;
}
