/* Words loaded from pages that are in no cache, and one timed after them. */
#ifndef FM_PROBE_FETCH_H
#define FM_PROBE_FETCH_H

#include "probe/trial.h"

#define FM_FETCH_PRIMED 8

/* Offsets are bytes from the spot in each page. */
struct fm_fetch {
    size_t primed[FM_FETCH_PRIMED]; /* loaded one after the other */
    size_t count;
    size_t target; /* timed */
    bool cold;     /* nothing is loaded before */
    bool warm;     /* the target itself is loaded before */
    bool flushed;  /* what was loaded is flushed again */
};

bool fm_fetch_build(const struct fm_trial *trial, unsigned alternative,
                    const struct fm_group *group, struct fm_string *string, struct fm_error *err);

/* Which level serves the target after each; the first of them must be warm. */
bool fm_fetch_run(struct fm_lab *lab, const char *name, const struct fm_fetch *fetches,
                  unsigned count, const struct fm_group *group, struct fm_served *served,
                  struct fm_error *err);

#endif
