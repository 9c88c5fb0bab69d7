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

/* Opens a new file beside path; its name goes to `name`. */
static int open_temporary(const char *path, mode_t mode, char name[PATH_MAX])
{
    for (unsigned i = 0; i < 100; i++) {
        const int n = snprintf(name, PATH_MAX, "%s.%ld-%u.tmp", path, (long)getpid(), i);
        if (n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool replace(const char *path, mode_t mode, const char *text, size_t length)
{
    char name[PATH_MAX];
    const int fd = open_temporary(path, mode, name);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, text, length) && fsync(fd) == 0;
    int why = errno; /* of the first step that failed, past those that clean up */
    if (close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(name, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        unlink(name);
        errno = why;
    }
    return ok;
}

bool fm_file_write(const char *path, const char *text, size_t length, struct fm_error *err)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return write_through(path, text, length, err);
    /* Through a symbolic link the file it names is replaced, not the link. */
    char target[PATH_MAX];
    const char *place = exists && realpath(path, target) ? target : path;
    const mode_t mode = exists ? old.st_mode & 0777 : 0666;
    return replace(place, mode, text, length) || refuse(path, FM_ERR_IO, err);
}

bool fm_file_check_writable(const char *path, struct fm_error *err)
{
    struct stat old;
    char folder[PATH_MAX];
    if (!*path || strlen(path) >= sizeof folder)
        return fm_fail(err, FM_ERR_USAGE, "%s: is no name for a file", fm_short_path(path));
    if (stat(path, &old) == 0 && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return refuse(path, FM_ERR_USAGE, err);
    }
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
        return access(path, W_OK) == 0 || refuse(path, FM_ERR_USAGE, err);
    strcpy(folder, path);
    return access(dirname(folder), W_OK | X_OK) == 0 || refuse(path, FM_ERR_USAGE, err);
}
