/* Caches and TLBs together: the probes of both measure by strings of their own what translation
 * takes. The model says what it should take at a footprint, by what was found of TLBs; the walk
 * says what it did take. */
#include <math.h>

#include "probe/tlb.h"

/* So few pages more or less than a level's entries are on neither side of its edge. */
#define NEAR 1.3
/* A difference that matters, as a part of the translation's cost, a good part of which a core may
   hide behind misses of caches, and of all a reference takes. */
#define PART_OF_COST 0.75
#define PART_OF_ALL  0.08
/* Part of the points that may disagree: some lie where caches begin to miss. */
#define SOME          0.34
#define FEWEST_POINTS 6

/* Pages from which on there is a part of a level's cost, up to those that its rise begins with: by
   a hash some sets are too full long before most are. */
static double begin_of_rise(const struct fm_curve *curve, const struct fm_known_tlb *tlb,
                            double inside)
{
    const double least = inside + PART_OF_ALL * (tlb->step.cost - inside);
    double begin = tlb->step.held;
    for (size_t i = curve ? curve->point_count : 0; i-- > 0;) {
        const struct fm_point *point = &curve->points[i];
        if (point->x > tlb->step.held)
            continue;
        if (point->y < least)
            break;
        begin = point->x;
    }
    return begin;
}

/* What a visit to one of so many pages costs; NAN: that is at some edge, or not known: as beyond
   the last level where another was seen and is in doubt. */
static double expected(const struct fm_tlbs *tlbs, const struct fm_curve *curve, bool doubted,
                       double pages)
{
    double cost = 0;
    for (size_t i = 0; i < tlbs->count; i++) {
        const struct fm_known_tlb *tlb = &tlbs->known[i];
        const double held = tlb->ways && !tlb->hashed
                                ? (double)tlb->entries * (double)tlb->piece / (double)tlbs->page
                                : begin_of_rise(curve, tlb, cost);
        if (pages < held / NEAR)
            break;
        if (pages < fmax(held, tlb->step.missed) * NEAR)
            return NAN;
        const bool unsure = tlb->cost_open || (doubted && i + 1 == tlbs->count);
        cost = unsure ? NAN : tlb->step.cost;
    }
    return cost;
}

void fm_compare_with_walk(struct fm_lab *lab, const struct fm_tlbs *tlbs)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_curve *curve = fm_result_find_curve(lab->result, tlbs->curve);
    unsigned compared = 0, differ = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        const double pages = ceil((double)point->bytes / (double)tlbs->page);
        const double model = expected(tlbs, curve, lab->known.tlb_doubted, pages);
        if (isnan(model) || point->tlb_count == 0 || pages > tlbs->far)
            continue;
        /* The walk visits a page for two references. */
        const double taken = 2 * point->tlb_ns;
        const double slack = fmax(PART_OF_COST * model, PART_OF_ALL * fm_walk_mean(point));
        compared++;
        differ += fabs(taken - model) > slack;
    }
    if (compared >= FEWEST_POINTS && differ > SOME * compared)
        fm_result_warn(lab->result, "translation", "measure again on a quiet machine",
                       "what translation takes, by the walk over caches and by the strings over "
                       "pages, does not agree at %u of %u footprints",
                       differ, compared);
}
