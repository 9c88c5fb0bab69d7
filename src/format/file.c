#include "format/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"

static bool read_stream(FILE *stream, size_t limit, char **text, size_t *length)
{
    size_t used = 0, space = 0;
    char *buffer = NULL;
    do {
        const size_t larger = space ? space * 2 : 16384;
        char *moved = realloc(buffer, larger + 1);
        if (!moved) {
            free(buffer);
            return false;
        }
        buffer = moved;
        space = larger;
        used += fread(buffer + used, 1, space - used, stream);
    } while (used == space && used <= limit);
    buffer[used] = '\0';
    *text = buffer;
    *length = used;
    return true;
}

bool fm_file_read(const char *path, size_t limit, char **text, size_t *length, struct fm_error *err)
{
    const char *shown = fm_short_path(path);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return fm_fail(err, FM_ERR_USAGE, "%s: cannot be opened: %s; give a file that can be read",
                       shown, strerror(errno));
    errno = 0;
    bool ok = read_stream(stream, limit, text, length);
    const bool failed = ferror(stream);
    const int reason = errno;
    fclose(stream);
    if (!ok)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it", shown);
    if (failed)
        ok = fm_fail(err, FM_ERR_USAGE, "%s: cannot be read: %s; give a file", shown,
                     strerror(reason));
    else if (*length > limit)
        ok = fm_fail(err, FM_ERR_USAGE,
                     "%s: is larger than the %zu bytes allowed; "
                     "is this the right file?",
                     shown, limit);
    if (!ok) {
        free(*text);
        *text = NULL;
    }
    return ok;
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length) {
        const ssize_t done = write(fd, text, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        text += done;
        length -= (size_t)done;
    }
    return true;
}

static bool refuse(const char *path, enum fm_error_code code, struct fm_error *err)
{
    return fm_fail(err, code, "%s: cannot be written: %s; choose another place",
                   fm_short_path(path), strerror(errno));
}

static bool write_through(const char *path, const char *text, size_t length, struct fm_error *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(path, FM_ERR_IO, err);
    const bool ok = write_all(fd, text, length);
    if (!ok)
        refuse(path, FM_ERR_IO, err);
    close(fd);
    return ok;
}

/* A file that is to take the place of another. */
struct draft {
    int fd;
    char name[PATH_MAX]; /* empty while it has none */
};

/* Its name beside path: short, so that it fits wherever that of path does. */
static bool draft_name(const char *path, unsigned attempt, char name[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash + 1 - path) : 0;
    const int n =
        snprintf(name, PATH_MAX, "%.*s.fathom-%ld-%u.tmp", folder, path, (long)getpid(), attempt);
    if (n >= PATH_MAX)
        errno = ENAMETOOLONG;
    return n < PATH_MAX;
}

static bool try_name(struct draft *draft, mode_t mode)
{
    char opened[64];
    if (draft->fd < 0) {
        draft->fd = open(draft->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        return draft->fd >= 0;
    }
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", draft->fd);
    return linkat(AT_FDCWD, opened, AT_FDCWD, draft->name, AT_SYMLINK_FOLLOW) == 0;
}

/* Opens it with a name, or gives a name to one that is open without. */
static bool name_draft(struct draft *draft, const char *path, mode_t mode)
{
    for (unsigned i = 0; i < 100 && draft_name(path, i, draft->name); i++) {
        if (try_name(draft, mode))
            return true;
        if (errno != EEXIST)
            break;
    }
    draft->name[0] = '\0';
    return false;
}

static bool open_draft(struct draft *draft, const char *path, mode_t mode, bool named)
{
    char folder[PATH_MAX];
    draft->fd = -1;
    draft->name[0] = '\0';
    if (named)
        return name_draft(draft, path, mode);
    snprintf(folder, sizeof folder, "%s", path);
    draft->fd = open(dirname(folder), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    return draft->fd >= 0;
}

static bool replace_by(bool named, const char *path, mode_t mode, const char *text, size_t length)
{
    struct draft draft;
    if (!open_draft(&draft, path, mode, named))
        return false;
    bool ok = write_all(draft.fd, text, length) && fsync(draft.fd) == 0 &&
              (named || name_draft(&draft, path, mode));
    int why = errno; /* of the first step that failed, past those that clean up */
    if (close(draft.fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(draft.name, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        if (draft.name[0])
            unlink(draft.name);
        errno = why;
    }
    return ok;
}

/* Without a name until it is whole: of such a file nothing is left when the program is killed. Not
   every file system has them. */
static bool replace(const char *path, mode_t mode, const char *text, size_t length)
{
    return replace_by(false, path, mode, text, length) ||
           replace_by(true, path, mode, text, length);
}

/* Through a symbolic link the file it names is replaced, not the link. */
static const char *place_of(const char *path, char target[PATH_MAX])
{
    return realpath(path, target) ? target : path;
}

bool fm_file_write(const char *path, const char *text, size_t length, struct fm_error *err)
{
    struct stat old;
    char target[PATH_MAX];
    const bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return write_through(path, text, length, err);
    const mode_t mode = exists ? old.st_mode & 0777 : 0666;
    return replace(place_of(path, target), mode, text, length) || refuse(path, FM_ERR_IO, err);
}

/* Does what a write begins with, and leaves nothing of it. */
static bool try_draft(const char *path)
{
    struct draft draft;
    if (!open_draft(&draft, path, 0600, false) && !open_draft(&draft, path, 0600, true))
        return false;
    if (draft.name[0])
        unlink(draft.name);
    close(draft.fd);
    return true;
}

bool fm_file_check_writable(const char *path, struct fm_error *err)
{
    struct stat old;
    char target[PATH_MAX];
    const size_t length = strlen(path);
    if (!length || length >= sizeof target)
        return fm_fail(err, FM_ERR_USAGE, "%s: is no name for a file", fm_short_path(path));
    const bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT)
        return refuse(path, FM_ERR_USAGE, err);
    if (exists ? S_ISDIR(old.st_mode) : path[length - 1] == '/') {
        errno = EISDIR;
        return refuse(path, FM_ERR_USAGE, err);
    }
    if (exists && !S_ISREG(old.st_mode))
        return access(path, W_OK) == 0 || refuse(path, FM_ERR_USAGE, err);
    return try_draft(place_of(path, target)) || refuse(path, FM_ERR_USAGE, err);
}
