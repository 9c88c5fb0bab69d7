/* get: values alone, at once where a survey was kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

const struct fm_option fm_get_options[] = {
    {.name = "result",
     .argument = "FILE",
     .help = "take the values from this result instead",
     FM_TEXT(result)},
    {.name = "refresh", .help = "survey again, whatever was kept", FM_FLAG(refresh)},
    {.name = "quick", .help = "if a survey is needed, a short one", .apply = fm_set_preset},
    {.name = "thorough", .help = "if a survey is needed, a long one", .apply = fm_set_preset},
    {.name = "budget",
     .argument = "SECONDS",
     .help = "if a survey is needed, answer within this time",
     .apply = fm_set_option},
    {.name = "cpu",
     .argument = "N",
     .help = "of this CPU instead of the one we start on",
     .apply = fm_set_option},
    {.name = "no-progress", .help = "no progress line", FM_FLAG(no_progress)},
    {.name = "quiet", .help = "no progress, and no reason for what is missing", FM_FLAG(quiet)},
    {.name = NULL},
};

static struct fathom_result *survey(const struct fm_request *request, struct fathom_error *err)
{
    struct fathom_machine *machine = fathom_open_native(request->options, err);
    if (!machine)
        return NULL;
    struct fm_progress progress = fm_progress_begin(!request->quiet && !request->no_progress, 1);
    fm_outlast_interrupts();
    fathom_options_progress(request->options, fm_progress_step, &progress);
    struct fathom_result *result = fathom_survey(machine, request->options, err);
    fm_progress_end(&progress);
    fathom_close(machine);
    if (result)
        fathom_keep(result, request->options, NULL);
    return result;
}

static struct fathom_result *find_result(const struct fm_request *request, struct fathom_error *err)
{
    struct fathom_result *result = NULL;
    if (request->result)
        return fathom_result_read(request->result, err);
    if (!request->refresh)
        result = fathom_kept(request->options, err);
    return result ? result : survey(request, err);
}

static int check_names(const struct fm_request *request)
{
    for (size_t i = 0; i < request->operand_count; i++) {
        const char *name = request->operands[i], *dot = strchr(name, '.');
        if (!dot || dot == name || !dot[1])
            return fm_complain(FM_EXIT_USAGE,
                               "get: '%.64s' is no property: write it like l2.capacity", name);
    }
    return FM_EXIT_ANSWERED;
}

/* Whether anything is known of what a property is one of. */
static bool has_structure(const struct fathom_result *result, const char *property)
{
    const size_t length = strcspn(property, ".") + 1;
    for (size_t i = 0; i < fathom_finding_count(result); i++)
        if (strncmp(fathom_finding_property(fathom_finding_at(result, i)), property, length) == 0)
            return true;
    return false;
}

static void say_missing(const struct fathom_result *result, const char *property,
                        const struct fathom_finding *finding)
{
    static const char *const words[] = {
        [FATHOM_UNDETERMINED] = "undetermined",
        [FATHOM_NOT_SUPPORTED] = "unsupported",
        [FATHOM_ABSENT] = "absent",
    };
    /* What a survey did not come to may be there all the same. */
    if (!finding && !fathom_result_complete(result)) {
        fm_complain(0, "%.64s is undetermined: the survey was interrupted%s", property,
                    fm_interrupted() ? "" : ", or ran out of time");
        return;
    }
    if (!finding && !has_structure(result, property)) {
        fm_complain(0, "%.64s is unsupported: the survey shows no %.*s", property,
                    (int)strcspn(property, "."), property);
        return;
    }
    if (!finding) {
        fm_complain(0, "%.64s: the survey says nothing of it: see fathom --verbose", property);
        return;
    }
    const char *note = fathom_finding_note(finding);
    fm_complain(0, "%.64s is %s%s%s", property, words[fathom_finding_status(finding)],
                *note ? ": " : "", note);
}

/* The shortest decimal that reads back as the same number. */
static void print_number(FILE *out, double number)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fprintf(out, "%s\n", text);
}

static void print_value(FILE *out, const struct fathom_value *value)
{
    char safe[128];
    if (value->kind == FATHOM_NUMBER)
        print_number(out, value->number);
    else if (value->kind == FATHOM_BOOLEAN)
        fprintf(out, "%s\n", value->truth ? "true" : "false");
    else
        fprintf(out, "%s\n", fathom_printable(value->text, safe, sizeof safe));
}

/* A line for each property, so that a script can count on their order; an empty one for what is not
   known, unless nothing else was asked for. */
static int print_values(const struct fm_request *request, const struct fathom_result *result,
                        FILE *out)
{
    int code = FM_EXIT_ANSWERED;
    for (size_t i = 0; i < request->operand_count; i++) {
        const struct fathom_finding *finding = fathom_find(result, request->operands[i]);
        if (finding && fathom_finding_status(finding) == FATHOM_MEASURED) {
            const struct fathom_value value = fathom_finding_value(finding);
            print_value(out, &value);
            continue;
        }
        code = FM_EXIT_NOTHING;
        if (request->operand_count > 1)
            putc('\n', out);
        if (!request->quiet)
            say_missing(result, request->operands[i], finding);
    }
    return code;
}

int fm_run_get(struct fm_request *request)
{
    struct fathom_error err;
    int code = check_names(request);
    if (code != FM_EXIT_ANSWERED)
        return code;
    struct fathom_result *result = find_result(request, &err);
    if (!result) {
        code = fm_complain_error(&err);
        return fm_interrupted() ? FM_EXIT_INTERRUPTED : code;
    }
    code = print_values(request, result, stdout);
    const int delivered = fm_deliver("", NULL);
    fathom_result_free(result);
    if (delivered != FM_EXIT_ANSWERED)
        return delivered;
    return fm_interrupted() ? FM_EXIT_INTERRUPTED : code;
}
