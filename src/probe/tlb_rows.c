/* A TLB filled by pages in a row.
 *
 * A hash that folds the number of a page gives neighbours different sets, as none would, as long as
 * they begin where a block of as many pages as there are sets does. So a row from the right place
 * fits until every set is full, and from there on each page more is one too many of some set:
 * misses rise along a straight line, which begins at the entries. Of a hash that spreads neighbours
 * as if by lot few sets are full when the first page misses, and more and more from there on: a
 * rise that bends says nothing. No page need be told from another for that. */
#include <math.h>

#include "analysis/hinge.h"
#include "probe/tlb.h"

/* Where a row may begin: at so many places, so many pages apart. */
#define PLACES 32
#define APART  8
/* Part of the pages that misses, to be some. */
#define SOME 0.02
/* Of the pages that surely fit, against which others are timed. */
#define FIT 0.75
/* Times those held that most miss at, beyond which a rise is not that of sets filled evenly. */
#define STEEP 1.5
/* Readings around the hinge, and their part of it on either side. Sets of sixteen ways are all full
   a sixteenth beyond it. */
#define READINGS 40
#define BEFORE   0.04
#define BEYOND   0.05
/* What slopes of two halves may differ by where the rise is straight; how many miss at least for
   one too many; and standard errors of the place that it may be off by. */
#define STRAIGHT 0.25
#define LEAST    1.5
#define SURE     4
/* … the part of it that it may be off by in any case, since the first that are one too many need
   not show each time; and the part that is too much. */
#define LEAST_WIDTH 0.004
#define VAGUE       0.01
#define ORDERS      4
#define REPEATS     8

/* A row of pages from one place, and what a reference takes of pages that fit there. */
struct row {
    size_t first;
    double fits_ns;
};

static bool time_row(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct row *row, size_t pages,
                     double *cost_ns, struct fm_error *err)
{
    struct fm_translation found;
    const struct fm_page_run run = {row->first, pages, 1};
    const bool good = fm_lab_go_on(lab, lab->part, err) &&
                      fm_time_pages(lab, &tlbs->list, &run, REPEATS, &found, err);
    *cost_ns = good ? found.cost_ns : NAN;
    return good;
}

/* How many pages of a row miss. */
static bool count_misses(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                         const struct row *row, size_t pages, double *misses, struct fm_error *err)
{
    const struct fm_tlb_step *step = &tlbs->known[index].step;
    double cost;
    if (!time_row(lab, tlbs, row, pages, &cost, err))
        return false;
    *misses = (cost - row->fits_ns) / (step->cost - row->fits_ns) * (double)pages;
    return true;
}

static bool some_miss(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, const struct row *row,
                      size_t pages, bool *some, struct fm_error *err)
{
    double misses;
    const bool good = count_misses(lab, tlbs, index, row, pages, &misses, err);
    *some = good && misses > SOME * (double)pages;
    return good;
}

/* The pages of a row from one place after which some miss, of which `onset` do not. */
static bool find_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                       const struct row *row, size_t most, size_t *onset, struct fm_error *err)
{
    for (size_t missed = most; missed - *onset > 1;) {
        const size_t middle = (*onset + missed) / 2;
        bool some;
        if (!some_miss(lab, tlbs, index, row, middle, &some, err))
            return false;
        if (some)
            missed = middle;
        else
            *onset = middle;
    }
    return true;
}

/* The place from which most fit; of each, whether it is better is asked first. */
static bool find_place(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, size_t least,
                       size_t most, struct row *best, size_t *held, struct fm_error *err)
{
    *held = least;
    for (size_t place = 0; place < PLACES && *held + 1 < most; place++) {
        struct row row = {.first = place * APART};
        bool some;
        if (!time_row(lab, tlbs, &row, least, &row.fits_ns, err) ||
            !some_miss(lab, tlbs, index, &row, *held + 1, &some, err))
            return false;
        if (some)
            continue;
        ++*held;
        *best = row;
        if (!find_onset(lab, tlbs, index, &row, most, held, err))
            return false;
    }
    return true;
}

/* The readings around where a row begins to miss, as a hinge: in several orders, with each of which
   a policy may be lucky. On one placement, since another may begin elsewhere in a block. */
static bool fit_row(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, const struct row *row,
                    size_t held, bool *fits, struct fm_hinge *hinge, struct fm_error *err)
{
    double pages[READINGS], misses[READINGS] = {0};
    const double from = (1 - BEFORE) * (double)held, to = (1 + BEYOND) * (double)held;
    for (size_t i = 0; i < READINGS; i++)
        pages[i] = floor(from + (to - from) * (double)i / (READINGS - 1));
    for (size_t i = 0; i < READINGS * ORDERS; i++) {
        double more;
        const size_t at = i % READINGS;
        if (at == 0)
            fm_lab_reorder(lab);
        if (!count_misses(lab, tlbs, index, row, (size_t)pages[at], &more, err))
            return false;
        misses[at] += more / ORDERS;
    }
    *fits = fm_fit_hinge(pages, misses, READINGS, BEYOND, hinge);
    return true;
}

bool fm_find_tlb_row(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const struct fm_tlb_step *step = &tlb->step;
    const size_t least = (size_t)(FIT * step->held), most = (size_t)step->missed;
    const size_t arena = (size_t)((1 + BEYOND) * (double)most) + PLACES * APART;
    struct row row = {.first = 0};
    struct fm_hinge hinge;
    size_t held;
    bool fits;
    if (tlb->ways || step->missed > STEEP * step->held || least < READINGS ||
        arena > fm_lab_limit(lab) / tlbs->page)
        return true;
    if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
        !find_place(lab, tlbs, index, least, most, &row, &held, err) ||
        !fit_row(lab, tlbs, index, &row, held, &fits, &hinge, err))
        return false;
    if (!fits || fabs(hinge.bend - 1) > STRAIGHT || hinge.slope < LEAST ||
        SURE * hinge.error > VAGUE * hinge.at)
        return true;
    size_t shared;
    if (!fm_count_neighbours(lab, tlbs, tlb, &shared, err))
        return false;
    tlb->piece *= shared;
    const double off = fmax(1, fmax(LEAST_WIDTH * hinge.at, SURE * hinge.error));
    tlb->row_low = (unsigned)floor((hinge.at - off) / (double)shared);
    tlb->row_high = (unsigned)ceil((hinge.at + off) / (double)shared);
    return true;
}
