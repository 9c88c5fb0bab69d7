/* Results kept for this computer, under the user's cache folder. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/config.h"
#include "api/handles.h"
#include "claims/fingerprint.h"
#include "format/file.h"
#include "format/json_result.h"
#include "format/text.h"
#include "machine/native/computer.h"

/* The user's cache folder, as the XDG base directory specification has it: a path in
   XDG_CACHE_HOME that does not begin at the root counts for nothing. */
static bool cache_folder(char *path, size_t space, struct fm_error *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && *cache == '/')
        length = snprintf(path, space, "%s/fathom", cache);
    else if (home && *home == '/')
        length = snprintf(path, space, "%s/.cache/fathom", home);
    if (length > 0 && (size_t)length < space)
        return true;
    return fm_fail(err, FM_ERR_USAGE,
                   "cache: there is no folder to keep results in: set HOME or XDG_CACHE_HOME");
}

/* A pipe in its place would be waited for. What is not there yet can become a file. */
static bool is_ordinary(const char *path, struct fm_error *err)
{
    struct stat file;
    return stat(path, &file) != 0 || S_ISREG(file.st_mode) ||
           fm_fail(err, FM_ERR_USAGE, "%s: is no file to keep a result in: remove it",
                   fm_short_path(path));
}

/* A result belongs to a kind of CPU and to the program that found it: a newer one may know more. */
static bool kept_file(const struct fathom_options *options, char *folder, char *path, size_t space,
                      struct fm_error *err)
{
    char word[FM_FINGERPRINT];
    const int cpu = options->cpu >= 0 ? options->cpu : sched_getcpu();
    if (!cache_folder(folder, space, err))
        return false;
    fm_fingerprint("", cpu, FM_VERSION, word);
    if ((size_t)snprintf(path, space, "%s/%s.json", folder, word) >= space)
        return fm_fail(err, FM_ERR_USAGE,
                       "cache: the path of its folder is too long: set HOME or "
                       "XDG_CACHE_HOME");
    return is_ordinary(path, err);
}

/* Folders are copied from one computer to another, and images of them started elsewhere. A model
   that was counted in is no computer either. */
static bool is_of_this_computer(const struct fm_machine_info *machine)
{
    struct fm_machine_info here;
    fm_computer_name(here.name, sizeof here.name);
    fm_computer_arch(here.arch, sizeof here.arch);
    return strcmp(machine->kind, "native") == 0 && !machine->counters.alone &&
           strcmp(machine->name, here.name) == 0 && strcmp(machine->arch, here.arch) == 0 &&
           machine->page_size == (size_t)sysconf(_SC_PAGESIZE);
}

static struct fathom_result *refuse_foreign(struct fathom_result *result, const char *path,
                                            struct fathom_error *err)
{
    struct fm_error inner;
    fathom_result_free(result);
    fm_fail(&inner, FM_ERR_USAGE, "%s: is a result of another computer: remove it",
            fm_short_path(path));
    fm_api_fail(err, &inner);
    return NULL;
}

struct fathom_result *fathom_kept(const struct fathom_options *options, struct fathom_error *err)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct fm_error inner = {0};
    struct fathom_error outer;

    if (!kept_file(options, folder, path, sizeof path, &inner)) {
        fm_api_fail(err, &inner);
        return NULL;
    }
    struct fathom_result *result = fathom_result_read(path, &outer);
    if (!result && err) {
        *err = outer;
        err->code = access(path, F_OK) == 0 ? outer.code : FATHOM_NOT_KEPT;
    }
    if (result && !is_of_this_computer(&result->result.machine))
        return refuse_foreign(result, path, err);
    return result;
}

/* Every folder on the way, for the user alone. */
static bool make_folders(const char *folder, struct fm_error *err)
{
    char path[PATH_MAX];
    strcpy(path, folder);
    for (char *at = path + 1;; at++) {
        const char end = *at;
        if (end && end != '/')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return fm_fail(err, FM_ERR_IO, "%s: cannot be made: %s; set XDG_CACHE_HOME", path,
                           strerror(errno));
        *at = end;
        if (!end)
            return true;
    }
}

/* A survey that left something out on purpose would hide what a whole one knows. */
static bool is_whole(const struct fathom_result *result, const struct fathom_options *options)
{
    return result->result.complete && !options->survey.only &&
           options->survey.method == FM_METHOD_DEFAULT && !options->survey.max_footprint;
}

static size_t determined(const struct fm_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->finding_count; i++)
        count += result->findings[i].status == FM_MEASURED;
    return count;
}

/* On a busy computer a survey may see so little that the one before is worth more. A few findings
   more or less are no reason to hold on to an old one. */
static bool says_much_less(const struct fathom_result *result, const char *path)
{
    struct fm_result before;
    if (!fm_result_read(path, &before, NULL))
        return false;
    const bool less = is_of_this_computer(&before.machine) &&
                      determined(&result->result) * 5 < determined(&before) * 4;
    fm_result_free(&before);
    return less;
}

static bool keep(const struct fathom_result *result, const struct fathom_options *options,
                 struct fm_error *err)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (!is_of_this_computer(&result->result.machine))
        return fm_fail(err, FM_ERR_USAGE, "cache: the result is not of this computer");
    if (!is_whole(result, options))
        return fm_fail(err, FM_ERR_USAGE, "cache: the result is not of a whole survey");
    if (!kept_file(options, folder, path, sizeof path, err) || !make_folders(folder, err))
        return false;
    if (says_much_less(result, path))
        return fm_fail(err, FM_ERR_USAGE,
                       "cache: the survey determined much less than the one that is kept");
    char *text = fm_result_to_json(&result->result, FM_VERSION);
    if (!text)
        return fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
    const bool written = fm_file_write(path, text, strlen(text), err);
    free(text);
    return written;
}

bool fathom_keep(const struct fathom_result *result, const struct fathom_options *options,
                 struct fathom_error *err)
{
    struct fm_error inner = {0};
    return keep(result, options, &inner) || fm_api_fail(err, &inner);
}

struct fathom_result *fathom_here(const struct fathom_options *options, struct fathom_error *err)
{
    struct fathom_result *result = fathom_kept(options, NULL);
    if (result)
        return result;
    struct fathom_machine *machine = fathom_open_native(options, err);
    if (!machine)
        return NULL;
    result = fathom_survey(machine, options, err);
    fathom_close(machine);
    /* Where it cannot be kept it is still the answer. */
    if (result)
        fathom_keep(result, options, NULL);
    return result;
}
