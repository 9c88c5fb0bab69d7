/* Lines that a cache holds all at once, and what one more does to them.
 *
 * One line of each page, always at the same place in it. Where a set is chosen by the address,
 * pages fall into classes whose lines share a set, and a class of more members than the set has
 * ways misses. Pages are taken in, in a random order, as long as nothing misses; when none is left
 * that could be, every class has as many members as there are ways, wherever the pages lie in
 * memory. */
#ifndef FM_PROBE_CROWD_H
#define FM_PROBE_CROWD_H

#include "probe/lab.h"

struct fm_crowd {
    size_t page, pages; /* of the arena */
    size_t offset;      /* of the line in a page, in bytes */
    uint32_t *pool;     /* a word of every page, in random order */
    size_t next;        /* of the pool, to be tried */
    size_t batch;       /* how many at once */
    uint32_t *held;     /* the words that are held … */
    size_t count;
    uint32_t *spread;      /* the same pages at places that share no set */
    uint32_t *trial;       /* room for a trial of these and some more */
    size_t most;           /* … and how many at the most */
    double hit_ns;         /* a hit in this level beyond one in the first */
    double penalty_ns;     /* of a miss */
    double base_ns;        /* of what is held: a reference, beyond a hit in the first level */
    double whole_ns;       /* a reference in the last trial, translation included */
    double refused_misses; /* of a lap with the word that was refused last */
    double typical;        /* the same, of one whose class was found; 0: none yet */
    size_t shallow;        /* so few words the levels inside may hold */
    double spent, spend;   /* references, and how many may be */
    bool counted;          /* by an event, not by the clock … */
    unsigned bit;          /* … which is this */
};

bool fm_crowd_open(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_error *err);
void fm_crowd_close(struct fm_crowd *crowd);

/* How many references of a lap miss when these words are visited beside those that are held. */
bool fm_crowd_misses(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *words,
                     size_t count, double *misses, struct fm_error *err);

/* Whether that many are some, and no error of the clock; an event has none. */
bool fm_crowd_is_some(const struct fm_crowd *crowd, double misses);

/* Takes pages in until one is refused, or the pool or what may be spent is used up. */
bool fm_crowd_fill(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t *refused, bool *found,
                   struct fm_error *err);

/* How many of those that are held share the set of a word that was refused; 0: that does not show.
 */
bool fm_crowd_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused, size_t *members,
                    struct fm_error *err);

#endif
