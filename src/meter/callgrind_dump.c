#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/callgrind.h"

/* The rest of the first line that begins with the word, or NULL. */
static const char *line_of(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0)
            return line + length;
    }
    return NULL;
}

/* Which count a column is part of; NULL: none that is wanted. Reads and writes are added up. */
static uint64_t *column(struct fm_counts *counts, const char *name, size_t length)
{
    const struct {
        const char *name;
        uint64_t *count;
    } columns[] = {
        {"Dr", &counts->references},      {"Dw", &counts->references},
        {"D1mr", &counts->cache_miss[0]}, {"D1mw", &counts->cache_miss[0]},
        {"DLmr", &counts->cache_miss[1]}, {"DLmw", &counts->cache_miss[1]},
        {"I1mr", &counts->fetch_miss},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strlen(columns[i].name) == length && memcmp(columns[i].name, name, length) == 0)
            return columns[i].count;
    return NULL;
}

bool fm_callgrind_read_dump(const char *text, struct fm_counts *counts)
{
    static const char blanks[] = " \t";
    const char *names = line_of(text, "events:"), *totals = line_of(text, "totals:");
    unsigned known = 0;
    *counts = (struct fm_counts){0};
    if (!names || !totals)
        return false;
    for (;;) {
        names += strspn(names, blanks);
        totals += strspn(totals, blanks);
        const size_t length = strcspn(names, " \t\n");
        const size_t digits = strspn(totals, "0123456789");
        if (length == 0)
            return known > 0 && digits == 0;
        uint64_t *count = column(counts, names, length);
        if (count) {
            *count += digits ? strtoull(totals, NULL, 10) : 0;
            known++;
        }
        if (digits == 0 && *totals && *totals != '\n')
            return false;
        names += length;
        totals += digits;
    }
}
