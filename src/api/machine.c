#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/config.h"
#include "api/counters.h"
#include "api/handles.h"
#include "format/callgrind_model.h"
#include "format/machine_file.h"
#include "format/text.h"
#include "machine/native/native.h"
#include "machine/recorded/recorded.h"
#include "machine/simulated/simulated.h"
#include "meter/callgrind.h"
#include "meter/clock.h"
#include "meter/joint.h"
#include "meter/papi.h"
#include "meter/perf.h"
#include "meter/prove.h"
#include "survey/survey.h"

/* The options under which a recording keeps where its survey was stopped, and how long it was to
   take. */
#define STOPPED "stopped"
#define PACE    "pace"

struct fathom_machine {
    struct fm_machine *machine;
    struct fm_meter *clock; /* of this computer; NULL elsewhere */
    struct fm_tally *tally; /* that counts on it; NULL: none */
    struct fm_claims claims;
    struct fm_recording recording; /* being made, or being replayed */
    char *file;                    /* that is replayed; NULL: none is */
    bool records;
};

/* Hands a machine out, or takes everything back when opening it failed. */
static struct fathom_machine *opened(struct fathom_machine *handle, const struct fm_error *inner,
                                     struct fathom_error *err)
{
    if (handle && handle->machine)
        return handle;
    if (handle)
        fm_api_fail(err, inner);
    else
        fm_api_out_of_memory(err);
    fathom_close(handle);
    return NULL;
}

static struct fathom_machine *new_handle(void)
{
    struct fathom_machine *handle = calloc(1, sizeof *handle);
    if (handle)
        fm_recording_init(&handle->recording);
    return handle;
}

/* What a machine that is not this computer has no counters for. */
static bool refuse_meters(const struct fathom_options *options, const char *what,
                          struct fm_error *err)
{
    if (options->callgrind || options->meter == FM_METER_CALLGRIND)
        return fm_fail(err, FM_ERR_USAGE, "callgrind: it is a cache model of its own: leave out %s",
                       what);
    if (options->meter == FM_METER_PERF || options->meter == FM_METER_PAPI || options->events)
        return fm_fail(err, FM_ERR_USAGE,
                       "meter: perf and papi count on this computer: leave out %s", what);
    return true;
}

static bool refuse_sim(const struct fathom_options *options, struct fm_error *err)
{
    return options->meter != FM_METER_SIM ||
           fm_fail(err, FM_ERR_UNSUPPORTED,
                   "meter: only a described machine has the counters of sim: use clock, or add "
                   "a machine");
}

/* Takes a meter whose events can be believed. */
static bool believe(struct fathom_machine *handle, struct fm_tally *tally, struct fm_error *err)
{
    struct fm_proof proof;
    handle->tally = tally;
    if (!tally || !fm_tally_prove(tally, &proof, err))
        return false;
    for (unsigned bit = 0; bit < FM_EVENTS && !tally->info.events; bit++)
        if (proof.why[bit][0])
            return fm_fail(err, FM_ERR_UNSUPPORTED, "meter: no event of %s can be believed: %s %s",
                           tally->info.meter, fm_event_structure(bit), proof.why[bit]);
    return true;
}

/* Where nothing is asked for, every meter that proves itself is a witness more, and nothing is lost
   where none does. */
static void believe_who_is_there(struct fathom_machine *handle)
{
    struct fm_error unheard;
    struct fm_tally *perf =
        fm_api_proved(fm_perf_open(&fm_perf_misses, &fm_perf_kernel, NULL, &unheard));
    struct fm_tally *papi = fm_api_proved(fm_api_open_papi_for(perf ? perf->info.events : 0, NULL));
    handle->tally = fm_tally_join(perf, papi, &unheard);
}

static bool bad_event(const struct fm_error *inner, struct fm_error *err)
{
    return fm_fail(err, inner->code, "events: %.480s", inner->text);
}

/* perf with the events that were named, or with those that are known. */
static struct fm_tally *open_perf(const struct fathom_options *options, struct fm_error *err)
{
    struct fm_perf_named named;
    struct fm_error inner;
    if (!options->events)
        return fm_perf_open(&fm_perf_misses, &fm_perf_kernel, NULL, err);
    if (fm_perf_name_events(options->events, fm_perf_is_known, &named, &inner))
        return fm_perf_open(&named.events, &fm_perf_kernel, NULL, err);
    bad_event(&inner, err);
    return NULL;
}

/* The same of PAPI. */
static struct fm_tally *open_papi(const struct fathom_options *options, struct fm_error *err)
{
    struct fm_papi_named named;
    struct fm_error inner;
    if (!options->events)
        return fm_papi_open(&fm_papi_misses, NULL, err);
    if (fm_papi_name_events(options->events, &named, &inner))
        return fm_papi_open(&named.plan, NULL, err);
    bad_event(&inner, err);
    return NULL;
}

/* Opens the meter that was asked for and tries its events. */
static bool open_tally(struct fathom_machine *handle, const struct fathom_options *options,
                       struct fm_error *err)
{
    if (options->events && options->meter != FM_METER_PERF && options->meter != FM_METER_PAPI)
        return fm_fail(err, FM_ERR_USAGE,
                       "events: whose names they are is open: add the meter perf or papi");
    if (options->meter == FM_METER_CALLGRIND && !options->callgrind)
        return fm_fail(err, FM_ERR_USAGE,
                       "meter: callgrind counts in a cache model: add --callgrind "
                       "\"D1=32768,8,64 LL=262144,16,64\", or the like");
    /* An I1 that nobody named is not asked for. */
    const bool code = options->callgrind && strstr(options->callgrind, "I1=");
    if (options->callgrind || options->meter == FM_METER_CALLGRIND)
        return believe(handle, fm_callgrind_open(code, err), err);
    if (options->meter == FM_METER_PERF)
        return believe(handle, open_perf(options, err), err);
    if (options->meter == FM_METER_PAPI)
        return believe(handle, open_papi(options, err), err);
    if (options->meter == FM_METER_AUTO)
        believe_who_is_there(handle);
    return true;
}

static void make_claims(struct fathom_machine *handle, const struct fathom_options *options)
{
    struct fm_description model;
    if (!handle->tally || !handle->tally->info.alone)
        fm_claims_of_this_machine(handle->machine->info.cpu, &handle->claims);
    else if (options->callgrind && fm_callgrind_model(options->callgrind, &model, NULL))
        fm_claims_of_callgrind(&model, &handle->claims);
}

struct fathom_machine *fathom_open_native(const struct fathom_options *options,
                                          struct fathom_error *err)
{
    struct fm_error inner = {0};
    struct fathom_machine *handle = new_handle();

    if (handle && refuse_sim(options, &inner) && open_tally(handle, options, &inner))
        handle->clock = fm_clock_open(&inner);
    if (handle && handle->clock)
        handle->machine = fm_native_open(options->cpu, handle->clock, &inner);
    if (handle && handle->machine) {
        if (handle->tally)
            fm_native_count(handle->machine, handle->tally);
        make_claims(handle, options);
    }
    return opened(handle, &inner, err);
}

/* A file by that name, or a shipped machine's. */
static bool read_description(const char *file_or_name, const struct fathom_options *options,
                             struct fm_description *description, struct fm_error *err)
{
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/%s.yaml", fm_api_machines_folder(options), file_or_name);
    const bool is_file = access(file_or_name, F_OK) == 0;
    if (is_file || strchr(file_or_name, '/') || (size_t)length >= sizeof path)
        return fm_description_read(file_or_name, description, err);
    if (access(path, F_OK) == 0)
        return fm_description_read(path, description, err);
    char shown[96];
    return fm_fail(err, FM_ERR_USAGE,
                   "%s: there is no such file, and no machine of that name is shipped: `fathom "
                   "machines` lists those that are",
                   fm_escape(file_or_name, strlen(file_or_name), shown, sizeof shown));
}

struct fathom_machine *fathom_open_described(const char *file_or_name,
                                             const struct fathom_options *options,
                                             struct fathom_error *err)
{
    struct fm_error inner = {0};
    struct fm_description description;
    struct fathom_machine *handle = new_handle();

    if (handle && refuse_meters(options, "the described machine", &inner) &&
        read_description(file_or_name, options, &description, &inner)) {
        handle->machine = fm_simulated_open(&description, options->survey.seed, &inner);
        fm_claims_of_description(&description, &handle->claims);
    }
    if (handle && handle->machine)
        fm_simulated_count(handle->machine, options->meter == FM_METER_SIM);
    return opened(handle, &inner, err);
}

static bool keep_name(struct fathom_machine *handle, const char *file, struct fm_error *err)
{
    handle->file = strdup(file);
    return handle->file || fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
}

struct fathom_machine *fathom_open_recorded(const char *file, const struct fathom_options *options,
                                            struct fathom_error *err)
{
    struct fm_error inner = {0};
    struct fathom_machine *handle = new_handle();

    if (handle && refuse_sim(options, &inner) && refuse_meters(options, "the recording", &inner) &&
        fm_recording_read(file, &handle->recording, &inner) && keep_name(handle, file, &inner)) {
        handle->machine = fm_recorded_open(&handle->recording, &inner);
        fm_api_claims_recall(&handle->claims, &handle->recording);
    }
    return opened(handle, &inner, err);
}

void fathom_close(struct fathom_machine *machine)
{
    if (!machine)
        return;
    if (machine->machine)
        machine->machine->ops->close(machine->machine);
    if (machine->clock)
        machine->clock->ops->close(machine->clock);
    if (machine->tally)
        machine->tally->ops->close(machine->tally);
    fm_recording_free(&machine->recording);
    free(machine->file);
    free(machine);
}

bool fathom_record(struct fathom_machine *machine, struct fathom_error *err)
{
    struct fm_error inner;
    if (machine->records)
        return true;
    if (machine->file) {
        fm_fail(&inner, FM_ERR_USAGE, "record: this machine is a recording: copy its file");
        return fm_api_fail(err, &inner);
    }
    struct fm_machine *recorder = fm_recorder_open(machine->machine, &machine->recording, &inner);
    if (!recorder)
        return fm_api_fail(err, &inner);
    machine->machine = recorder;
    machine->records = true;
    return true;
}

bool fathom_record_save(struct fathom_machine *machine, const char *file, struct fathom_error *err)
{
    struct fm_error inner;
    if (!machine->records) {
        fm_fail(&inner, FM_ERR_USAGE, "record: nothing was recorded: call fathom_record first");
        return fm_api_fail(err, &inner);
    }
    return fm_recording_write(&machine->recording, FM_VERSION, file, &inner) ||
           fm_api_fail(err, &inner);
}

/* Stands between the survey and the caller's progress function, so that a survey that was stopped
   while it was recorded stops at the same place when it is replayed. */
struct watcher {
    const struct fm_survey_options *asked;
    uint64_t calls;
    uint64_t stop_at; /* 0: nowhere */
    bool stopped;     /* by the caller */
};

static bool watch(void *data, const char *what, double fraction, double seconds_left)
{
    struct watcher *watcher = data;
    watcher->calls++;
    if (!watcher->stopped && watcher->asked->progress &&
        watcher->asked->progress(watcher->asked->progress_data, what, fraction, seconds_left)) {
        watcher->stopped = true;
        watcher->stop_at = watcher->calls;
    }
    return watcher->stop_at && watcher->calls >= watcher->stop_at;
}

/* Counts that were scaled to the whole time are estimates. */
static void warn_of_turns(const struct fathom_machine *machine, struct fm_result *result)
{
    const struct fm_tally *perf = fm_tally_part(machine->tally, "perf");
    if (perf && fm_perf_was_scaled(perf))
        fm_result_warn(
            result, "multiplexed",
            "end other programs that count, or ask for fewer structures with --only",
            "perf: there were more events than counters, so that they took turns; counts "
            "are scaled to the whole time");
}

/* Seconds that a survey by the clock of this computer should take, in each effort; of others nobody
   waits for the time that they tell. */
#define QUICK_S 5.0

static double pace_of(const struct fathom_machine *machine, const struct fathom_options *options)
{
    static const double paces[] = {[FM_QUICK] = QUICK_S, [FM_NORMAL] = 14.5, [FM_THOROUGH] = 0};
    const char *recorded = machine->file ? fm_recording_option(&machine->recording, PACE) : NULL;
    if (recorded)
        return strtod(recorded, NULL);
    const bool models = machine->tally && machine->tally->info.alone;
    return machine->clock && !models ? paces[options->survey.effort] : 0;
}

/* Who gives this computer no longer than a quick survey takes gets one: of a whole survey there
   would be its beginning, which tells nothing yet. */
static enum fm_effort effort_of(const struct fm_survey_options *options)
{
    const bool brief = options->pace_s > 0 && options->budget_s > 0 && options->budget_s <= QUICK_S;
    return brief && options->effort == FM_NORMAL ? FM_QUICK : options->effort;
}

static bool run(struct fathom_machine *machine, const struct fathom_options *options,
                struct watcher *watcher, struct fm_result *result, struct fm_error *err)
{
    struct fm_survey_options survey = options->survey;
    watcher->asked = &options->survey;
    survey.progress = watch;
    survey.progress_data = watcher;
    survey.pace_s = pace_of(machine, options);
    survey.effort = effort_of(&survey);
    if (!fm_survey(machine->machine, &machine->claims, &survey, result, err))
        return false;
    warn_of_turns(machine, result);
    return true;
}

/* A recording holds one survey: the next one takes the place of the last. */
static void forget_calls(struct fm_recording *recording)
{
    const struct fm_machine_info machine = recording->machine;
    fm_recording_free(recording);
    fm_recording_init(recording);
    recording->machine = machine;
}

static bool keep_number(struct fm_recording *recording, const char *name, const char *number,
                        struct fm_error *err)
{
    return fm_recording_set_option(recording, name, number) ||
           fm_fail(err, FM_ERR_INTERNAL, "recording: no room for its option %s", name);
}

static bool run_recorded(struct fathom_machine *machine, const struct fathom_options *options,
                         struct fm_result *result, struct fm_error *err)
{
    struct watcher watcher = {0};
    char pace[24], stopped[24];

    forget_calls(&machine->recording);
    snprintf(pace, sizeof pace, "%g", pace_of(machine, options));
    if (!fm_api_options_keep(options, &machine->recording, err) ||
        !keep_number(&machine->recording, PACE, pace, err) ||
        !fm_api_claims_keep(&machine->claims, &machine->recording, err) ||
        !run(machine, options, &watcher, result, err))
        return false;
    snprintf(stopped, sizeof stopped, "%llu", (unsigned long long)watcher.stop_at);
    return !watcher.stopped || keep_number(&machine->recording, STOPPED, stopped, err);
}

static bool replay(struct fathom_machine *machine, const struct fathom_options *options,
                   struct fm_result *result, struct fm_error *err)
{
    const char *stopped = fm_recording_option(&machine->recording, STOPPED);
    struct watcher watcher = {.stop_at = stopped ? strtoull(stopped, NULL, 10) : 0};
    struct fm_error inner = {0};

    if (run(machine, options, &watcher, result, &inner) &&
        (watcher.stopped || fm_recorded_finished(machine->machine, &inner)))
        return true;
    return fm_fail(err, inner.code, "%s: %.400s", fm_short_path(machine->file), inner.text);
}

static bool survey_into(struct fathom_machine *machine, const struct fathom_options *options,
                        struct fm_result *result, struct fathom_error *err)
{
    struct fathom_options *recalled = NULL;
    struct fm_error inner = {0};
    bool done;

    if (machine->file) {
        recalled = fm_api_options_recall(options, &machine->recording, err);
        if (!recalled)
            return false;
        done = replay(machine, recalled, result, &inner);
    } else if (machine->records) {
        done = run_recorded(machine, options, result, &inner);
    } else {
        struct watcher watcher = {0};
        done = run(machine, options, &watcher, result, &inner);
    }
    fathom_options_free(recalled);
    return done || fm_api_fail(err, &inner);
}

struct fathom_result *fathom_survey(struct fathom_machine *machine,
                                    const struct fathom_options *options, struct fathom_error *err)
{
    struct fathom_result *result = calloc(1, sizeof *result);
    if (!result) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    fm_result_init(&result->result);
    if (survey_into(machine, options, &result->result, err))
        return result;
    fathom_result_free(result);
    return NULL;
}
