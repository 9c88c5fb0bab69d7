/* Groups of pages that share a set of a TLB: n of them, s pages apart. A level behind another is
 * asked only for what that one misses, so each of the n becomes a row of pages at the same few
 * offsets: as many as it takes for the levels inside to hold none of them. These sit in sets of
 * their own and conflict in all of them at once. */
#ifndef FM_PROBE_TLB_GROUP_H
#define FM_PROBE_TLB_GROUP_H

#include "probe/tlb.h"

/* Part of the step from hit to miss that a group of n must show. Where replacement is no true LRU
   it keeps some of its pages: all but two in n where victims are drawn by lot. And where two levels
   rise as one the step is that of both. */
#define FM_GROUP_CONFLICT 0.1
/* … and more than which no TLB shows: jumps that a predictor takes for each other do. */
#define FM_GROUP_TOO_MUCH 1.5
/* Places where a conflict must show, at the least. */
#define FM_GROUP_PLACES 3

struct fm_page_group {
    unsigned count; /* n */
    size_t stride;  /* s, in pages */
    size_t row;     /* pages in a row */
};

struct fm_group_search {
    const struct fm_known_tlb *inner;
    size_t inner_count;
    const struct fm_tlb_step *step;
    struct fm_page_list list;
    uint32_t *offsets; /* of the pages of a row, the first `row` of a shuffled order */
    size_t offset_count;
    size_t arena;    /* pages placed */
    size_t need;     /* of them, for any group */
    size_t base;     /* the group's first page: one that conflicts does so wherever it lies */
    double spent;    /* references */
    double whole_ns; /* what a reference takes */
    unsigned event;  /* that counts what misses; FM_EVENTS: the clock tells */
};

/* Whether a level holds hardly any of the pages, by what is known of it: under LRU a set that is
   asked for more pages than it has ways misses them all. */
bool fm_pages_miss(const struct fm_known_tlb *tlb, const struct fm_page_list *list,
                   double crowding);

/* Lists the pages of a group. */
void fm_group_fill(struct fm_group_search *search, const struct fm_page_group *group);

/* Pages so far apart share a set of the level just inside; 1: there is no such distance. */
size_t fm_group_apart_inside(const struct fm_group_search *search);

/* Offsets in a random order, multiples of a distance first: so few of them crowd a set of the level
   just inside. */
void fm_group_offsets(struct fm_group_search *search, size_t stride, size_t apart, uint64_t seed);

/* Makes rows as short as they can be for the levels inside to hold no page, with one less in each
   row too. False: they hold any rows so short that these do not crowd this level by chance. */
bool fm_group_row(struct fm_group_search *search, struct fm_page_group *group);

/* A fresh placement of the arena. */
bool fm_group_place(struct fm_lab *lab, struct fm_group_search *search, struct fm_error *err);

/* How closely a group is looked at: at a glance, to see which stride is worth more; for long enough
   that what the reading itself brings along is little; and when what was there before is forgotten
   under any policy. */
enum fm_look { FM_GLANCE, FM_LOOK, FM_LATE_LOOK };

/* Which part of the step from hit to miss a group shows. */
bool fm_group_time(struct fm_lab *lab, struct fm_group_search *search,
                   const struct fm_page_group *group, enum fm_look look, double *part,
                   struct fm_error *err);

/* The middle of what a group shows in a few places; 0 where in one more than may be by accident it
   does not conflict, or one page less shows nearly as much. */
bool fm_group_confirm(struct fm_lab *lab, struct fm_group_search *search,
                      const struct fm_page_group *group, double *middle, struct fm_error *err);

#endif
