/* export: a result in the words of another program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const struct fm_option fm_export_options[] = {
    {.name = "to",
     .argument = "PROGRAM",
     .help = "what to write: gcc, clang, c-header, env, hwloc-xml, cachegrind, kerncraft or html",
     FM_TEXT(target)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write it to FILE",
     FM_TEXT(output)},
    {.name = "quiet", .help = "do not say what was left out", FM_FLAG(quiet)},
    {.name = NULL},
};

/* A build without the report would write an empty page in the place of an old one. */
static int check_build(const char *target)
{
    struct fathom_error err;
    if (strcmp(target, "html") == 0 && !fathom_can_render(FATHOM_HTML, &err))
        return fm_complain(FM_EXIT_LACKING, "--to html: %s", err.text);
    return FM_EXIT_ANSWERED;
}

static int check_target(const char *target)
{
    char known[256] = "";
    for (size_t i = 0; i < fathom_target_count(); i++) {
        const struct fathom_target at = fathom_target_at(i);
        const size_t used = strlen(known);
        if (target && strcmp(target, at.name) == 0)
            return check_build(target);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", at.name);
    }
    if (!target)
        return fm_complain(FM_EXIT_USAGE, "export: --to is missing: use one of %s", known);
    return fm_complain(FM_EXIT_USAGE, "--to: '%.64s' is nothing to export to: use one of %s",
                       target, known);
}

static void say_left_out(char *lines)
{
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
        fm_complain(0, "%s", line);
}

static bool any_measured(const struct fathom_result *result)
{
    for (size_t i = 0; i < fathom_finding_count(result); i++)
        if (fathom_finding_status(fathom_finding_at(result, i)) == FATHOM_MEASURED)
            return true;
    return false;
}

int fm_run_export(struct fm_request *request)
{
    struct fathom_error err;
    char *left_out = NULL;
    int code = check_target(request->target);
    if (code == FM_EXIT_ANSWERED)
        code = fm_refuse_overwriting("-o", request->output, request->operands[0]);
    if (code != FM_EXIT_ANSWERED)
        return code;
    struct fathom_result *result = fathom_result_read(request->operands[0], &err);
    if (!result)
        return fm_complain_error(&err);
    char *text = fathom_export(result, request->target, &left_out, &err);
    if (!text) {
        fathom_result_free(result);
        return fm_complain_error(&err);
    }
    code = fm_deliver(text, request->output);
    if (left_out && !request->quiet)
        say_left_out(left_out);
    if (code == FM_EXIT_ANSWERED && (!*text || !any_measured(result)))
        code = FM_EXIT_NOTHING;
    free(left_out);
    free(text);
    fathom_result_free(result);
    return code;
}
