#include "meter/valgrind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/smallfile.h"
#include "meter/callgrind.h"

#define DUMPS      "dump"
#define DUMP_SPACE ((size_t)64 << 20)
#define PATH_SPACE 4096

/* A folder of our own, that nobody else may enter: no file in it can have been put there. */
static bool make_folder(char *path, size_t size, struct fm_error *err)
{
    const char *base = getenv("TMPDIR");
    const int length =
        snprintf(path, size, "%s/fathom-XXXXXX", base && *base == '/' ? base : "/tmp");
    if (length < 0 || (size_t)length >= size || !mkdtemp(path))
        return fm_fail(err, FM_ERR_IO, "%.200s: no folder can be made there: %s", path,
                       strerror(errno));
    return true;
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, DUMPS, strlen(DUMPS)) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

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

static char **arguments_of(const struct fm_valgrind_plan *plan, const char *out_file)
{
    static const char *const always[] = {"valgrind",        "-q", "--vgdb=no", "--tool=callgrind",
                                         "--cache-sim=yes", NULL};
    static const char *const of_self[] = {"--instr-atstart=no", "--collect-atstart=no", NULL};
    static const char *const of_other[] = {"--trace-children=yes", NULL};
    const char *const last[] = {out_file, "--", NULL};
    const char *const *const lists[] = {always, plan->self ? of_self : of_other, plan->options,
                                        last, (const char *const *)plan->command};
    return joined(lists, sizeof lists / sizeof lists[0]);
}

/* Waits for the end. An interruption may mean that the program shall end early. */
static bool wait_for(pid_t child, const struct fm_valgrind_plan *plan, int *status,
                     struct fm_error *err)
{
    bool told = false;
    while (waitpid(child, status, 0) < 0) {
        if (errno != EINTR)
            return fm_fail(err, FM_ERR_INTERNAL, "valgrind: lost: %s", strerror(errno));
        if (!told && plan->stop && plan->stop(plan->data)) {
            kill(child, SIGTERM);
            told = true;
        }
    }
    return true;
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
        char path[PATH_SPACE];
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/valgrind", (int)length, at);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return not_installed(err);
}

static int start(const struct fm_valgrind_plan *plan, char **arguments, char **environment,
                 pid_t *child)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failure = plan->silent && !silence(&actions) ? ENOMEM : 0;
    if (!failure)
        failure = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool spawn(const struct fm_valgrind_plan *plan, const char *folder, int *status,
                  struct fm_error *err)
{
    char out_file[PATH_SPACE + 64], dumps[PATH_SPACE + 64];
    snprintf(out_file, sizeof out_file, "--callgrind-out-file=%s/%s%s", folder, DUMPS,
             plan->self ? "" : ".%p");
    snprintf(dumps, sizeof dumps, "%s=%s/%s", FM_CALLGRIND_DUMPS, folder, DUMPS);
    char **arguments = arguments_of(plan, out_file);
    char **environment = plan->self ? environment_with(dumps) : environ;
    pid_t child;
    int failure = arguments && environment ? 0 : ENOMEM;
    if (!failure)
        failure = start(plan, arguments, environment, &child);
    free(arguments);
    if (plan->self)
        free(environment);
    if (failure == ENOENT)
        return not_installed(err);
    if (failure)
        return fm_fail(err, FM_ERR_UNSUPPORTED, "valgrind: cannot be started: %s",
                       strerror(failure));
    return wait_for(child, plan, status, err);
}

static bool read_dumps(const char *folder, bool (*read)(void *data, const char *text), void *data,
                       struct fm_error *err)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    char *text = malloc(DUMP_SPACE);
    bool good = directory && text;
    while (good && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, DUMPS, strlen(DUMPS)) != 0)
            continue;
        good = fm_read_smallf(text, DUMP_SPACE, "%s/%s", folder, entry->d_name) && read(data, text);
    }
    free(text);
    if (directory)
        closedir(directory);
    return good || fm_fail(err, FM_ERR_IO, "callgrind: what it wrote cannot be read");
}

bool fm_valgrind_run(const struct fm_valgrind_plan *plan,
                     bool (*read)(void *data, const char *text), void *data, int *status,
                     struct fm_error *err)
{
    char folder[PATH_SPACE];
    if (!make_folder(folder, sizeof folder, err))
        return false;
    const bool good =
        spawn(plan, folder, status, err) && (plan->self || read_dumps(folder, read, data, err));
    remove_folder(folder);
    return good;
}
