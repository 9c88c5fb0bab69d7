/* diff: results beside each other. */
#include <stdlib.h>

#include "cli/cli.h"

const struct fm_option fm_diff_options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the differences to FILE",
     FM_TEXT(output)},
    {.name = "format",
     .argument = "FORMAT",
     .words = "table json html",
     .help = "table, json or html; without it FILE's suffix decides, or it is table",
     FM_TEXT(format)},
    {.name = "quiet", .help = "no output: the exit status alone tells", FM_FLAG(quiet)},
    {.name = NULL},
};

static int read_all(const struct fm_request *request, struct fathom_result **results)
{
    struct fathom_error err;
    for (size_t i = 0; i < request->operand_count; i++) {
        results[i] = fathom_result_read(request->operands[i], &err);
        if (!results[i])
            return fm_complain_error(&err);
    }
    return FM_EXIT_ANSWERED;
}

static int deliver(const struct fm_request *request, const struct fathom_diff *diff,
                   enum fathom_format format)
{
    const struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err;
    if (request->quiet)
        return FM_EXIT_ANSWERED;
    char *text = fathom_diff_text(diff, format, &look, &err);
    const int code = text ? fm_deliver(text, request->output) : fm_complain_error(&err);
    free(text);
    return code;
}

static int compare(const struct fm_request *request, struct fathom_result **results,
                   enum fathom_format format)
{
    struct fathom_error err;
    struct fathom_diff *diff =
        fathom_diff(results, request->operands, request->operand_count, &err);
    if (!diff)
        return fm_complain_error(&err);
    int code = deliver(request, diff, format);
    if (code == FM_EXIT_ANSWERED && fathom_diff_count(diff))
        code = FM_EXIT_DIFFERS;
    fathom_diff_free(diff);
    return code;
}

int fm_run_diff(struct fm_request *request)
{
    enum fathom_format format;
    struct fathom_result **results = calloc(request->operand_count, sizeof *results);
    if (!results)
        return fm_complain(FM_EXIT_LACKING, "memory: there is none left: close other programs");
    int code = fm_choose_format(request, &format);
    for (size_t i = 0; i < request->operand_count && code == FM_EXIT_ANSWERED; i++)
        code = fm_refuse_overwriting("-o", request->output, request->operands[i]);
    if (code == FM_EXIT_ANSWERED)
        code = read_all(request, results);
    if (code == FM_EXIT_ANSWERED)
        code = compare(request, results, format);
    for (size_t i = 0; i < request->operand_count; i++)
        fathom_result_free(results[i]);
    free(results);
    return code;
}
