/* What can be measured, and what of it here. */
#include <stdlib.h>
#include <string.h>

#include "api/counters.h"
#include "api/handles.h"
#include "api/page.h"
#include "report/report.h"
#include "report/text.h"
#include "survey/survey.h"

#define NO "no: " /* before the reason, in an event's `how` */

/* A reason is a sentence, which no column has room for; and many share one. No names: all do. */
struct reason {
    const char *text;
    char names[512];
};

static void add_name(struct reason *reason, const char *name)
{
    const size_t used = strlen(reason->names);
    snprintf(reason->names + used, sizeof reason->names - used, "%s%s", used ? ", " : "", name);
}

static void print_reason(FILE *out, const char *label, const struct reason *reason,
                         const struct fm_look *look)
{
    char text[1024], shown[2048];
    snprintf(text, sizeof text, "%s: %s%s%s", label, reason->names, *reason->names ? ": " : "",
             reason->text);
    fm_fill(out, fm_show(text, look->unicode, shown, sizeof shown), look->width, 0, 2);
}

static bool is_counted(const struct fm_api_event *event)
{
    return strncmp(event->how, NO, strlen(NO)) != 0;
}

static void print_uncounted(FILE *out, const struct fm_api_counters *counters,
                            const struct fm_look *look)
{
    bool told[sizeof counters->list / sizeof counters->list[0]] = {false};
    for (size_t i = 0; i < counters->count; i++) {
        struct reason reason = {.text = counters->list[i].how + strlen(NO)};
        if (told[i] || is_counted(&counters->list[i]))
            continue;
        for (size_t j = i; j < counters->count; j++)
            if (strcmp(counters->list[j].how, counters->list[i].how) == 0) {
                add_name(&reason, counters->list[j].structure);
                told[j] = true;
            }
        print_reason(out, "not counted", &reason, look);
    }
}

/* Which events answer which property here, and why the others cannot. */
static bool draw_events(FILE *out, const struct fm_api_counters *counters,
                        const struct fm_look *look, struct fm_error *err)
{
    static const char *const headings[] = {"MISSES OF", "ANSWER", "COUNTED HERE"};
    const char *cells[3 * (sizeof counters->list / sizeof counters->list[0])];
    for (size_t i = 0; i < counters->count; i++) {
        const struct fm_api_event *event = &counters->list[i];
        cells[i * 3] = event->structure;
        cells[i * 3 + 1] = event->answers;
        cells[i * 3 + 2] = is_counted(event) ? event->how : "no";
    }
    putc('\n', out);
    if (!fm_report_list(out, headings, 3, cells, counters->count, 2, look, err))
        return false;
    print_uncounted(out, counters, look);
    return true;
}

static bool draw_probes(FILE *out, const char *obstacle, const struct fm_api_counters *counters,
                        const struct fm_look *look, struct fm_error *err)
{
    static const char *const headings[] = {"NAME", "FINDS", "NEEDS", "HERE"};
    const size_t count = fm_probe_count();
    struct reason reason = {.text = obstacle ? obstacle
                                             : "no event can be counted here, for the reasons "
                                               "below"};
    const char **cells = calloc(count * 4 + 1, sizeof *cells);
    if (!cells)
        return fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
    for (size_t i = 0; i < count; i++) {
        const struct fm_probe_info probe = fm_probe_at(i);
        const bool can = !obstacle && (!probe.counts || counters->events);
        cells[i * 4] = probe.name;
        cells[i * 4 + 1] = probe.finds;
        cells[i * 4 + 2] = *probe.needs ? probe.needs : "-";
        cells[i * 4 + 3] = can ? "yes" : "no";
        if (!can && !obstacle)
            add_name(&reason, probe.name);
    }
    const bool drawn = fm_report_list(out, headings, 4, cells, count, 1, look, err);
    free(cells);
    if (drawn && (obstacle || reason.names[0])) {
        putc('\n', out); /* who reads the list by line reads up to here */
        print_reason(out, "not here", &reason, look);
    }
    return drawn;
}

char *fathom_probes_text(const char *obstacle, const struct fathom_look *look,
                         struct fathom_error *err)
{
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_api_counters counters;
    struct fm_page page;

    fm_api_counters_here(&counters);
    if (!fm_page_open(&page)) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    const bool drawn = draw_probes(page.out, obstacle, &counters, &inner, &failure) &&
                       draw_events(page.out, &counters, &inner, &failure);
    return fm_page_close(&page, drawn, &failure, err);
}
