/* A result must not take the place of what it was made from. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* The folder that a file is in or would be in. */
static bool stat_folder(const char *path, struct stat *folder)
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash + 1 - path) : 0;
    snprintf(name, sizeof name, "%.*s", length, path);
    return stat(length ? name : ".", folder) == 0;
}

static bool same_place(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A terminal or /dev/null is no file that could be lost. */
static bool same_file(const char *a, const char *b)
{
    struct stat at, other;
    const bool a_exists = stat(a, &at) == 0, b_exists = stat(b, &other) == 0;
    if (a_exists && b_exists)
        return S_ISREG(at.st_mode) && same_place(&at, &other);
    return a_exists == b_exists && strcmp(last_part(a), last_part(b)) == 0 && stat_folder(a, &at) &&
           stat_folder(b, &other) && same_place(&at, &other);
}

int fm_refuse_same(const char *option, const char *output, const char *other, const char *use)
{
    if (!output || !other || strcmp(output, "-") == 0 || !same_file(output, other))
        return FM_EXIT_ANSWERED;
    return fm_complain(FM_EXIT_USAGE, "%s: %s '%.64s' too: name another", option, use, other);
}

/* What is no file is the name of a machine. */
int fm_refuse_overwriting(const char *option, const char *output, const char *input)
{
    if (!input || access(input, F_OK) != 0)
        return FM_EXIT_ANSWERED;
    return fm_refuse_same(option, output, input, "the input is");
}
