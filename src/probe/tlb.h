/* TLBs as far as they are known, of data or of code. */
#ifndef FM_PROBE_TLB_H
#define FM_PROBE_TLB_H

#include "analysis/tlb_steps.h"
#include "core/units.h"
#include "probe/translation.h"

/* What counters show of a level. */
struct fm_tlb_hint {
    unsigned ways, sets; /* 0: nothing */
    bool crowded;        /* found by crowding it: pages that conflict may lie in no row */
    bool spares;         /* some pages of a set that is too small */
    bool asked;          /* it has been crowded, whatever came of it */
};

struct fm_known_tlb {
    struct fm_tlb_step step;
    struct fm_tlb_step alone, rest; /* its first rise, and what others that were joined to it make
                                       together; held 0: none were */
    double read_cost;               /* of a miss, as the curve has it */
    double cost_low, cost_high;     /* of a miss, over placements */
    bool cost_open;                 /* the cost is not told */
    double rest_ns;                 /* what a reference takes besides */
    unsigned entries;               /* 0: not determined */
    unsigned row_low, row_high;     /* where ways are not: entries by pages in a row; 0: neither */
    unsigned ways;                  /* 0: not determined */
    unsigned sets;                  /* 0: not determined; 1: fully associative */
    bool hashed;                    /* no stride keeps to one of the sets */
    bool spares;                    /* some pages of a set that is too small, which LRU does not */
    bool soft; /* misses take long to set in: it may be the rise of two levels */
    struct fm_tlb_hint hint;
    const char *method; /* that found the entries */
    const char *meter;  /* … by which witness; NULL: the clock */
    const char *doubt;  /* why crowding it decided nothing; NULL: it was not crowded, or did */
    size_t piece;       /* bytes that an entry maps */
    bool in_pieces;     /* entries were counted in pieces of pages, and ways not in pages */
};

/* More pages than any TLB holds. */
#define FM_TLB_PAGES 8192
/* The fewest that come in any order. */
#define FM_TLB_FEWEST 2
/* Entries up to which all strides can be tried, and one miss in a lap told from none. */
#define FM_TLB_FEW 128
/* Times the pages that a level holds at which all miss, where sets fill unevenly. */
#define FM_TLB_SOFT 2

struct fm_tlbs {
    const char *name; /* "dtlb", or "itlb": the list is then one of code */
    size_t page;
    char qualifier[FM_SIZE_TEXT + 1]; /* "", or "@2MiB" */
    char curve[FM_SIZE_TEXT + 16], evidence[FM_SIZE_TEXT + 24];
    struct fm_page_list list; /* to fill and time */
    struct fm_known_tlb known[FM_TLB_LEVELS];
    size_t count;
    double most;             /* pages that are of interest; 0: as many as there may be */
    double far;              /* pages at the end of the curve */
    bool vanishes;           /* the cost of translation, where pages are more or much used */
    struct fm_tlb_step lost; /* the last rise that was not there any more; held 0: none */
};

/* Surveys the TLBs of code on the base page. A level behind the first that holds data as well is
   told as that of data. */
bool fm_survey_code_tlbs(struct fm_lab *lab, struct fm_error *err);

/* Draws the curve and reads it into levels. */
bool fm_read_tlb_curve(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_error *err);

/* A level as its rise alone tells it. */
struct fm_known_tlb fm_tlb_of_rise(const struct fm_tlb_step *step);

/* Bytes that may be touched. */
double fm_tlb_memory(const struct fm_lab *lab);

/* Measures one level, those inside being known; takes it out if it turns out to be none. */
bool fm_measure_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *is_one,
                    struct fm_error *err);

/* Pages miss no level that fit the one inside: if they do as they were measured, the two are one
   rise with a ledge in it. Makes one of them, to be measured anew, and says whether it did. */
bool fm_join_tlb(struct fm_tlbs *tlbs, size_t index);

/* What misses of a first level add at the least, where a reference takes so long besides. */
double fm_least_cost(const struct fm_lab *lab, double rest_ns);

/* Whether a rise that the curve has shows again in the cost that was measured. */
bool fm_rise_is_there(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index);

/* Whether a rise of the cost is that of a TLB: it must be there when it is looked at again, and
   neither page tables nor caches must account for it. Its cost must have been measured. */
bool fm_is_a_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *yes,
                 struct fm_error *err);

/* Holds what was found against the walk over caches, which took a TLB's part out of its readings
   without knowing any of this; warns where the two do not agree. */
void fm_compare_with_walk(struct fm_lab *lab, const struct fm_tlbs *tlbs);

/* Finds how many pages in a row a level holds whose ways nothing tells, and whether that is all it
   holds. */
bool fm_find_tlb_row(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err);

/* Finds how much an entry maps: a page, several neighbours, or a piece of one. Corrects entries and
   sets, which were counted in pages. */
bool fm_find_tlb_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                       struct fm_error *err);

/* Finds whether entries of the first level map less than a page, and how much. No more of it need
   be known than the curve shows. */
bool fm_find_smallest_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t *piece,
                            struct fm_error *err);

/* Finds how many neighbouring pages share an entry of a level, of which no more need be known than
   how many pages it holds and what a miss costs. */
bool fm_count_neighbours(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                         size_t *shared, struct fm_error *err);

/* Finds ways and sets of a level, those inside being known. A group of pages that share a set, one
   more than it has ways, misses on every lap; it is found by trying all numbers of pages and all
   strides that fit the rise of the cost. Leaves ways 0 where no group does so. */
bool fm_find_tlb_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err);

/* Finds the same, and entries, by taking in pages until none fits any more, and by counting which
   of them share a set with one that does not. Needs no stride, and takes much longer. Leaves ways 0
   where that does not decide. `event` counts what misses; FM_EVENTS: the clock tells. */
bool fm_crowd_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, unsigned event,
                  struct fm_error *err);

/* Halves down to the largest number of neighbours that a level holds, all of which then hit. Where
   misses set in little by little that may be off by some. */
bool fm_find_tlb_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                       struct fm_error *err);

/* Whether any pages fit that are as many as its entries, and any that are one more do not: then it
   has but one set, whatever it evicts. Several sets would get more pages than they hold by luck. */
bool fm_tlb_is_one_set(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                       bool *yes, struct fm_error *err);

/* The event of a level, FM_EVENTS where it has none, and what it showed. */
unsigned fm_tlb_event(const struct fm_tlbs *tlbs, size_t index);
const struct fm_counted *fm_tlb_counted(const struct fm_lab *lab, const struct fm_tlbs *tlbs,
                                        size_t index);

/* Whether pages cost nothing to translate, as many as there may be, by the events of all caches;
   false where these are not all exact. Draws the curve if so. */
bool fm_translation_is_free(struct fm_lab *lab, struct fm_tlbs *tlbs, bool *yes,
                            struct fm_error *err);

/* Whether that event counts the same of equal strings. */
bool fm_tlb_is_steady(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index);

/* Keeps as a hint what counters show of ways and sets. */
void fm_hint_at_tlb(const struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index);

/* Where they have shown no edge that is sharp: crowds it by its event for a hint. */
bool fm_crowd_for_hint(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                       struct fm_error *err);

/* What was hinted at becomes what is known, by its event alone. */
void fm_take_hint(const struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index);

#endif
