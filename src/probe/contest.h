/* Which replacement policy a structure has: laps are timed until one suspect is left, or several
 * that no lap tells apart, or none. Whoever asks says how a lap is run. */
#ifndef FM_PROBE_CONTEST_H
#define FM_PROBE_CONTEST_H

#include "analysis/suspects.h"
#include "probe/lab.h"

/* What the misses of a lap took in all, and what the whole lap took with and without them. */
struct fm_lap_reading {
    double misses_ns, lap_ns;
};

struct fm_contest {
    const char *property; /* "l1d.replacement" */
    const char *curve;    /* under which the laps are kept */
    unsigned ways;
    unsigned visits; /* of one block in a lap, at the most */
    double hit_ns;
    double cost_ns;    /* of a miss, roughly */
    const char *meter; /* that reads the laps */
    bool (*time)(struct fm_lab *lab, void *data, const struct fm_lap *lap,
                 struct fm_lap_reading *reading, struct fm_error *err);
    void *data;
};

/* A lap by the clock, nanoseconds a reference, after so many to settle in: a policy that draws lots
   takes long to forget. Frees the string, which has no phases. */
#define FM_LAPS_TO_SETTLE 64
bool fm_time_laps(struct fm_lab *lab, struct fm_string *string, unsigned settle, double *ns,
                  struct fm_error *err);

/* A lap by the event of its structure instead of the clock: the misses themselves, as if each took
   `cost_ns` and a hit `hit_ns`. No companion is needed, and no second run. */
struct fm_lap_count {
    unsigned bit;
    unsigned settle; /* laps before */
    double hit_ns, cost_ns;
};

/* Whether that can be done, and who then reads the laps: the counters' meter, or the clock. */
bool fm_laps_are_counted(const struct fm_lab *lab, unsigned bit);
const char *fm_lap_meter(const struct fm_lab *lab, unsigned bit);

/* Frees the string, which has no phases. */
bool fm_count_laps(struct fm_lab *lab, struct fm_string *string, const struct fm_lap_count *how,
                   const struct fm_lap *lap, struct fm_lap_reading *reading, struct fm_error *err);

/* Fills the finding. */
bool fm_contest(struct fm_lab *lab, const struct fm_contest *contest, struct fm_error *err);

#endif
