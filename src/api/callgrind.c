/* Running this program once more under callgrind. */
#include <stdlib.h>
#include <sys/wait.h>

#include "api/handles.h"
#include "format/callgrind_model.h"
#include "meter/callgrind.h"
#include "meter/valgrind.h"

bool fathom_needs_callgrind(const struct fathom_options *options)
{
    return options->callgrind && !fm_callgrind_here();
}

/* The program by the file it was started from, with the same arguments. */
static char **command_of(char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **command = calloc(count + 2, sizeof *command);
    if (!command)
        return NULL;
    command[0] = realpath("/proc/self/exe", NULL);
    for (size_t i = 0; i < count; i++)
        command[i + 1] = arguments[i];
    return command;
}

static bool start(const struct fathom_options *options, char *const *command,
                  bool (*stop)(void *data), void *data, int *status, struct fm_error *err)
{
    struct fm_description model;
    char caches[3][FM_CALLGRIND_OPTION];
    const char *list[4] = {NULL};
    if (!fm_callgrind_model(options->callgrind, &model, err))
        return false;
    for (size_t i = 0; i < 3; i++)
        list[i] = fm_callgrind_option(&model.caches[i], caches[i]);
    const struct fm_valgrind_plan plan = {
        .options = list, .command = command, .self = true, .stop = stop, .data = data};
    struct fm_valgrind_end end;
    const bool ran = fm_valgrind_run(&plan, NULL, NULL, &end, err);
    *status = end.status;
    return ran;
}

bool fathom_run_in_callgrind(const struct fathom_options *options, char *const *arguments,
                             bool (*stop)(void *data), void *data, int *exit_status,
                             struct fathom_error *err)
{
    struct fm_error inner = {0};
    int status;
    char **command = command_of(arguments);
    if (!command || !command[0]) {
        free(command);
        return fm_api_out_of_memory(err);
    }
    const bool good = start(options, command, stop, data, &status, &inner);
    free(command[0]);
    free(command);
    if (!good)
        return fm_api_fail(err, &inner);
    *exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}
