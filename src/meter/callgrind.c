#include "meter/callgrind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

/* Dumps are about a kilobyte, but of jumps, each of which is a call to callgrind, they may be
   megabytes. What we need stands at both ends. */
#define END_SPACE  ((size_t)1 << 14)
#define DUMP_SPACE (2 * END_SPACE + 2)
#define PATH_SPACE 4096

struct callgrind {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    const char *file;      /* dump n goes to file.n */
    unsigned long dumped;  /* so many so far */
    unsigned runs;         /* since prepare */
    char *text;
};

static struct callgrind *self(struct fm_tally *tally)
{
    return (struct callgrind *)tally;
}

bool fm_callgrind_here(void)
{
    const char *file = getenv(FM_CALLGRIND_DUMPS);
    return RUNNING_ON_VALGRIND && file && *file;
}

/* To start is to begin with empty caches; until then nothing is simulated, and we run faster. */
static bool prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    (void)runs;
    (void)err;
    self(tally)->runs = 0;
    CALLGRIND_START_INSTRUMENTATION;
    return true;
}

static void start(struct fm_tally *tally)
{
    (void)tally;
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
}

static void stop(struct fm_tally *tally)
{
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT("run");
    self(tally)->runs++;
}

/* The two ends of a file as one text; all of it where it is short. */
static bool read_ends(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(text, 1, END_SPACE, file);
    bool good = !ferror(file);
    if (length == END_SPACE) {
        text[length++] = '\n';
        good = good && fseek(file, -(long)END_SPACE, SEEK_END) == 0;
        length += fread(text + length, 1, END_SPACE, file);
        good = good && !ferror(file);
    }
    text[length] = '\0';
    return fclose(file) == 0 && good;
}

static bool read_dump(struct callgrind *callgrind, struct fm_counts *counts, struct fm_error *err)
{
    char path[PATH_SPACE];
    snprintf(path, sizeof path, "%s.%lu", callgrind->file, ++callgrind->dumped);
    const bool good =
        read_ends(path, callgrind->text) && fm_callgrind_read_dump(callgrind->text, counts);
    unlink(path);
    return good || fm_fail(err, FM_ERR_IO, "callgrind: its dump %.200s cannot be read", path);
}

/* Only after the simulation has stopped: to read the dumps would pollute its caches. */
static bool collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                    struct fm_error *err)
{
    struct callgrind *callgrind = self(tally);
    CALLGRIND_STOP_INSTRUMENTATION;
    for (unsigned i = 0; i < callgrind->runs; i++) {
        struct fm_counts unused;
        if (!read_dump(callgrind, i < runs ? &counts[i] : &unused, err))
            return false;
    }
    return true;
}

static void close_callgrind(struct fm_tally *tally)
{
    free(self(tally)->text);
    free(tally);
}

static const struct fm_tally_ops ops = {
    .prepare = prepare,
    .start = start,
    .stop = stop,
    .collect = collect,
    .close = close_callgrind,
};

struct fm_tally *fm_callgrind_open(bool code, struct fm_error *err)
{
    if (!fm_callgrind_here()) {
        fm_fail(err, FM_ERR_UNSUPPORTED,
                "meter: callgrind counts in a cache model: say which, as in --callgrind "
                "\"D1=32768,8,64 LL=262144,16,64\"");
        return NULL;
    }
    struct callgrind *callgrind = calloc(1, sizeof *callgrind);
    char *text = malloc(DUMP_SPACE);
    if (!callgrind || !text) {
        free(callgrind);
        free(text);
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    callgrind->text = text;
    callgrind->file = getenv(FM_CALLGRIND_DUMPS);
    callgrind->tally.ops = &ops;
    callgrind->tally.info = (struct fm_counters){.meter = "callgrind",
                                                 .events = FM_COUNTS_CACHE(0) | FM_COUNTS_CACHE(1) |
                                                           (code ? FM_COUNTS_CODE : 0),
                                                 .alone = true};
    return &callgrind->tally;
}
