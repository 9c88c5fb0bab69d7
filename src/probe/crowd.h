/* What a cache or a TLB holds all at once, and what one more does to it.
 *
 * Items are lines, one of each page and always at the same place in it, or pages. Where a set is
 * chosen by the address they fall into classes that share a set, and a class of more members than
 * the set has ways misses. Items are taken in, in a random order, as long as nothing misses; when
 * none is left that could be, every class has as many members as there are ways, wherever the items
 * lie and whatever chooses the sets. */
#ifndef FM_PROBE_CROWD_H
#define FM_PROBE_CROWD_H

#include "probe/lab.h"

/* Classes whose members are counted at the most: the first while others still have room, for a
   guess, the rest when none has. */
#define FM_CROWD_CLASSES 5

struct fm_crowd {
    /* To be set before. Times the first `count` items of the trial: what a reference takes beyond
       one that misses nothing, and in whole_ns all that it takes. Adds to what was spent. */
    bool (*time)(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                 struct fm_error *err);
    /* Counts misses of the same by the level's own event instead; NULL: there is none. */
    bool (*tell)(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *misses,
                 struct fm_error *err);
    void *data;          /* of these functions */
    size_t items;        /* to choose from */
    size_t most;         /* to be held, at the most */
    size_t shallow;      /* so few items the levels inside may hold */
    size_t kept;         /* so many are needed for them to hold none */
    size_t steady;       /* of more it cannot be reckoned what a lap takes; 0: of any it can */
    double hit_ns;       /* a hit in this level, as it is timed */
    double penalty_ns;   /* of a miss … */
    bool unpriced;       /* … which may be far more */
    double reading;      /* what a reading can be off by, as a part of all that a reference takes */
    double spent, spend; /* references, and how many may be */
    bool anywhere;       /* items lie in sets by no rule: there are too many to fill them all */
    size_t classes;      /* to be counted; 0: FM_CROWD_CLASSES */
    bool alone;          /* the level inside has but one class for all items: none is of that */

    uint32_t *pool; /* all items, in random order */
    size_t next;    /* of the pool, to be tried */
    size_t batch;   /* how many at once */
    bool anew;      /* all was let go of once: it will not be full */
    unsigned begun; /* times that none of those to begin with could be taken in */
    uint32_t *held; /* the items that are held … */
    size_t count;
    uint32_t *suspects; /* … and those of them that may share a set with one that was refused */
    uint32_t *trial;    /* room for a trial of these and some more */
    double base_ns;     /* of what is held: a reference, beyond a hit in the first level */
    double whole_ns;    /* a reference in the last trial, everything included */
    size_t in_a_row;    /* items refused since the last that was taken in */
    double typical;     /* misses of one too many; 0: not known yet */
    unsigned singles;   /* items that told that */
    bool all_miss;      /* one too many makes its whole class miss, as LRU does */
};

/* What crowding a level shows. */
struct fm_crowded {
    size_t members[FM_CROWD_CLASSES];   /* of the classes counted … */
    uint32_t refused[FM_CROWD_CLASSES]; /* … by an item of each that was one too many */
    size_t classes;
    bool few;      /* fewer than were to be counted */
    size_t ways;   /* members of most of the last ones; 0: they do not agree */
    bool sound;    /* of all that is held nothing misses, by what was seen */
    bool full;     /* nothing more fits */
    bool used_up;  /* there was nothing more to try */
    bool shallow;  /* it began with what the levels inside may hold, and may have ended there */
    double misses; /* of a lap with one item too many, over those of its class */
    size_t held;   /* items */
};

/* Items `first`, `first + step` …; their memory must be placed by whoever times them. */
bool fm_crowd_open(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t first, uint32_t step,
                   struct fm_error *err);
void fm_crowd_close(struct fm_crowd *crowd);

/* Fills the level, and counts the members of the first class that is full and of some of the last.
 */
bool fm_crowd_out(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowded *shown,
                  struct fm_error *err);

/* Why that decides nothing about ways; NULL: it does. */
const char *fm_crowd_ways_doubt(const struct fm_lab *lab, const struct fm_crowded *shown);

/* … about ways or what is held. */
const char *fm_crowd_doubt(const struct fm_lab *lab, const struct fm_crowded *shown);

/* Misses of the first `count` items of the trial, and what a reference took. Looks again, and
   averages, as long as it is doubtful. */
bool fm_crowd_count_misses(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                           double *misses, struct fm_error *err);

/* How many references of a lap miss when these items are visited beside those that are held. */
bool fm_crowd_misses(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *items,
                     size_t count, double *misses, struct fm_error *err);

/* What a reading can be off by, as a part of all that a reference takes, times how often it is
   repeated: noise only adds, and the least is taken. */
#define FM_CROWD_READING 0.04
#define FM_CROWD_REPEATS 4 /* at least */

/* How often to repeat a trial of so many items: as often as it takes to tell one too many, once it
   is known what that misses. */
unsigned fm_crowd_repeats(const struct fm_crowd *crowd, size_t count, unsigned most);

/* Whether that many are some, and no error of the clock; an event has none. */
bool fm_crowd_is_some(const struct fm_crowd *crowd, double misses);

#endif
