/* Lines of code to choose some from that share a set, and whether they do. */
#ifndef FM_PROBE_ICACHE_POOL_H
#define FM_PROBE_ICACHE_POOL_H

#include "probe/icache.h"

/* The part of all that a jump takes which is the least that is believed. */
#define FM_POOL_GRAIN 0.015

/* An element of a string: a pair of lines of one page, or a line alone. */
struct fm_code_element {
    size_t one, other; /* bytes; other: FM_NO_LINE */
};

/* Elements to choose from, on one placement. */
struct fm_code_pool {
    struct fm_code_element *of, *trial; /* trial: those of one trial */
    size_t count, room;
    bool rows;    /* one pair of each page, at the same places in all of them; else anywhere */
    size_t pages; /* of the placement */
    size_t first, next; /* that no element is of, and that none was taken of since */
    double miss_ns;
    double one_ns;  /* what a jump took in the last trial */
    double squares; /* of what readings of the same lines lie apart, halved, … */
    unsigned pairs; /* … and of how many */
};

/* Times elements with care. */
bool fm_pool_time(struct fm_lab *lab, struct fm_icache *icache,
                  const struct fm_code_element *elements, size_t count, struct fm_code_fetch *found,
                  struct fm_error *err);

/* What a line of those that were timed last must add to be more than nothing. */
double fm_pool_least(const struct fm_icache *icache, const struct fm_code_pool *pool,
                     const struct fm_code_fetch *found);

/* Whether some conflict: readings are added up until chance no longer decides it. A group takes
   hundreds of trials, of which not one may go wrong. */
bool fm_pool_conflicts(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                       const struct fm_code_element *elements, size_t count, bool *yes,
                       struct fm_error *err);

/* How many colours pages have, by the lines of one set, one too many of them, that are in the pool;
   set_ns is what each of them adds. Not told where a policy keeps some lines of a set that is too
   small, or pages are too few. */
bool fm_count_colours(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                      double set_ns, struct fm_code_groups *found, struct fm_error *err);

#endif
