/* The HTML report of a survey larger than a thorough one is: how long writing it takes, until it
   stands in a file, and how large it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rng.h"
#include "format/file.h"
#include "goal.h"
#include "report/html.h"

#define FINDINGS 200
#define CURVES   24
#define POINTS   250

static bool fill(struct fm_result *result)
{
    struct fm_rng rng;
    char name[48];
    fm_rng_seed(&rng, 1);
    fm_result_init(result);
    result->machine = (struct fm_machine_info){.kind = "native", .name = "bench", .cpu = 0};
    for (int i = 0; i < FINDINGS; i++) {
        snprintf(name, sizeof name, "l%d.property_%d", i / 20 + 1, i % 20);
        struct fm_finding *finding = fm_result_finding(result, name, "ns");
        if (!finding)
            return false;
        finding->status = FM_MEASURED;
        finding->value = finding->low = finding->high = fm_number(fm_rng_unit(&rng));
        finding->confidence = 0.99;
        memset(finding->note, 'n', sizeof finding->note - 1);
    }
    for (int i = 0; i < CURVES; i++) {
        snprintf(name, sizeof name, "curve-%d", i);
        struct fm_curve *curve = fm_result_curve(result, name);
        if (!curve)
            return false;
        curve->x = (struct fm_axis){"footprint", "B"};
        curve->y = (struct fm_axis){"latency", "ns"};
        for (int j = 0; j < POINTS; j++) {
            const double y = 1 + fm_rng_unit(&rng);
            if (!fm_curve_add(curve, (struct fm_point){exp2(9 + j / 16.0), y, y * 0.99, y * 1.01}))
                return false;
        }
    }
    return true;
}

static bool write_report(const struct fm_result *result, const char *path, size_t *length)
{
    char *text = NULL;
    const struct fm_html page = {.results = &result, .count = 1, .version = "bench"};
    FILE *out = open_memstream(&text, length);
    bool done = out && fm_report_html(out, &page, NULL);
    done = out && fclose(out) == 0 && done;
    done = done && fm_file_write(path, text, *length, NULL);
    free(text);
    return done;
}

int main(void)
{
    struct fm_result result;
    char path[] = "/tmp/fathom-bench-XXXXXX";
    size_t length = 0;
    if (!fm_html_available(NULL)) {
        puts("report: this build has none");
        return EXIT_SUCCESS;
    }
    const int fd = mkstemp(path);
    if (fd < 0 || !fill(&result))
        return EXIT_FAILURE;
    close(fd);
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    const bool done = write_report(&result, path, &length);
    const double seconds = clock_seconds(CLOCK_MONOTONIC) - begin;
    unlink(path);
    fm_result_free(&result);
    if (!done)
        return EXIT_FAILURE;
    goal_at_most("HTML report, 6000 points, written", seconds, "s", 0.3);
    goal_at_most("HTML report, 6000 points, size", (double)length / 1e6, "MB", 2);
    return EXIT_SUCCESS;
}
