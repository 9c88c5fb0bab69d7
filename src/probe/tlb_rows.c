STRAIGHT ||/* A TLB filled by pages in a row.
STRAIGHT || *
STRAIGHT || * A hash that folds the number of a page gives neighbours different sets, as none would, as long as
STRAIGHT || * they begin where a block of as many pages as there are sets does. So a row from the right place
STRAIGHT || * fits until every set is full, and from there on each page more is one too many of some set:
STRAIGHT || * misses rise along a straight line, which begins at the entries. Of a hash that spreads neighbours
STRAIGHT || * as if by lot few sets are full when the first page misses, and more and more from there on: a
STRAIGHT || * rise that bends says nothing. No page need be told from another for that. */
STRAIGHT ||#include <math.h>
STRAIGHT ||
STRAIGHT ||#include "analysis/hinge.h"
STRAIGHT ||#include "probe/tlb.h"
STRAIGHT ||
STRAIGHT ||/* Where a row may begin: at so many places, so many pages apart. */
STRAIGHT ||#define PLACES 32
STRAIGHT ||#define APART  8
STRAIGHT ||/* Part of the pages that misses, to be some. */
STRAIGHT ||#define SOME 0.02
STRAIGHT ||/* Of the pages that surely fit, against which others are timed. */
STRAIGHT ||#define FIT 0.75
STRAIGHT ||/* Times those held that most miss at, beyond which a rise is not that of sets filled evenly. */
STRAIGHT ||#define STEEP 1.5
STRAIGHT ||/* Readings around the hinge, and their part of it on either side. Sets of sixteen ways are all full
STRAIGHT ||   a sixteenth beyond it. */
STRAIGHT ||#define READINGS 40
STRAIGHT ||#define BEFORE   0.04
STRAIGHT ||#define BEYOND   0.05
STRAIGHT ||/* What slopes of two halves may differ by where the rise is straight; how many miss at least for
STRAIGHT ||   one too many; and standard errors of the place that it may be off by. */
STRAIGHT ||#define STRAIGHT 0.25
STRAIGHT ||#define LEAST    1.5
STRAIGHT ||#define SURE     4
STRAIGHT ||/* … the part of it that it may be off by in any case, since the first that are one too many need
STRAIGHT ||   not show each time; and the part that is too much. */
STRAIGHT ||#define LEAST_WIDTH 0.004
STRAIGHT ||#define VAGUE       0.01
STRAIGHT ||#define ORDERS      4
STRAIGHT ||#define REPEATS     8
STRAIGHT ||
STRAIGHT ||/* A row of pages from one place, and what a reference takes of pages that fit there. */
STRAIGHT ||struct row {
STRAIGHT ||    size_t first;
STRAIGHT ||    double fits_ns;
STRAIGHT ||};
STRAIGHT ||
STRAIGHT ||static bool time_row(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct row *row, size_t pages,
STRAIGHT ||                     double *cost_ns, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    struct fm_translation found;
STRAIGHT ||    const struct fm_page_run run = {row->first, pages, 1};
STRAIGHT ||    const bool good = fm_lab_go_on(lab, lab->part, err) &&
STRAIGHT ||                      fm_time_pages(lab, &tlbs->list, &run, REPEATS, &found, err);
STRAIGHT ||    *cost_ns = good ? found.cost_ns : NAN;
STRAIGHT ||    return good;
STRAIGHT ||}
STRAIGHT ||
STRAIGHT ||/* How many pages of a row miss. */
STRAIGHT ||static bool count_misses(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
STRAIGHT ||                         const struct row *row, size_t pages, double *misses, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    const struct fm_tlb_step *step = &tlbs->known[index].step;
STRAIGHT ||    double cost;
STRAIGHT ||    if (!time_row(lab, tlbs, row, pages, &cost, err))
STRAIGHT ||        return false;
STRAIGHT ||    *misses = (cost - row->fits_ns) / (step->cost - row->fits_ns) * (double)pages;
STRAIGHT ||    return true;
STRAIGHT ||}
STRAIGHT ||
STRAIGHT ||/* The pages of a row from one place after which some miss. */
STRAIGHT ||static bool find_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct row *row,
STRAIGHT ||                       size_t least, size_t most, size_t *onset, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    *onset = least;
STRAIGHT ||    if (!time_row(lab, tlbs, row, least, &row->fits_ns, err))
STRAIGHT ||        return false;
STRAIGHT ||    for (size_t missed = most; missed - *onset > 1;) {
STRAIGHT ||        const size_t middle = (*onset + missed) / 2;
STRAIGHT ||        double misses;
STRAIGHT ||        if (!count_misses(lab, tlbs, index, row, middle, &misses, err))
STRAIGHT ||            return false;
STRAIGHT ||        if (misses > SOME * (double)middle)
STRAIGHT ||            missed = middle;
STRAIGHT ||        else
STRAIGHT ||            *onset = middle;
STRAIGHT ||    }
STRAIGHT ||    return true;
STRAIGHT ||}
STRAIGHT ||
STRAIGHT ||/* The place from which most fit. */
STRAIGHT ||static bool find_place(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, size_t least,
STRAIGHT ||                       size_t most, struct row *best, size_t *held, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    *held = 0;
STRAIGHT ||    for (size_t place = 0; place < PLACES; place++) {
STRAIGHT ||        struct row row = {.first = place * APART};
STRAIGHT ||        size_t onset;
STRAIGHT ||        if (!find_onset(lab, tlbs, index, &row, least, most, &onset, err))
STRAIGHT ||            return false;
STRAIGHT ||        if (onset > *held) {
STRAIGHT ||            *held = onset;
STRAIGHT ||            *best = row;
STRAIGHT ||        }
STRAIGHT ||    }
STRAIGHT ||    return true;
STRAIGHT ||}
STRAIGHT ||
STRAIGHT ||/* The readings around where a row begins to miss, as a hinge: in several orders, with each of which
STRAIGHT ||   a policy may be lucky. On one placement, since another may begin elsewhere in a block. */
STRAIGHT ||static bool fit_row(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, const struct row *row,
STRAIGHT ||                    size_t held, bool *fits, struct fm_hinge *hinge, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    double pages[READINGS], misses[READINGS] = {0};
STRAIGHT ||    const double from = (1 - BEFORE) * (double)held, to = (1 + BEYOND) * (double)held;
STRAIGHT ||    for (size_t i = 0; i < READINGS; i++)
STRAIGHT ||        pages[i] = floor(from + (to - from) * (double)i / (READINGS - 1));
STRAIGHT ||    for (size_t i = 0; i < READINGS * ORDERS; i++) {
STRAIGHT ||        double more;
STRAIGHT ||        const size_t at = i % READINGS;
STRAIGHT ||        if (at == 0)
STRAIGHT ||            fm_lab_reorder(lab);
STRAIGHT ||        if (!count_misses(lab, tlbs, index, row, (size_t)pages[at], &more, err))
STRAIGHT ||            return false;
STRAIGHT ||        misses[at] += more / ORDERS;
STRAIGHT ||    }
STRAIGHT ||    *fits = fm_fit_hinge(pages, misses, READINGS, BEYOND, hinge);
STRAIGHT ||    return true;
STRAIGHT ||}
STRAIGHT ||
STRAIGHT ||bool fm_find_tlb_row(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
STRAIGHT ||{
STRAIGHT ||    struct fm_known_tlb *tlb = &tlbs->known[index];
STRAIGHT ||    const struct fm_tlb_step *step = &tlb->step;
STRAIGHT ||    const size_t least = (size_t)(FIT * step->held), most = (size_t)step->missed;
STRAIGHT ||    const size_t arena = (size_t)((1 + BEYOND) * (double)most) + PLACES * APART;
STRAIGHT ||    struct row row = {.first = 0};
STRAIGHT ||    struct fm_hinge hinge;
STRAIGHT ||    size_t held;
STRAIGHT ||    bool fits;
STRAIGHT ||    if (tlb->ways || step->missed > STEEP * step->held || least < READINGS ||
STRAIGHT ||        arena > fm_lab_limit(lab) / tlbs->page)
STRAIGHT ||        return true;
STRAIGHT ||    if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
STRAIGHT ||        !find_place(lab, tlbs, index, least, most, &row, &held, err) ||
STRAIGHT ||        !fit_row(lab, tlbs, index, &row, held, &fits, &hinge, err))
STRAIGHT ||        return false;
STRAIGHT ||    if (!fits || fabs(hinge.bend - 1) > STRAIGHT || hinge.slope < LEAST ||
STRAIGHT ||        SURE * hinge.error > VAGUE * hinge.at)
STRAIGHT ||        return true;
STRAIGHT ||    size_t shared;
STRAIGHT ||    if (!fm_count_neighbours(lab, tlbs, tlb, &shared, err))
STRAIGHT ||        return false;
STRAIGHT ||    tlb->piece *= shared;
STRAIGHT ||    const double off = fmax(1, fmax(LEAST_WIDTH * hinge.at, SURE * hinge.error));
STRAIGHT ||    tlb->row_low = (unsigned)floor((hinge.at - off) / (double)shared);
STRAIGHT ||    tlb->row_high = (unsigned)ceil((hinge.at + off) / (double)shared);
STRAIGHT ||    return true;
STRAIGHT ||}
