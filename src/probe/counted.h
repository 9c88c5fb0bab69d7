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

/* Who walks a string, and how long it is given. */
struct fm_count_manner {
    bool jumps;   /* the string is one of code, and jumps walk it */
    bool real;    /* loads go into registers for real numbers */
    bool patient; /* the least of eight tries counts, as AMP has it, and what misses in part is
                     given as many laps to settle as lines take that are given up by lot */
};

struct fm_count_care {
    unsigned bit; /* the event */
    enum fm_warmth warmth;
    double none; /* so few misses in a lap are none to the caller */
    struct fm_count_manner manner;
};

/* Misses of an event in one lap of the string, once it has settled. A meter adds misses of its own
   to each run, by touching memory when it starts and stops; they are as many in a long run as in a
   short one, and are taken out by running both, unless they make no difference, or the meter has
   been seen to add none. Frees the string. */
bool fm_count_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                  double *misses, struct fm_error *err);

/* Misses of an event in one lap, after so many, as they come out at once: for events that are
   exact, and of a TLB steady. Frees the string. */
bool fm_count_once(struct fm_lab *lab, struct fm_string *string, unsigned bit, unsigned laps,
                   double *misses, struct fm_error *err);

/* How laps of an event came out: whether a long run counted so many times what a short one did, and
   where not, whether it was by another number from string to string, and when all was done over. */
struct fm_count_record {
    unsigned nothing; /* times that it did */
    double more; /* of the laps after the first, each, in the last string of which it did not */
    bool varied;
    bool later;    /* whether it was ever more: what a meter pushes out misses in the first lap */
    unsigned none; /* runs that counted nothing at all */
    unsigned alike, unlike;
};

/* Whether equal strings count alike, by what was seen so far; and whether one run of a cache counts
   what is there and no more. Of TLBs none does: whoever reads an event touches pages. */
bool fm_counts_are_steady(const struct fm_lab *lab, unsigned bit);
bool fm_counts_are_exact(const struct fm_lab *lab, unsigned bit);
/* Whether it does so on an average, too: laps of a cache that draws lots differ, but what a meter
   touched would come through the levels behind it, and be seen there, or where nothing misses. */
bool fm_counts_are_fair(const struct fm_lab *lab, unsigned bit);

/* Whether counts of the same string were seen to come out otherwise each time. */
bool fm_counts_vary(const struct fm_lab *lab, unsigned bit);

/* What is to be looked into. */
struct fm_counted_plan {
    unsigned bit;        /* the event that counts its misses */
    size_t unit;         /* no longer than its line; footprints are whole units of it */
    size_t longest_line; /* that is looked for */
    double from;         /* bytes that surely fit */
    double to;           /* the largest footprint to ask for */
    double inner;        /* bytes that the level inside holds: what fits there never comes here */
    struct fm_count_manner manner;
    const char *curve; /* id under which misses over footprint are drawn */
};

/* What the counters show. */
struct fm_counted {
    bool missed;      /* there are misses at all, up to `to` */
    size_t grain;     /* the unit in which its edge was found: a line, as far as that is seen */
    bool thin;        /* one unit of many was seen to miss as all do */
    bool mixed;       /* … or that it does not: a hash decides, or there is one set */
    bool sharp;       /* it begins to miss at the same footprint wherever the pages lie */
    double bytes;     /* that is it; or where one reference in twenty misses, over placements */
    double low, high; /* where that may lie; both are `bytes` where it is sharp */
    double effective; /* where one reference in twenty misses */
    double crowded;   /* of twice that at least this part misses, by units of `grain` */
    size_t line;      /* 0: not determined */
    size_t ways;      /* 0: not determined */
    bool full;        /* one set */
};

bool fm_count_structure(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err);

/* The same where all of it has been found before: on fresh pages the edge is looked at from both
   sides, and line and ways are asked for once more. If it is not there, all is searched again. */
bool fm_count_structure_again(struct fm_lab *lab, const struct fm_counted_plan *plan,
                              const struct fm_counted *before, struct fm_counted *found,
                              struct fm_error *err);

/* The parts of it. The edge: largest footprint without misses, or about where one reference in
   twenty misses; its line; of a sharp one its ways; of another where one in twenty misses on an
   average placement. */
bool fm_counted_edge(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);
bool fm_counted_edge_holds(struct fm_lab *lab, const struct fm_counted_plan *plan,
                           const struct fm_counted *found, bool *yes, struct fm_error *err);
bool fm_counted_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);
/* The line once more, as where the edge is not sharp: by stripes that are chosen by chance. */
bool fm_counted_chance_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                            struct fm_counted *found, struct fm_error *err);
bool fm_counted_average(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err);
bool fm_counted_ways(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err);

/* So many units, no more, a level may hold wherever they lie, in one set or by a hash; 0: as few of
   them as it has sets for, so that of one unit of many it holds but its part. */
size_t fm_held_anywhere(const struct fm_counted *level);

/* Structures of all events that can be believed, data caches, data TLBs and the side of code, each
   from the core outward: a level's line is at least as long as that of the one inside it, and what
   fits there says nothing of this one. */
typedef bool fm_structure_question(struct fm_lab *lab, const struct fm_counted_plan *plan,
                                   struct fm_counted *found, void *context, struct fm_error *err);

#define FM_ALL_EVENTS (~0u)

struct fm_counted_round {
    fm_structure_question *ask;
    void *context;
    struct fm_count_manner manner; /* of all strings; those of code are walked by jumps besides */
    unsigned events;               /* those that are asked for, of those that can be believed */
    const char *curves;            /* "misses": ids are that, and the structure, and … */
    const char *kind;              /* … "" or "-double" */
};

/* A line must be what comes with a miss, unless ways have shown that it is right, and then of an
   outer level no shorter: lines that a level inside keeps may seem to fit, or to be out of the way.
   It is left open otherwise. */
void fm_check_line(const struct fm_counted_plan *plan, struct fm_counted *found, size_t brought);

/* Who says so, by which method, and where it is drawn. */
struct fm_counted_voice {
    const char *meter, *method;
    const char *curves, *kind; /* as above */
    double sure, sure_soft;    /* soft: where page placement moves the edge */
    bool effective; /* of outer levels, the interval holds where one in twenty misses, too, which is
                       a little beyond what is built in */
};

/* What was found as findings, under the names of caches or of TLBs. */
void fm_report_counted(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                       const struct fm_counted_voice *voice);

bool fm_count_round(struct fm_lab *lab, const struct fm_counted_round *round,
                    struct fm_counted found[], struct fm_error *err);

#endif
