/* The first data cache once it is known to the byte: laps over lines that are steered to its sets.
 */
#ifndef FM_PROBE_FIRST_LEVEL_H
#define FM_PROBE_FIRST_LEVEL_H

#include "analysis/lap.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

struct fm_first_level {
    unsigned ways;
    size_t line, stride; /* bytes of a line, and from a line to the next of its set */
};

/* What earlier probes found of it; false: not all that is needed. */
bool fm_recall_first_level(const struct fm_lab *lab, struct fm_first_level *level);

/* The plan of a lap over blocks of several of its sets at once. */
struct fm_lap_plan fm_first_level_lap(struct fm_lab *lab, const struct fm_first_level *level,
                                      const struct fm_lap *lap);

/* The latency of the level behind it, nanoseconds, from lines that all miss the first; 0 where some
   of them hit, or where the level behind does not hold them. No plateau is needed. */
bool fm_second_latency(struct fm_lab *lab, double *ns, struct fm_error *err);

/* Whether that is what the third level of the walk takes: then the one that it shows between the
   first and that is not there. */
bool fm_second_is_third(const struct fm_lab *lab, double ns);

#endif
