#include "meter/valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meter/callgrind.h"
#include "meter/dumps.h"

/* How often the dumps of a command are looked for, at least, and whether to end. */
#define LOOK_MS 20

static size_t length_of(const char *const *list)
{
    size_t count = 0;
    while (list[count])
        count++;
    return count;
}

/* A copy of the environment with one more in it; both to be freed by the caller. */
static char **environment_with(char *extra)
{
    const size_t count = length_of((const char *const *)environ);
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], FM_CALLGRIND_DUMPS "=", sizeof FM_CALLGRIND_DUMPS) != 0)
            copy[kept++] = environ[i];
    copy[kept] = extra;
    return copy;
}

/* The lists behind each other, for the caller to free. They are only read, but exec's type does not
   say so. */
static char **joined(const char *const *const *lists, size_t count)
{
    size_t all = 0, used = 0;
    for (size_t i = 0; i < count; i++)
        all += length_of(lists[i]);
    char **list = calloc(all + 1, sizeof *list);
    for (size_t i = 0; i < count && list; i++)
        for (const char *const *from = lists[i]; *from; from++)
            list[used++] = (char *)(uintptr_t)*from;
    return list;
}

/* A process that forks hands all it has counted on to its child, and one that runs another program
   in its place forgets it: both are made to write down what they have first, and to begin anew.
   Where a function has several versions, that stands behind its name. posix_spawn and system are
   not among them but clone, which they call: callgrind notices a function that ends in a jump to
   another once only. */
#define WRITES_BEFORE(name) "--dump-before=" name, "--dump-before=" name "@*"

static char **arguments_of(const struct fm_valgrind_plan *plan, const char *out_file,
                           const char *log_file)
{
    static const char *const always[] = {"valgrind",        "-q", "--vgdb=no", "--tool=callgrind",
                                         "--cache-sim=yes", NULL};
    static const char *const of_self[] = {"--instr-atstart=no", "--collect-atstart=no", NULL};
    static const char *const of_other[] = {
        "--trace-children=yes",   WRITES_BEFORE("fork"),     WRITES_BEFORE("__libc_fork"),
        WRITES_BEFORE("_Fork"),   WRITES_BEFORE("vfork"),    WRITES_BEFORE("__libc_vfork"),
        WRITES_BEFORE("clone"),   WRITES_BEFORE("__clone"),  WRITES_BEFORE("execve"),
        WRITES_BEFORE("fexecve"), WRITES_BEFORE("execveat"), NULL};
    const char *const last[] = {out_file, log_file, "--", NULL};
    const char *const *const lists[] = {always, plan->self ? of_self : of_other, plan->options,
                                        last, (const char *const *)plan->command};
    return joined(lists, sizeof lists / sizeof lists[0]);
}

static bool lost(struct fm_error *err)
{
    return fm_fail(err, FM_ERR_INTERNAL, "valgrind: lost: %s", strerror(errno));
}

/* Waits for the end, and hands on that the program shall end early. A wait that blocks would not
   hear of it: the caller's handler may have been set to restart it. */
static bool wait_for_self(pid_t child, const struct fm_valgrind_plan *plan, int *status,
                          struct fm_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    bool told = false;
    for (;;) {
        const pid_t ended = waitpid(child, status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            return lost(err);
        if (ended == child)
            return true;
        if (!told && plan->stop && plan->stop(plan->data)) {
            kill(child, SIGTERM);
            told = true;
        }
        nanosleep(&pause, NULL);
    }
}

/* What may ask us to end. It is blocked while a command runs, and handed on: what is half counted
   is of no use, but a folder must not be left behind. */
static void asks_to_end(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGQUIT);
}

/* The same of a command, whose dumps are taken meanwhile. */
static bool wait_for_other(pid_t child, struct fm_dumps *dumps, int *status, int *asked,
                           struct fm_error *err)
{
    const struct timespec at_once = {0};
    sigset_t signals;
    asks_to_end(&signals);
    for (;;) {
        const pid_t ended = waitpid(child, status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            return lost(err);
        if (ended == child)
            return true;
        const int signal = sigtimedwait(&signals, NULL, &at_once);
        if (signal > 0) {
            *asked = signal;
            kill(child, signal);
        }
        fm_dumps_take(dumps, LOOK_MS);
    }
}

/* Standard input, output and error become nothing. */
static bool silence(posix_spawn_file_actions_t *actions)
{
    bool good = true;
    for (int fd = 0; fd <= 2; fd++)
        good = good && posix_spawn_file_actions_addopen(actions, fd, "/dev/null",
                                                        fd ? O_WRONLY : O_RDONLY, 0) == 0;
    return good;
}

static bool not_installed(struct fm_error *err)
{
    return fm_fail(err, FM_ERR_UNSUPPORTED,
                   "valgrind: it is not installed: install the package valgrind");
}

bool fm_valgrind_there(struct fm_error *err)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        char path[FM_DUMPS_PATH];
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/valgrind", (int)length, at);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return not_installed(err);
}

/* With the signals as a program finds them. */
static int start(const struct fm_valgrind_plan *plan, const sigset_t *mask, char **arguments,
                 char **environment, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failure = plan->silent && !silence(&actions) ? ENOMEM : posix_spawnattr_init(&attributes);
    if (!failure) {
        posix_spawnattr_setsigmask(&attributes, mask);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        failure = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool spawn(const struct fm_valgrind_plan *plan, struct fm_dumps *dumps, const sigset_t *mask,
                  struct fm_valgrind_end *end, struct fm_error *err)
{
    char out_file[FM_DUMPS_PATH + 64], log_file[FM_DUMPS_PATH + 64], told[FM_DUMPS_PATH + 64];
    snprintf(out_file, sizeof out_file, "--callgrind-out-file=%s/%s%s", dumps->folder,
             FM_DUMPS_NAME, plan->self ? "" : ".%p");
    snprintf(log_file, sizeof log_file, "--log-file=%s/%s", dumps->folder, FM_DUMPS_LOG);
    snprintf(told, sizeof told, "%s=%s/%s", FM_CALLGRIND_DUMPS, dumps->folder, FM_DUMPS_NAME);
    char **arguments = arguments_of(plan, out_file, log_file);
    char **environment = plan->self ? environment_with(told) : environ;
    pid_t child;
    int failure = arguments && environment ? 0 : ENOMEM;
    if (!failure)
        failure = start(plan, mask, arguments, environment, &child);
    free(arguments);
    if (plan->self)
        free(environment);
    if (failure == ENOENT)
        return not_installed(err);
    if (failure)
        return fm_fail(err, FM_ERR_UNSUPPORTED, "valgrind: cannot be started: %s",
                       strerror(failure));
    return plan->self ? wait_for_self(child, plan, &end->status, err)
                      : wait_for_other(child, dumps, &end->status, &end->asked, err);
}

bool fm_valgrind_run(const struct fm_valgrind_plan *plan, fm_dump_reader *read, void *data,
                     struct fm_valgrind_end *end, struct fm_error *err)
{
    struct fm_dumps dumps;
    struct fm_error unheard;
    sigset_t signals, before;
    *end = (struct fm_valgrind_end){0};
    if (!fm_dumps_open(&dumps, plan->self ? NULL : read, data, err))
        return false;
    asks_to_end(&signals);
    if (plan->self)
        sigemptyset(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    char why[512];
    bool ran = spawn(plan, &dumps, &before, end, err);
    if (ran && fm_dumps_refusal(&dumps, why, sizeof why))
        ran = fm_fail(err, FM_ERR_UNSUPPORTED, "callgrind: this model cannot be simulated here: %s",
                      why);
    const bool closed = fm_dumps_close(&dumps, ran ? err : &unheard);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ran && closed;
}
