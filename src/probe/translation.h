/* What translation adds to references over a list of pages. */
#ifndef FM_PROBE_TRANSLATION_H
#define FM_PROBE_TRANSLATION_H

#include "probe/lab.h"

/* Pages are divided into so many bytes; on any machine that is some lines or parts of one, which
   makes no difference: both orders touch the same. */
#define FM_PAGE_UNIT 64
/* The fewest lines of a page that can be visited in bursts, so that caches have little to do. */
#define FM_FEWEST_LINES 2

/* What it takes for pages to have grown: so many visits to an arena of so many pages, which are
   more than TLBs hold. No visits: they do not grow. */
struct fm_ripening {
    double visits;
    size_t pages;
};

/* Pages of an arena. */
struct fm_page_list {
    uint32_t *numbers;
    size_t count, room;
    size_t page;    /* bytes of one */
    size_t mapped;  /* bytes of what the arena is made of; pages may be pieces of that */
    unsigned lines; /* touched in each; the fewest there can be unless more are asked for */
    bool code;      /* jumps go there, not loads */
    struct fm_ripening ripen; /* of each fresh placement */
};

bool fm_page_list_open(struct fm_page_list *list, size_t room, size_t page, struct fm_error *err);
void fm_page_list_close(struct fm_page_list *list);

/* Has more lines of each page touched, as many as it has at the most. */
void fm_page_list_touch(struct fm_page_list *list, double lines);

/* Pages 0, stride, 2 * stride … */
void fm_page_list_fill(struct fm_page_list *list, size_t count, size_t stride);

/* A fresh placement of so many pages. */
bool fm_place_pages(struct fm_lab *lab, const struct fm_page_list *list, size_t pages,
                    struct fm_error *err);

/* The same where it need not be a fresh one: pages that are larger than the base page take long to
   clear, so that those which are there will do. */
bool fm_provide_pages(struct fm_lab *lab, const struct fm_page_list *list, size_t pages,
                      struct fm_error *err);

/* Visits the first pages of the placed arena, of the size they are mapped in, until they have grown
   as the list has it. */
bool fm_ripen(struct fm_lab *lab, const struct fm_page_list *list, size_t count,
              struct fm_error *err);

/* A string of one visit to each page of a list, at one place of each. */
bool fm_single_visits(struct fm_string *string, const struct fm_page_list *list, uint64_t seed,
                      struct fm_error *err);

/* Times visits to the pages of a list, so many lines of each in a row. */
bool fm_time_visits(struct fm_lab *lab, const struct fm_page_list *list, unsigned burst,
                    const struct fm_care *care, double *ns, struct fm_error *err);

/* A reading: what translation adds to a reference, and what the reference takes besides. */
struct fm_translation {
    double cost_ns, rest_ns;
};

/* Times one visit to each page after the other, and the same lines in bursts: to caches that is the
   same, to TLBs a part of it. The arena must be placed. */
bool fm_time_translation(struct fm_lab *lab, const struct fm_page_list *list,
                         const struct fm_care *care, struct fm_translation *found,
                         struct fm_error *err);

/* References of a timed run at the least. A reading brings pages of its own along, of the clock and
   of the stack: where a lap nearly fills a TLB they cost it a lap of misses or more, which must be
   little beside the rest. */
#define FM_LONG_VISIT 4096

/* Laps of so many references before a reading, enough to get over what came before. */
unsigned fm_laps_to_settle(size_t lap);

/* Pages of an arena some stride apart. */
struct fm_page_run {
    size_t first, count, stride;
};

/* The same of such pages; the list is filled with them. */
bool fm_time_pages(struct fm_lab *lab, struct fm_page_list *list, const struct fm_page_run *run,
                   unsigned repeats, struct fm_translation *found, struct fm_error *err);

/* The same of a list as it stands, on a fresh placement; of larger pages than the base page in
   another order, since these take long to clear. */
bool fm_time_afresh(struct fm_lab *lab, const struct fm_page_list *list, const struct fm_care *care,
                    struct fm_translation *found, struct fm_error *err);

#endif
