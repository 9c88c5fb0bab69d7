/* Whether words at equal gaps fight over one set of the first-level cache: the question that the
 * gap test asks again and again. */
#ifndef FM_PROBE_CONFLICT_H
#define FM_PROBE_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_lab;

/* What a conflict is told by. */
struct fm_conflict_gauge {
    double hit_ns;   /* a reference served by the first level */
    double miss_ns;  /* what a miss adds; 0: not known */
    double least_ns; /* the mean rise of a reference below which nothing is believed */
};

struct fm_gap {
    unsigned count; /* words */
    size_t stride;  /* bytes between them */
    size_t offset;  /* by which the last word is moved on */
};

/* Whether the words conflict in the cache: they take longer than in the cache, and the same pages
   with the words spread out do not. The placed arena must hold them and two pages more. */
bool fm_conflicts(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                  const struct fm_gap *gap, unsigned repeats, bool *yes, struct fm_error *err);

/* Whether the conflict shows on fresh pages too, while one word fewer never conflicts and twice as
   many nearly always miss. If not, page placement or noise decides it, and not the index. Leaves an
   arena large enough for twice the gap. */
bool fm_conflict_confirmed(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                           const struct fm_gap *gap, bool *yes, struct fm_error *err);

/* On which part of some fresh placements it does so; and on which it conflicts at all, whatever one
   word fewer does. */
struct fm_conflict_shares {
    double sets, any;
};
bool fm_conflict_shares(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                        const struct fm_gap *gap, struct fm_conflict_shares *shares,
                        struct fm_error *err);

#endif
