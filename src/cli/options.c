/* The options of survey and curve: what each is called, says and does. */
#include <string.h>

#include "cli/cli.h"

/* Sets the library's option of the same name; its complaint begins with that name. */
int fm_set_option(struct fm_request *request, const struct fm_option *option, const char *value)
{
    struct fathom_error err;
    if (fathom_options_set(request->options, option->name, value, &err))
        return FM_EXIT_ANSWERED;
    char text[sizeof err.text];
    memcpy(text, err.text, sizeof text);
    const int code = err.code == FATHOM_UNSUPPORTED ? FM_EXIT_LACKING : FM_EXIT_USAGE;
    return fm_complain(code, "--%s", text);
}

static int set_cpu(struct fm_request *request, const struct fm_option *option, const char *value)
{
    request->native_cpu = true;
    return fm_set_option(request, option, value);
}

int fm_set_preset(struct fm_request *request, const struct fm_option *option, const char *value)
{
    (void)value;
    struct fathom_error err;
    if (request->preset && strcmp(request->preset, option->name) != 0)
        return fm_complain(FM_EXIT_USAGE, "--%s: --%s was given too: choose one", option->name,
                           request->preset);
    request->preset = option->name;
    return fathom_options_set(request->options, "effort", option->name, &err)
               ? FM_EXIT_ANSWERED
               : fm_complain_error(&err);
}

static int add_machine(struct fm_request *request, const struct fm_option *option,
                       const char *value)
{
    (void)option;
    request->machines[request->machine_count++] = value;
    return FM_EXIT_ANSWERED;
}

int fm_keep_text(struct fm_request *request, const struct fm_option *option, const char *value)
{
    *(const char **)(void *)((char *)request + option->member) = value;
    return FM_EXIT_ANSWERED;
}

int fm_raise_flag(struct fm_request *request, const struct fm_option *option, const char *value)
{
    (void)value;
    *(bool *)((char *)request + option->member) = true;
    return FM_EXIT_ANSWERED;
}

const struct fm_option fm_survey_options[] = {
    {.name = "machine",
     .argument = "MACHINE",
     .help = "survey this simulated machine instead of this computer: the name of one that is "
             "shipped, or a file that describes one; may be given more than once",
     .repeats = true,
     .apply = add_machine},
    {.name = "replay",
     .argument = "FILE",
     .help = "analyse the samples recorded in FILE instead of measuring",
     FM_TEXT(replay)},
    {.name = "record", .argument = "FILE", .help = "also save every sample taken", FM_TEXT(record)},
    {.name = "only",
     .argument = "PROBE[,PROBE]",
     .help = "just these probes, and what they need",
     .apply = fm_set_option},
    {.name = "quick",
     .help = "data caches, L1i and data TLBs, less precise, in about two to four seconds",
     .apply = fm_set_preset},
    {.name = "thorough", .help = "more precise, in several times the time", .apply = fm_set_preset},
    {.name = "budget",
     .argument = "SECONDS",
     .help = "answer within this time; what is not reached is undetermined",
     .apply = fm_set_option},
    {.name = "cpu",
     .argument = "N",
     .help = "measure on this CPU instead of the one we start on",
     .apply = set_cpu},
    {.name = "seed", .argument = "N", .help = "take all randomness from N", .apply = fm_set_option},
    {.name = "max-footprint",
     .argument = "SIZE",
     .help = "touch no more memory than this, as in 64MiB",
     .apply = fm_set_option},
    {.name = "meter",
     .argument = "METER",
     .words = "auto clock perf papi sim callgrind",
     .help = "what to read: auto, clock, perf or papi (the processor's counters), sim (a simulated "
             "machine's exact ones) or callgrind",
     .apply = fm_set_option},
    {.name = "events",
     .argument = "LIST",
     .help =
         "events that perf or papi is to count, as \"l1d=NAME,dtlb1=NAME+NAME\", by the names of "
         "libpfm4 or PAPI",
     .apply = fm_set_option},
    {.name = "callgrind",
     .argument = "CACHES",
     .help = "measure callgrind's cache model, as \"D1=32768,8,64 LL=262144,16,64\" (size, ways, "
             "line): runs again under valgrind",
     .apply = fm_set_option},
    {.name = "method",
     .argument = "NAME",
     .words = "cooper-sandoval calibrator papi-cache amp",
     .help = "use one published method alone: cooper-sandoval, calibrator, papi-cache, amp",
     .apply = fm_set_option},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the result to FILE",
     FM_TEXT(output)},
    {.name = "format",
     .argument = "FORMAT",
     .words = "table json csv html",
     .help = "table, json, csv or html; without it FILE's suffix decides, or it is table",
     FM_TEXT(format)},
    {.name = "no-progress", .help = "no progress line", FM_FLAG(no_progress)},
    {.name = "quiet", .help = "the values alone: no progress, notes or warnings", FM_FLAG(quiet)},
    {.name = "verbose", .help = "a sentence for every finding below the table", FM_FLAG(verbose)},
    {.name = NULL},
};
