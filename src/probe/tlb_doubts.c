/* What else may make translation dearer as pages grow in number: an accident, page tables that fall
 * out of caches, caches that begin to miss. */
#include <math.h>

#include "probe/tlb.h"

/* Part of what a reference takes besides that the first level's misses add at the least. */
#define CLEAR 0.06
/* … and part of a cycle: whatever answers instead takes one. */
#define A_CYCLE 0.9
/* Pages whose entries share a line of the page tables, at the most; and the part of the pages that
   would still fill more such lines than neighbours did. */
#define TABLE_LINE   8
#define SPARSE       4
#define GOLDEN_RATIO 1.6180339887498949
/* So many times its entries are too many pages for a TLB, whatever its sets; and it holds the same
   part of them easily. */
#define TOO_MANY 1.5
#define EASILY   1.1
/* Fewer pages than this are not worth the question. */
#define FEWEST 3
/* Part of a rise that shows its cause, and how often. */
#define SHOWS 0.3
#define LOOKS 2

/* Whether the pages in the list, which a TLB would hold easily, cost what a rise leads up to, each
   time they are asked: what disturbs once has passed by then. */
static bool also_rises(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *yes,
                       struct fm_error *err)
{
    const struct fm_care care = {.repeats = 4};
    const struct fm_tlb_step *step = &tlbs->known[index].step;
    const double inner = index ? tlbs->known[index - 1].step.cost : 0;
    struct fm_translation found;
    *yes = true;
    for (int i = 0; i < LOOKS && *yes; i++) {
        if (!fm_time_afresh(lab, &tlbs->list, &care, &found, err))
            return false;
        *yes = found.cost_ns - inner > SHOWS * (step->cost - inner);
    }
    return true;
}

/* As pages grow in number their tables fall out of caches, and walks take longer. That shows with
   fewer pages, too, if no two of them share a line of the tables. Multiples of the golden ratio
   spread them over the sets of a TLB, however many these are: drawn at random, some would meet. */
static bool tables_do_it(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, double pages,
                         bool *yes, struct fm_error *err)
{
    fm_page_list_fill(&tlbs->list, (size_t)pages, TABLE_LINE);
    for (size_t i = 0; i < tlbs->list.count; i++)
        tlbs->list.numbers[i] += (uint32_t)(TABLE_LINE * fmod((double)i * GOLDEN_RATIO, 1));
    return also_rises(lab, tlbs, index, yes, err);
}

/* Where a cache begins to miss, one order may miss more often than the other. That shows with fewer
   pages, too, if as many lines are touched. */
static bool caches_do_it(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, double pages,
                         bool *yes, struct fm_error *err)
{
    const unsigned fewest = tlbs->list.lines;
    fm_page_list_fill(&tlbs->list, (size_t)pages, 1);
    fm_page_list_touch(&tlbs->list, fewest * tlbs->known[index].step.missed / pages);
    const bool good = also_rises(lab, tlbs, index, yes, err);
    tlbs->list.lines = fewest;
    return good;
}

double fm_least_cost(const struct fm_lab *lab, double rest_ns)
{
    return fmax(CLEAR * rest_ns, A_CYCLE * lab->known.cycle_ns);
}

bool fm_rise_is_there(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    const double least =
        index ? FM_TLB_LEAST_STEP * tlb[-1].step.cost : fm_least_cost(lab, tlb->rest_ns);
    return tlb->step.cost > fmax(least, tlb->read_cost / 2);
}

bool fm_is_a_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *yes,
                 struct fm_error *err)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    bool tables = false, caches = false;
    *yes = fm_rise_is_there(lab, tlbs, index);
    if (!*yes) {
        tlbs->lost = tlb->step;
        return true;
    }
    /* Enough pages for the level inside to miss, and few enough for this one. */
    const double too_many = index ? TOO_MANY * tlb[-1].entries : 0;
    const double sparse = fmax(too_many, tlb->step.held / SPARSE);
    const double fewer = fmin(tlb->step.held / EASILY, tlb->step.missed / 2);
    if (index && sparse * TOO_MANY < tlb->step.held &&
        !tables_do_it(lab, tlbs, index, sparse, &tables, err))
        return false;
    if (fewer > fmax(too_many, FEWEST) && !tables &&
        !caches_do_it(lab, tlbs, index, fewer, &caches, err))
        return false;
    *yes = !tables && !caches;
    return true;
}
