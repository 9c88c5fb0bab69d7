/* What the survey finds on the papers' machines. */
#ifndef FM_TESTS_FOUND_H
#define FM_TESTS_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/description.h"
#include "published.h"

/* NAN where undetermined. */
struct found_level {
    double line, ways, capacity;
    double latency; /* in the unit of the paper */
};

struct found {
    bool surveyed;
    char problem[256];    /* why it was not surveyed */
    double wall_s, cpu_s; /* of this computer */
    struct fm_description machine;
    size_t level_count;
    struct found_level levels[PUBLISHED_LEVELS];
};

/* The data cache of a level (0 is L1) in a description; NULL: it has none. */
const struct fm_cache_description *data_cache(const struct fm_description *machine, size_t level);

/* Surveys every machine of the table, `jobs` at a time. The array has as many elements as the
   table has machines; NULL when memory is out. It is given back with found_free. */
struct found *find_all(const struct published *table, const char *folder, uint64_t seed,
                       unsigned jobs);
void found_free(struct found *found, const struct published *table);

#endif
