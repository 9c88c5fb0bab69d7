#include <string.h>

#include "cli/cli.h"

#define LONGEST 32

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters must be changed, put in or left out to turn one word into the other. */
static size_t distance(const char *a, const char *b)
{
    const size_t m = strlen(a), n = strlen(b);
    size_t row[LONGEST + 1];

    if (m > LONGEST || n > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

const char *fm_nearest(const char *word, const char *(*at)(const void *list, size_t index),
                       const void *list)
{
    const char *best = NULL, *name;
    size_t best_distance = strlen(word) / 3 + 2; /* farther is another word, not a slip */

    for (size_t i = 0; (name = at(list, i)); i++) {
        const size_t d = strncmp(name, word, strlen(word)) == 0 ? 0 : distance(word, name);
        if (d < best_distance) {
            best = name;
            best_distance = d;
        }
    }
    return best;
}
