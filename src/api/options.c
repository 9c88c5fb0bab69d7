#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "core/units.h"
#include "format/callgrind_model.h"
#include "format/text.h"
#include "meter/perf.h"
#include "survey/survey.h"

struct fathom_options *fathom_options_new(void)
{
    struct fathom_options *options = calloc(1, sizeof *options);
    if (options) {
        options->survey.effort = FM_NORMAL;
        options->cpu = -1;
    }
    return options;
}

void fathom_options_free(struct fathom_options *options)
{
    if (!options)
        return;
    for (size_t i = 0; i < FM_API_OPTIONS; i++)
        free(options->given[i]);
    free(options);
}

void fathom_options_progress(struct fathom_options *options, fathom_progress *progress, void *data)
{
    options->survey.progress = progress;
    options->survey.progress_data = data;
}

static bool refuse(struct fm_error *err, enum fm_error_code code, const char *name,
                   const char *value, const char *why)
{
    char shown[96];
    return fm_fail(err, code, "%s: '%s' %s", name,
                   fm_escape(value, strlen(value), shown, sizeof shown), why);
}

/* A word out of a list ending in NULL: its place, or -1. */
static int place_of(const char *const *words, const char *value)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    return -1;
}

static bool set_effort(struct fathom_options *options, const char *name, const char *value,
                       struct fm_error *err)
{
    static const char *const words[] = {"quick", "normal", "thorough", NULL};
    const int place = place_of(words, value);
    if (place < 0)
        return refuse(err, FM_ERR_USAGE, name, value,
                      "is no effort: use quick, normal or thorough");
    options->survey.effort = (enum fm_effort)place;
    return true;
}

static bool set_method(struct fathom_options *options, const char *name, const char *value,
                       struct fm_error *err)
{
    static const char *const words[] = {
        "default", "cooper-sandoval", "calibrator", "papi-cache", "amp", NULL};
    const int place = place_of(words, value);
    if (place < 0)
        return refuse(
            err, FM_ERR_USAGE, name, value,
            "is no method: use cooper-sandoval, calibrator, papi-cache or amp, or leave it "
            "out");
    options->survey.method = (enum fm_method)place;
    return true;
}

static bool set_meter(struct fathom_options *options, const char *name, const char *value,
                      struct fm_error *err)
{
    static const char *const words[] = {"auto", "clock", "sim", "callgrind", "perf", "papi", NULL};
    const int place = place_of(words, value);
    if (place < 0)
        return refuse(err, FM_ERR_USAGE, name, value,
                      "is no meter: use auto, clock, perf, papi, sim or callgrind");
    options->meter = (enum fm_meter_choice)place;
    return true;
}

static bool set_budget(struct fathom_options *options, const char *name, const char *value,
                       struct fm_error *err)
{
    double seconds;
    if (!fm_parse_number(value, &seconds) || !(seconds > 0))
        return refuse(err, FM_ERR_USAGE, name, value,
                      "is no number of seconds above 0: write it like 2.5");
    options->survey.budget_s = seconds;
    return true;
}

static bool set_max_footprint(struct fathom_options *options, const char *name, const char *value,
                              struct fm_error *err)
{
    uint64_t bytes;
    if (!fm_parse_size(value, &bytes) || bytes == 0)
        return refuse(err, FM_ERR_USAGE, name, value,
                      "is no size: write it like 64, 64K, 64KiB or 1.25MiB");
    options->survey.max_footprint = bytes;
    return true;
}

static bool set_seed(struct fathom_options *options, const char *name, const char *value,
                     struct fm_error *err)
{
    return fm_parse_count(value, &options->survey.seed) ||
           refuse(err, FM_ERR_USAGE, name, value, "is no whole number: write it like 42");
}

static bool set_cpu(struct fathom_options *options, const char *name, const char *value,
                    struct fm_error *err)
{
    uint64_t cpu;
    if (!fm_parse_count(value, &cpu) || cpu > INT32_MAX)
        return refuse(err, FM_ERR_USAGE, name, value,
                      "is no number of a CPU: write it like 0 or 3");
    options->cpu = (int)cpu;
    return true;
}

static bool set_only(struct fathom_options *options, const char *name, const char *value,
                     struct fm_error *err)
{
    struct fm_error inner;
    if (!fm_survey_check_only(value, &inner))
        return fm_fail(err, inner.code, "%s: %.480s", name, inner.text);
    options->survey.only = value;
    return true;
}

static bool set_machines(struct fathom_options *options, const char *name, const char *value,
                         struct fm_error *err)
{
    if (!*value)
        return refuse(err, FM_ERR_USAGE, name, value, "names no folder");
    options->machines = value;
    return true;
}

static bool set_callgrind(struct fathom_options *options, const char *name, const char *value,
                          struct fm_error *err)
{
    struct fm_description model;
    struct fm_error inner;
    if (!fm_callgrind_model(value, &model, &inner))
        return fm_fail(err, inner.code, "%s: %.480s", name, inner.text);
    options->callgrind = value;
    return true;
}

static bool set_events(struct fathom_options *options, const char *name, const char *value,
                       struct fm_error *err)
{
    struct fm_perf_named named;
    struct fm_error inner;
    /* Whose names they are is known when the meter is. */
    if (!fm_perf_name_events(value, NULL, &named, &inner))
        return fm_fail(err, inner.code, "%s: %.480s", name, inner.text);
    options->events = value;
    return true;
}

/* A setter may keep the value's pointer: it lives as long as the options do. */
static const struct setter {
    const char *name;
    bool (*set)(struct fathom_options *, const char *, const char *, struct fm_error *);
    bool of_survey;
} setters[FM_API_OPTIONS] = {
    {"effort", set_effort, true},
    {"method", set_method, true},
    {"budget", set_budget, true},
    {"seed", set_seed, true},
    {"max-footprint", set_max_footprint, true},
    {"only", set_only, true},
    {"meter", set_meter, false},
    {"cpu", set_cpu, false},
    {"machines", set_machines, false},
    {"callgrind", set_callgrind, false},
    {"events", set_events, false},
};

static bool set_at(struct fathom_options *options, size_t index, const char *value,
                   struct fm_error *err)
{
    char *copy = strdup(value);
    if (!copy)
        return fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
    if (!setters[index].set(options, setters[index].name, copy, err)) {
        free(copy);
        return false;
    }
    free(options->given[index]);
    options->given[index] = copy;
    return true;
}

bool fathom_options_set(struct fathom_options *options, const char *name, const char *value,
                        struct fathom_error *err)
{
    struct fm_error inner;
    for (size_t i = 0; i < FM_API_OPTIONS; i++)
        if (strcmp(setters[i].name, name) == 0)
            return set_at(options, i, value, &inner) || fm_api_fail(err, &inner);
    refuse(&inner, FM_ERR_USAGE, "option", name, "does not exist: fathom.h lists those that do");
    return fm_api_fail(err, &inner);
}

bool fm_api_options_keep(const struct fathom_options *options, struct fm_recording *recording,
                         struct fm_error *err)
{
    for (size_t i = 0; i < FM_API_OPTIONS; i++)
        if (setters[i].of_survey && options->given[i] &&
            !fm_recording_set_option(recording, setters[i].name, options->given[i]))
            return fm_fail(err, FM_ERR_USAGE, "%s: too long to be recorded: shorten it",
                           setters[i].name);
    return true;
}

struct fathom_options *fm_api_options_recall(const struct fathom_options *options,
                                             const struct fm_recording *recording,
                                             struct fathom_error *err)
{
    struct fathom_options *recalled = fathom_options_new();
    struct fm_error inner;
    if (!recalled) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < FM_API_OPTIONS; i++) {
        const char *value = options->given[i];
        if (!value && setters[i].of_survey)
            value = fm_recording_option(recording, setters[i].name);
        if (value && !set_at(recalled, i, value, &inner)) {
            fathom_options_free(recalled);
            fm_api_fail(err, &inner);
            return NULL;
        }
    }
    fathom_options_progress(recalled, options->survey.progress, options->survey.progress_data);
    return recalled;
}
