/* Counting instead of timing: what a meter's events say of a cache or a TLB.
 *
 * Both are the same to a counter: something that keeps a number of entries, each of which covers a
 * line (or a page), in sets by a part of the address. So one search serves all of them. It asks for
 * misses in a lap over a string, and never for a time. */
#ifndef FM_PROBE_COUNTED_H
#define FM_PROBE_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/refstring.h"

struct fm_lab;

/* How a string is made warm before it is counted. */
enum fm_warmth { FM_WARM_LAPS, FM_WARM_GROWN };

struct fm_count_care {
    unsigned bit; /* the event */
    enum fm_warmth warmth;
    double none; /* so few misses in a lap are none to the caller */
    bool jumps;  /* the string is one of code, and jumps walk it */
};

/* Misses of an event in one lap of the string, once it has settled. A meter adds misses of its own
   to each run, by touching memory when it starts and stops; they are as many in a long run as in a
   short one, and are taken out by running both, unless they make no difference, or the meter has
   been seen to add none. Frees the string. */
bool fm_count_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                  double *misses, struct fm_error *err);

/* Whether one run counts what is there and no more, by what was seen so far. */
bool fm_counts_are_exact(const struct fm_lab *lab, unsigned bit);

/* What is to be looked into. */
struct fm_counted_plan {
    unsigned bit;        /* the event that counts its misses */
    size_t unit;         /* no longer than its line; footprints are whole units of it */
    size_t longest_line; /* that is looked for */
    double from;         /* bytes that surely fit */
    double to;           /* the largest footprint to ask for */
    double inner;        /* bytes that the level inside holds: what fits there never comes here */
    bool jumps;          /* it is asked for by jumps, not by loads */
    const char *curve;   /* id under which misses over footprint are drawn */
};

/* What the counters show. */
struct fm_counted {
    bool missed;      /* there are misses at all, up to `to` */
    size_t grain;     /* the unit in which its edge was found: a line, as far as that is seen */
    bool thin;        /* one unit of many was seen to miss as all do */
    bool sharp;       /* it begins to miss at the same footprint wherever the pages lie */
    double bytes;     /* that is it; or where one reference in twenty misses, over placements */
    double low, high; /* where that may lie; both are `bytes` where it is sharp */
    double effective; /* where one reference in twenty misses */
    size_t line;      /* 0: not determined */
    size_t ways;      /* 0: not determined */
    bool full;        /* one set */
};

bool fm_count_structure(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err);

/* The parts of it. The edge: largest footprint without misses, or about where one reference in
   twenty misses; its line; of a sharp one its ways; of another where one in twenty misses on an
   average placement. */
bool fm_counted_edge(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);
bool fm_counted_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);
/* The line once more, as where the edge is not sharp: by stripes that are chosen by chance. */
bool fm_counted_chance_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                            struct fm_counted *found, struct fm_error *err);
bool fm_counted_average(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err);
bool fm_counted_ways(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);

#endif
