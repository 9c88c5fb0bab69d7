/* The walk: latency over footprint, with neither the prefetcher nor the TLB in it.
 *
 * Each point is a swept string that visits every page for two units at a time. Its sibling over the
 * same units visits each page for one at a time, and so asks the TLB twice as often while it asks
 * the caches the same. What the sibling takes longer is half of what a TLB miss costs there; it is
 * the part that is taken out. No other footprint has to be known for that, and no cache. */
#ifndef FM_PROBE_WALK_H
#define FM_PROBE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/knees.h"
#include "core/error.h"

struct fm_care;
struct fm_lab;
struct fm_sample;

/* How a footprint may be measured for less. Where a set is chosen by the address as it is, every
   fourth unit uses every fourth set, and those as much as all units use all sets: a quarter of the
   references says the same, and less where pages have many units, since luck is that of whole
   pages. And where a policy is soon settled few laps do. */
struct fm_way {
    bool thin;  /* one of a few units */
    bool brief; /* after no more laps than a long string has */
};

struct fm_walk_point {
    size_t bytes;
    size_t unit;                /* a word was touched in each unit of that many bytes */
    unsigned placements;        /* how many placements were measured */
    double sum, sum_of_squares; /* of the string, TLB's part included */
    double low, high;           /* the same, across placements */
    unsigned spoilt;            /* of these readings, all of whose runs were disturbed */
    bool steady;                /* to mend it changed nothing: there was no interference */
    double tlb_sum;             /* what the sibling takes longer, as measured … */
    double tlb_sum_of_squares;  /* … */
    unsigned tlb_count;         /* … in so many readings */
    double tlb_ns;              /* the TLB's part in the string, fitted along the walk … */
    double tlb_error;           /* … and how far that may be off */
    bool compared;              /* ways, and what says the same as in full: … */
    bool thin_alike;            /* … thin … */
    bool brief_alike;           /* … and brief */
};

#define FM_WALK_POINTS 512

/* No cache has longer lines than this; a longer one would be reported as undetermined. */
#define FM_LONGEST_LINE 256

struct fm_walk {
    size_t unit;                                 /* of the points beyond those that are there */
    struct fm_walk_point points[FM_WALK_POINTS]; /* ascending */
    size_t count;
    double sampled[FM_KNEES]; /* where levels were taken to begin to miss, and looked at closer */
    size_t sampled_count;
    double references; /* that samples have taken, roughly */
};

/* Latency at one footprint in the current placement; adds it to the points of the walk. The
   footprint is rounded to whole units: those of the point if it is there, otherwise of the next
   smaller one. ns may be NULL. */
bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err);

/* The same that way, and after more laps if it is not brief: some policies are long in forgetting
   what was there before. */
bool fm_walk_measure_settled(struct fm_lab *lab, size_t bytes, struct fm_way way, double *ns,
                             struct fm_error *err);

/* The same far beyond a footprint of that latency, where nothing may have changed: the sibling is
   asked only if something has. */
bool fm_walk_look(struct fm_lab *lab, size_t bytes, double least, double *ns, struct fm_error *err);

/* The same at length, with its sibling: once a long string has been primed, another reading costs
   little. Not so if the survey is to be quick. */
bool fm_walk_measure_well(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err);

/* Counts a lap of a footprint that has just been measured, on the same placement. */
bool fm_walk_count(struct fm_lab *lab, size_t bytes, struct fm_sample *sample,
                   struct fm_error *err);

/* The footprint from which on counters have shown all pages to miss in every TLB; INFINITY where
   they know of none. */
double fm_walk_behind_tlbs(const struct fm_lab *lab);

/* A change between neighbouring points worth looking into. */
#define FM_WORTH_A_LOOK 0.05

/* Adds points between neighbours that differ, in a range, until they are close together; on the
   current placement. */
bool fm_walk_refine(struct fm_lab *lab, double from, double to, struct fm_error *err);

/* A reading of a point on the current placement in as little time as can be: its luck with the
   pages weighs more than what the clock adds. */
struct fm_walk_sampling {
    struct fm_way way;
    bool fresh;   /* the first string on these pages */
    bool settled; /* after many laps, however long */
    bool drop;    /* the reading is not added to the point */
};
bool fm_walk_sample(struct fm_lab *lab, size_t index, const struct fm_walk_sampling *how,
                    double *ns, struct fm_error *err);

/* Whether a string of a point is so long that its samples are brief in any case. */
bool fm_walk_is_long(const struct fm_lab *lab, const struct fm_walk_point *point, bool thin);

/* Forgets the readings of a point, but not what they showed of the TLB. To be measured next. */
void fm_walk_forget(struct fm_walk_point *point);

/* Measures a point again and keeps what is less: for one that interference must have touched. */
bool fm_walk_mend(struct fm_lab *lab, size_t index, struct fm_error *err);

/* Times a footprint on the current placement, TLB's part included, by visits of so many units to a
   page. */
bool fm_walk_time(struct fm_lab *lab, size_t bytes, size_t unit, unsigned burst,
                  const struct fm_care *care, double *ns, struct fm_error *err);

/* Moves a footprint outward to where longer units than the walk's take no less time: from there on
   they show no level inside once more. On fresh pages. */
bool fm_walk_longer_from(struct fm_lab *lab, size_t unit, double *from, struct fm_error *err);

/* What shorter units take more than longer ones at a footprint, on fresh pages. */
bool fm_walk_shorter_cost(struct fm_lab *lab, double bytes, size_t shorter, size_t longer,
                          double *more_ns, struct fm_error *err);

/* The mean latency of a point across placements, its relative standard error, and what the TLB's
   part may be off by, as a part of it. */
double fm_walk_mean(const struct fm_walk_point *point);
double fm_walk_error(const struct fm_walk_point *point);
double fm_walk_tlb_error(const struct fm_walk_point *point);

/* Latency at any footprint, interpolated (log-log) between points, flat beyond the ends. */
double fm_walk_at(const struct fm_walk *walk, double bytes);

/* The TLB's part at any footprint, interpolated as latency is. */
double fm_walk_tlb_at(const struct fm_walk *walk, double bytes);

/* Whether most readings between two footprints are of disturbed runs: the least of several, but
   what made them long may have been there all the time. */
bool fm_walk_is_spoilt(const struct fm_walk *walk, double from, double to);

/* The walk as arrays of footprints, latencies and relative errors (NULL: not wanted); returns how
   many points there are. */
size_t fm_walk_unpack(const struct fm_walk *walk, double *bytes, double *latency, double *error);

/* Forgets the points above a footprint. */
void fm_walk_cut(struct fm_walk *walk, double bytes);

#endif
