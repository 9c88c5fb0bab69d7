#include "meter/dumps.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Room for the lines that are handed on, none of which is long, and for some events. */
#define TEXT   4096
#define EVENTS 16384
/* How often, and how long, the folder is waited for to stay empty. */
#define TRIES        50
#define TRY_AGAIN_MS 10

bool fm_dumps_open(struct fm_dumps *dumps, fm_dump_reader *read, void *data, struct fm_error *err)
{
    const char *base = getenv("TMPDIR");
    *dumps = (struct fm_dumps){.read = read, .data = data, .watch = -1};
    const int length = snprintf(dumps->folder, sizeof dumps->folder, "%s/fathom-XXXXXX",
                                base && *base == '/' ? base : "/tmp");
    if (length < 0 || (size_t)length >= sizeof dumps->folder || !mkdtemp(dumps->folder))
        return fm_fail(err, FM_ERR_IO, "%.200s: no folder can be made there: %s", dumps->folder,
                       strerror(errno));
    if (read)
        dumps->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (dumps->watch >= 0)
        inotify_add_watch(dumps->watch, dumps->folder, IN_CLOSE_WRITE);
    return true;
}

static bool tells_of_all(const char *line)
{
    static const char *const words[] = {"pid:", "part:", "desc: Trigger:", "events:", "totals:"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The lines that tell of the whole; the others may be megabytes. */
static bool summary_of(const char *path, char text[TEXT])
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t space = 0, used = 0;
    text[0] = '\0';
    if (!file)
        return false;
    while (getline(&line, &space, file) >= 0)
        if (tells_of_all(line) && used + strlen(line) < TEXT)
            used += (size_t)snprintf(text + used, TEXT - used, "%s", line);
    const bool good = !ferror(file);
    free(line);
    return fclose(file) == 0 && good;
}

/* One that callgrind has only made so far, to see whether it can, has nothing in it yet. */
static void take_one(struct fm_dumps *dumps, const char *name)
{
    char path[FM_DUMPS_PATH + NAME_MAX + 2], text[TEXT];
    if (strncmp(name, FM_DUMPS_NAME, strlen(FM_DUMPS_NAME)) != 0)
        return;
    snprintf(path, sizeof path, "%s/%s", dumps->folder, name);
    if (dumps->read && summary_of(path, text) && strstr(text, "totals:")) {
        dumps->failed |= !dumps->read(dumps->data, text);
        unlink(path);
    }
}

void fm_dumps_take(struct fm_dumps *dumps, int wait_ms)
{
    _Alignas(struct inotify_event) char events[EVENTS];
    struct pollfd ready = {.fd = dumps->watch, .events = POLLIN};
    poll(&ready, 1, wait_ms);
    for (;;) {
        const ssize_t length = dumps->watch >= 0 ? read(dumps->watch, events, sizeof events) : -1;
        if (length <= 0)
            return;
        for (const char *at = events; at < events + length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            if (event->len)
                take_one(dumps, event->name);
            at += sizeof *event + event->len;
        }
    }
}

/* "==123== Callgrind: cannot continue: …", over some lines, each of which begins so. */
bool fm_dumps_refusal(const struct fm_dumps *dumps, char *why, size_t size)
{
    static const char begins[] = "Callgrind: cannot continue: ";
    char path[FM_DUMPS_PATH + NAME_MAX + 2], line[TEXT];
    size_t used = 0;
    snprintf(path, sizeof path, "%s/%s", dumps->folder, FM_DUMPS_LOG);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *text = strncmp(line, "==", 2) == 0 ? strstr(line + 2, "==") : NULL;
        if (!text)
            continue;
        text += 2 + strspn(text + 2, " ");
        if (!used && strncmp(text, begins, strlen(begins)) != 0)
            continue;
        text += used ? 0 : strlen(begins);
        const int length = (int)strcspn(text, "\n");
        used += (size_t)snprintf(why + used, size - used, "%s%.*s", used ? " " : "", length, text);
        used = used < size ? used : size - 1;
    }
    if (file)
        fclose(file);
    return used > 0;
}

/* Hands on and removes all that is there. */
static bool empty(struct fm_dumps *dumps)
{
    DIR *folder = opendir(dumps->folder);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        take_one(dumps, entry->d_name);
        if (strncmp(entry->d_name, FM_DUMPS_NAME, strlen(FM_DUMPS_NAME)) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    return folder && closedir(folder) == 0;
}

bool fm_dumps_close(struct fm_dumps *dumps, struct fm_error *err)
{
    bool there = empty(dumps);
    /* A process that outlives the command may just have written one more. */
    for (int i = 0; i < TRIES && rmdir(dumps->folder) != 0 && errno == ENOTEMPTY; i++) {
        poll(NULL, 0, TRY_AGAIN_MS);
        there = empty(dumps);
    }
    if (dumps->watch >= 0)
        close(dumps->watch);
    return (there && !dumps->failed) ||
           fm_fail(err, FM_ERR_IO, "callgrind: what it wrote cannot be read");
}
