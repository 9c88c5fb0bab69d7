/* stat: where a program's references were served from. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"

/* As env, nice and timeout have it. */
#define STAT_FAILED  FM_EXIT_STAT
#define STAT_NOT_RUN 126
#define STAT_NO_SUCH 127

const struct fm_option fm_stat_options[] = {
    {.name = "meter",
     .argument = "METER",
     .words = "auto perf papi callgrind",
     .help = "who counts: perf or papi (the processor's counters), callgrind (a model, in a run of "
             "its own), or auto: the first that can",
     FM_TEXT(meter)},
    {.name = "element",
     .argument = "BYTES",
     .words = "4 8",
     .help = "bytes of a reference, 4 or 8; without it 8",
     FM_TEXT(element)},
    {.name = "result",
     .argument = "FILE",
     .help = "the measured machine to count in; without it the last survey of this one, or a "
             "quick one",
     FM_TEXT(result)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the result to FILE instead of behind the command's output",
     FM_TEXT(output)},
    {.name = "format",
     .argument = "FORMAT",
     .words = "table json csv",
     .help = "table, json or csv; without it FILE's suffix decides, or it is table",
     FM_TEXT(format)},
    {.name = "quiet", .help = "the values alone: no notes or warnings", FM_FLAG(quiet)},
    {.name = NULL},
};

static unsigned element_of(const char *text)
{
    if (!text)
        return 8;
    return strcmp(text, "4") == 0 ? 4 : strcmp(text, "8") == 0 ? 8 : 0;
}

static bool is_meter(const char *text)
{
    static const char *const meters[] = {"auto", "perf", "papi", "callgrind"};
    bool known = !text;
    for (size_t i = 0; i < sizeof meters / sizeof *meters && !known; i++)
        known = strcmp(text, meters[i]) == 0;
    return known;
}

static int fail_with(const struct fathom_error *err)
{
    fm_complain_error(err);
    return STAT_FAILED;
}

/* The machine to count in: the result that was given, the one that is kept, or a quick survey. */
static struct fathom_result *measured_machine(const struct fm_request *request,
                                              struct fathom_error *err)
{
    if (!request->result) {
        if (!fathom_options_set(request->options, "effort", "quick", err))
            return NULL;
        return fathom_here(request->options, err);
    }
    struct fathom_result *result = fathom_result_read(request->result, err);
    if (result && !request->quiet && !fathom_is_of_here(result))
        fm_complain(0,
                    "warning: %.64s is of another machine than this one: times and counts will "
                    "not belong together: survey this one",
                    request->result);
    return result;
}

/* Ends as the command did: a shell that waits for us shall see the same. */
static int end_like(struct fathom_command ended)
{
    if (ended.ended != FATHOM_KILLED)
        return ended.code;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(ended.code, SIG_DFL);
    raise(ended.code);
    return 128 + ended.code;
}

static int deliver(const struct fm_request *request, enum fathom_format format,
                   struct fathom_result *result, struct fathom_command ended)
{
    struct fathom_error err;
    const struct fathom_look look = fm_look_of_output(request);
    char *text = fathom_stat_text(result, format, &look, &err);
    if (!text)
        return fail_with(&err);
    const int code = fm_deliver(text, request->output);
    free(text);
    return code == FM_EXIT_ANSWERED ? end_like(ended) : STAT_FAILED;
}

static int count(const struct fm_request *request, enum fathom_format format, unsigned element)
{
    struct fathom_error err;
    struct fathom_command ended = {0};
    struct fathom_result *machine = measured_machine(request, &err);
    if (!machine)
        return fail_with(&err);
    struct fathom_result *result = fathom_stat(machine, (char *const *)request->operands, element,
                                               request->meter, &ended, &err);
    fathom_result_free(machine);
    if (!result) {
        fm_complain_error(&err);
        return ended.ended == FATHOM_NOT_FOUND ? STAT_NO_SUCH
               : ended.ended == FATHOM_NOT_RUN ? STAT_NOT_RUN
                                               : STAT_FAILED;
    }
    const int code = deliver(request, format, result, ended);
    fathom_result_free(result);
    return code;
}

int fm_run_stat(struct fm_request *request)
{
    enum fathom_format format;
    const unsigned element = element_of(request->element);
    struct fathom_error err;
    if (!element) {
        fm_complain(0, "--element: '%.32s' is no size of one: use 4 or 8", request->element);
        return STAT_FAILED;
    }
    if (!is_meter(request->meter)) {
        fm_complain(0, "--meter: '%.32s' counts no commands: use auto, perf, papi or callgrind",
                    request->meter);
        return STAT_FAILED;
    }
    if (fm_choose_format(request, &format) != FM_EXIT_ANSWERED)
        return STAT_FAILED;
    if (format == FATHOM_HTML) {
        fm_complain(0, "--format: stat has no page: use table, json or csv");
        return STAT_FAILED;
    }
    if (fm_refuse_overwriting("-o", request->output, request->result) != FM_EXIT_ANSWERED)
        return STAT_FAILED;
    if (request->output && strcmp(request->output, "-") != 0 &&
        !fathom_can_save(request->output, &err))
        return fail_with(&err);
    return count(request, format, element);
}
