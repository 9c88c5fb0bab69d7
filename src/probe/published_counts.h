/* What the published methods that count share: strings as their papers have them, and misses. */
#ifndef FM_PROBE_PUBLISHED_COUNTS_H
#define FM_PROBE_PUBLISHED_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/machine.h"

struct fm_lab;

/* Spots one stride apart, read one after another, some laps long. */
struct fm_spots {
    unsigned bit; /* the event */
    size_t count, stride;
    unsigned warm; /* laps before; 0: flushed, so that each is read for the first time */
    bool written;  /* flushed and then written to before it is read */
    bool real;     /* read into registers for real numbers */
    bool stored;   /* written to instead of read all along: where only that is counted rightly */
};

/* All events of one lap; places an arena for it. */
bool fm_count_lap_of_spots(struct fm_lab *lab, const struct fm_spots *spots,
                           struct fm_counts *counts, struct fm_error *err);

/* Misses of each spot in one lap, the least of `times` tries; places an arena for it. */
bool fm_count_spots(struct fm_lab *lab, const struct fm_spots *spots, unsigned times, double *each,
                    struct fm_error *err);

/* What a published method says of a structure; 0: not found. */
struct fm_published_shape {
    double bytes;
    size_t line, ways;
    bool full;
};

/* AMP's test of replacement (3.5), of a first level of data: which of as many elements of a set as
   it has ways is gone after one more. Random where it is any of them; otherwise AMP does not tell.
 */
bool fm_amp_replacement(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                        struct fm_error *err);

/* Who says so, and how. */
struct fm_published_voice {
    const char *meter, *method;
    double sure;
};

/* As findings, under the names of caches or of TLBs. */
void fm_report_published(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                         const struct fm_published_voice *voice);

#endif
