/* Strings as the papers of the published methods that count have them, and their misses. What a
 * meter adds by itself is as much in a long run as in a short one, and is taken out by running
 * both (see counted.h). */
#ifndef FM_PROBE_PUBLISHED_COUNTS_H
#define FM_PROBE_PUBLISHED_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/machine.h"

struct fm_lab;
struct fm_counted;

/* Spots one stride apart, one after another. */
struct fm_spots {
    size_t count, stride;
    size_t first; /* strides before the first */
    bool real;    /* read into registers for real numbers */
};

/* All events of one lap over spots that have been read before; places an arena for it. */
bool fm_count_lap_of_spots(struct fm_lab *lab, const struct fm_spots *spots,
                           struct fm_counts *counts, struct fm_error *err);

/* How spots come to be read, or jumped to: for the first time, for the second, or after they were
   written to. */
enum fm_before { FM_NEVER_READ, FM_READ, FM_WRITTEN };

/* Misses of each spot, the least of `times` tries; places arenas for it. */
bool fm_count_first_reading(struct fm_lab *lab, unsigned bit, const struct fm_spots *spots,
                            enum fm_before before, unsigned times, double *each,
                            struct fm_error *err);

/* AMP's test of replacement (3.5), of a first level of data: which of as many elements of a set as
   it has ways is gone after one more. Random where it is any of them; otherwise AMP does not tell.
 */
bool fm_amp_replacement(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape,
                        struct fm_error *err);

#endif
