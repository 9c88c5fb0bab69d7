/* Prime, then measure: the same references timed after several ways of preparing the caches.
 *
 * The alternatives are timed in turn, round after round, on several placements. Each time another
 * group of pages is used, so that no prefetcher remembers the pages from the time before. Readings
 * are averaged without the highest: a clock that steps coarsely is right on average, and what
 * disturbs a run only adds. */
#ifndef FM_PROBE_TRIAL_H
#define FM_PROBE_TRIAL_H

#include "probe/lab.h"
#include "refstring/refstring.h"

#define FM_ALTERNATIVES 8
/* Rounds at the most. */
#define FM_TRIAL_ROUNDS 64

struct fm_trial {
    const char *name;
    /* Adds orders and phases to a string that has a label and no more. */
    bool (*build)(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err);
    const void *data;      /* what build needs beside */
    unsigned alternatives; /* at most FM_ALTERNATIVES */
    unsigned rounds;
    bool counted;          /* filled in: by events, and not by the clock */
    struct fm_group group; /* page, count, unit and span; the rest is filled in */
    size_t lines;          /* lines of a page that are touched; 0: one */
    size_t beside;         /* bytes of the arena after the group, for the prober's own use */
    bool served;           /* of the references only matters which level served them: where that can
                              be counted no time is taken (probe/served.h) */
};

#define FM_RANKS 8

/* What an alternative took. */
struct fm_taken {
    double ns;              /* per reference */
    double error;           /* standard error of that */
    double grain;           /* … as far as the steps of the clock explain it */
    double least, most;     /* nearly the least of a round, and the most that is believed */
    double ranks[FM_RANKS]; /* of the rounds, ascending, an equal part of them each: the means */
};

/* The line of the first level, also where stripes did not tell it but the gap did: then it is known
   from now on. 0: nobody does. */
size_t fm_first_line(struct fm_lab *lab);

/* Fills in the rounds and the pages of a group: as many as a small cache holds a few lines of, and
   as a clock can see. */
void fm_trial_plan(const struct fm_lab *lab, struct fm_trial *trial);

/* Where the bytes beside the groups begin. */
size_t fm_trial_beside(const struct fm_trial *trial);

bool fm_trial_run(struct fm_lab *lab, const struct fm_trial *trial, struct fm_taken *taken,
                  struct fm_error *err);

/* Which level served references that took so long, where `hit` is what the same references take
   when the first level serves them, translation included. */
struct fm_served {
    size_t level;     /* counted from 0; that of memory is known.count - 1 */
    size_t low, high; /* the levels that it may have been: between two, or too close to tell */
    bool clear;       /* there is but one */
};
struct fm_served fm_trial_served(const struct fm_lab *lab, struct fm_taken taken,
                                 struct fm_taken hit);

#endif
