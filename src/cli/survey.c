/* survey and curve: open the machines, measure, deliver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

/* The machines asked for and what was found out about them. */
struct work {
    struct fathom_machine **machines;
    struct fathom_result **results;
    size_t machine_count, result_count;
    enum fathom_format format;
};

static int check_request(const struct fm_request *request)
{
    if (request->machine_count && request->replay)
        return fm_complain(FM_EXIT_USAGE, "--replay: --machine was given too: choose one");
    if (request->record && request->replay)
        return fm_complain(FM_EXIT_USAGE, "--record: nothing is measured with --replay: copy %s",
                           request->replay);
    if (request->record && request->machine_count > 1)
        return fm_complain(FM_EXIT_USAGE,
                           "--record: a file holds one machine: record them one at a time");
    if (request->native_cpu && (request->machine_count || request->replay))
        return fm_complain(FM_EXIT_USAGE,
                           "--cpu: only this computer has CPUs to choose from: leave it out");
    if (request->quiet && request->verbose)
        return fm_complain(FM_EXIT_USAGE, "--quiet: --verbose was given too: choose one");
    return FM_EXIT_ANSWERED;
}

/* Nothing that is read or written may be written once more. */
static int check_overwriting(const struct fm_request *request)
{
    int code = fm_refuse_same("--record", request->record, request->output, "the result goes to");
    if (code == FM_EXIT_ANSWERED)
        code = fm_refuse_overwriting("-o", request->output, request->replay);
    for (size_t i = 0; i < request->machine_count && code == FM_EXIT_ANSWERED; i++) {
        code = fm_refuse_overwriting("-o", request->output, request->machines[i]);
        if (code == FM_EXIT_ANSWERED)
            code = fm_refuse_overwriting("--record", request->record, request->machines[i]);
    }
    return code;
}

static int format_named(const char *name, const char *option, enum fathom_format *format)
{
    static const struct {
        const char *name;
        enum fathom_format format;
    } formats[] = {{"table", FATHOM_TABLE},
                   {"txt", FATHOM_TABLE},
                   {"json", FATHOM_JSON},
                   {"csv", FATHOM_CSV},
                   {"html", FATHOM_HTML}};
    struct fathom_error err;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *format = formats[i].format;
            return fathom_can_render(*format, &err)
                       ? FM_EXIT_ANSWERED
                       : fm_complain(FM_EXIT_LACKING, "%s: %s", option, err.text);
        }
    return fm_complain(FM_EXIT_USAGE,
                       "%s: '%.64s' is no format: use --format table, json, csv or html", option,
                       name);
}

int fm_choose_format(const struct fm_request *request, enum fathom_format *format)
{
    *format = FATHOM_TABLE;
    if (request->format)
        return format_named(request->format, "--format", format);
    const char *base = request->output ? strrchr(request->output, '/') : NULL;
    const char *dot = request->output ? strrchr(base ? base : request->output, '.') : NULL;
    return dot && dot[1] ? format_named(dot + 1, request->output, format) : FM_EXIT_ANSWERED;
}

static int check_files(const struct fm_request *request)
{
    struct fathom_error err;
    if (request->output && strcmp(request->output, "-") != 0 &&
        !fathom_can_save(request->output, &err))
        return fm_complain_error(&err);
    if (request->record && !fathom_can_save(request->record, &err))
        return fm_complain_error(&err);
    return FM_EXIT_ANSWERED;
}

static struct fathom_machine *open_one(const struct fm_request *request, size_t index,
                                       struct fathom_error *err)
{
    if (request->replay)
        return fathom_open_recorded(request->replay, request->options, err);
    if (request->machine_count)
        return fathom_open_described(request->machines[index], request->options, err);
    return fathom_open_native(request->options, err);
}

/* All are opened before the first is measured: a mistake in the last should not cost the time of
   the others. */
static int open_machines(const struct fm_request *request, struct work *work)
{
    struct fathom_error err;
    const size_t wanted = request->machine_count ? request->machine_count : 1;

    work->machines = calloc(wanted, sizeof *work->machines);
    work->results = calloc(wanted, sizeof *work->results);
    if (!work->machines || !work->results)
        return fm_complain(FM_EXIT_LACKING, "memory: there is none left: close other programs");
    for (; work->machine_count < wanted; work->machine_count++) {
        struct fathom_machine *machine = open_one(request, work->machine_count, &err);
        if (!machine)
            return fm_complain_error(&err);
        work->machines[work->machine_count] = machine;
    }
    if (request->record && !fathom_record(work->machines[0], &err))
        return fm_complain_error(&err);
    return FM_EXIT_ANSWERED;
}

static void close_work(struct work *work)
{
    for (size_t i = 0; i < work->result_count; i++)
        fathom_result_free(work->results[i]);
    for (size_t i = 0; i < work->machine_count; i++)
        fathom_close(work->machines[i]);
    free(work->results);
    free(work->machines);
}

static int measure(const struct fm_request *request, struct work *work)
{
    struct fm_progress progress =
        fm_progress_begin(!request->quiet && !request->no_progress, work->machine_count);
    struct fathom_error err;
    bool failed = false;

    fm_outlast_interrupts();
    fathom_options_progress(request->options, fm_progress_step, &progress);
    /* The first also after an interruption: its result then says that it is not complete. */
    for (size_t i = 0; i < work->machine_count && !failed && !(i && fm_interrupted()); i++) {
        progress.machine = i;
        work->results[i] = fathom_survey(work->machines[i], request->options, &err);
        failed = !work->results[i];
        work->result_count += !failed;
    }
    fm_progress_end(&progress);
    /* So that get and programs have it at once. Only a whole survey is taken; where it cannot be
       kept nothing is lost that was asked for. */
    if (!failed && !request->replay && !request->machine_count && !fm_interrupted())
        fathom_keep(work->results[0], request->options, NULL);
    if (!failed && request->record)
        failed = !fathom_record_save(work->machines[0], request->record, &err);
    return failed ? fm_complain_error(&err) : FM_EXIT_ANSWERED;
}

/* The formats without a place for warnings leave them to standard error. */
static void print_warnings(const struct fm_request *request, const struct work *work)
{
    if (request->quiet || work->format != FATHOM_CSV)
        return;
    for (size_t i = 0; i < work->result_count; i++)
        for (size_t j = 0; j < fathom_warning_count(work->results[i]); j++) {
            const struct fathom_warning warning = fathom_warning_at(work->results[i], j);
            fm_complain(0, "warning: %s: %s", warning.text, warning.remedy);
        }
}

static bool any_measured(const struct work *work)
{
    for (size_t i = 0; i < work->result_count; i++)
        for (size_t j = 0; j < fathom_finding_count(work->results[i]); j++)
            if (fathom_finding_status(fathom_finding_at(work->results[i], j)) == FATHOM_MEASURED)
                return true;
    return false;
}

static int deliver_text(const struct fm_request *request, const struct work *work, char *text,
                        const struct fathom_error *err)
{
    if (!text)
        return fm_complain_error(err);
    const int code = fm_deliver(text, request->output);
    free(text);
    if (code != FM_EXIT_ANSWERED)
        return code;
    print_warnings(request, work);
    if (fm_interrupted())
        return FM_EXIT_INTERRUPTED;
    return any_measured(work) ? FM_EXIT_ANSWERED : FM_EXIT_NOTHING;
}

static int deliver_results(const struct fm_request *request, const struct work *work)
{
    struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err;
    if (look.width > 80)
        look.width = 80; /* longer lines of text are hard to read */
    char *text = fathom_text(work->results, work->result_count, work->format, &look, &err);
    return deliver_text(request, work, text, &err);
}

/* The curve a probe draws; a complaint names those that draw one. */
static int find_curve(const char *probe, const char **curve)
{
    char drawing[512] = "";
    for (size_t i = 0; i < fathom_probe_count(); i++) {
        const struct fathom_probe known = fathom_probe_at(i);
        if (strcmp(known.name, probe) == 0 && known.curve) {
            *curve = known.curve;
            return FM_EXIT_ANSWERED;
        }
        const size_t used = strlen(drawing);
        if (known.curve)
            snprintf(drawing + used, sizeof drawing - used, "%s%s", used ? ", " : "", known.name);
    }
    return fm_complain(FM_EXIT_USAGE, "curve: %.64s draws no curve: those that do are %s", probe,
                       drawing);
}

static int deliver_curve(const struct fm_request *request, const struct work *work, const char *id)
{
    const struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err;
    const struct fathom_curve *curve =
        work->result_count ? fathom_curve_find(work->results[0], id) : NULL;

    if (work->format == FATHOM_JSON || work->format == FATHOM_HTML)
        return deliver_results(request, work);
    if (!curve || fathom_point_count(curve) == 0)
        return fm_complain(fm_interrupted() ? FM_EXIT_INTERRUPTED : FM_EXIT_NOTHING,
                           "curve: nothing of %s was measured: give it more time", id);
    return deliver_text(request, work, fathom_curve_text(curve, work->format, &look, &err), &err);
}

static bool interrupted(void *data)
{
    (void)data;
    return fm_interrupted();
}

/* The same once more, in callgrind's model: what that prints is the answer. */
static int run_in_callgrind(const struct fm_request *request)
{
    struct fathom_error err;
    int code;
    fm_outlast_interrupts();
    if (!fathom_run_in_callgrind(request->options, request->arguments, interrupted, NULL, &code,
                                 &err))
        return fm_complain_error(&err);
    /* Where it was too early for its own handler, a signal ended it. */
    return fm_interrupted() ? FM_EXIT_INTERRUPTED : code;
}

static int prepare(const struct fm_request *request, struct work *work)
{
    int code = check_request(request);
    if (code == FM_EXIT_ANSWERED)
        code = check_overwriting(request);
    if (code == FM_EXIT_ANSWERED)
        code = fm_choose_format(request, &work->format);
    if (code == FM_EXIT_ANSWERED)
        code = open_machines(request, work);
    if (code == FM_EXIT_ANSWERED)
        code = check_files(request);
    return code != FM_EXIT_ANSWERED && fm_interrupted() ? FM_EXIT_INTERRUPTED : code;
}

int fm_run_survey(struct fm_request *request)
{
    struct work work = {0};
    if (!request->machine_count && !request->replay && fathom_needs_callgrind(request->options))
        return run_in_callgrind(request);
    int code = prepare(request, &work);
    if (code == FM_EXIT_ANSWERED)
        code = measure(request, &work);
    if (code == FM_EXIT_ANSWERED)
        code = deliver_results(request, &work);
    close_work(&work);
    return code;
}

int fm_run_curve(struct fm_request *request)
{
    struct work work = {0};
    struct fathom_error err;
    const char *probe = request->operands[0], *id = NULL;
    int code = find_curve(probe, &id);

    if (code == FM_EXIT_ANSWERED && !request->machine_count && !request->replay &&
        fathom_needs_callgrind(request->options))
        return run_in_callgrind(request);
    if (code == FM_EXIT_ANSWERED && request->machine_count > 1)
        code = fm_complain(FM_EXIT_USAGE, "curve: one machine at a time: give --machine once");
    if (code == FM_EXIT_ANSWERED && !fathom_options_set(request->options, "only", probe, &err))
        code = fm_complain_error(&err);
    if (code == FM_EXIT_ANSWERED)
        code = prepare(request, &work);
    if (code == FM_EXIT_ANSWERED)
        code = measure(request, &work);
    if (code == FM_EXIT_ANSWERED)
        code = deliver_curve(request, &work, id);
    close_work(&work);
    return code;
}
