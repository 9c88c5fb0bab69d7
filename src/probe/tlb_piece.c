/* How much memory one entry of a TLB maps. Most map a page. Some map a pair of neighbours, and some
 * but a piece of a page that is larger than what they can hold. */
#include <math.h>

#include "analysis/median.h"
#include "core/rng.h"
#include "probe/tlb.h"

/* No TLB maps less. */
#define SMALLEST 512
/* No entry maps more neighbours. */
#define MOST_NEIGHBOURS 64
/* Pages so far apart share none, or few do. */
#define SURELY_APART 8
/* More pieces than entries, and fewer, by as much as sets that are filled unevenly bear. */
#define MORE  1.25
#define FEWER 0.75
/* Part of the step from hit to miss that says that most miss, on the mean of some placements. */
#define MOST       0.6
#define PLACEMENTS 5
/* Placements of large pages that are new ones. */
#define FRESH 2
/* … and that halves miss more than pages do: if it is noise, what is then found of halves says so,
   since two of them share an entry. */
#define SOME 0.12
/* Numbers of halves tried, up to so many times the pages. */
#define SIZES   7
#define LARGEST 3.0

/* One will do where counters have shown that an entry maps a page. */
static int placements_of(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_counted *counted = fm_tlb_counted(lab, tlbs, index);
    return counted && counted->line == tlbs->page ? 1 : PLACEMENTS;
}

/* Which part of the step from hit to miss a list of pages shows. */
static bool part_missed(struct fm_lab *lab, const struct fm_page_list *list,
                        const struct fm_tlb_step *step, double *part, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 4};
    struct fm_translation found;
    if (!fm_time_afresh(lab, list, &care, &found, err))
        return false;
    *part = (found.cost_ns - step->cost_before) / (step->cost - step->cost_before);
    return true;
}

/* Neighbouring pieces, a few more than there are entries: if an entry maps more than one, they
   fit. */
static bool maps_a_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                         size_t piece, bool *yes, struct fm_error *err)
{
    const int placements = placements_of(lab, tlbs, (size_t)(tlb - tlbs->known));
    double parts[PLACEMENTS];
    bool good = true;
    tlbs->list.page = piece;
    fm_page_list_fill(&tlbs->list, (size_t)(MORE * tlb->entries), 1);
    for (int i = 0; i < placements && good; i++)
        good = part_missed(lab, &tlbs->list, &tlb->step, &parts[i], err);
    tlbs->list.page = tlbs->page;
    *yes = good && fm_median(parts, (size_t)placements) > MOST;
    return good;
}

/* One page of each `apart` neighbours, picked at random so that all sets are asked: whether so many
   are too many. As many that are neighbours themselves fit in any case, and show what caches make
   of so many. */
static bool are_too_many(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                         size_t count, size_t apart, bool *yes, struct fm_error *err)
{
    const int placements = placements_of(lab, tlbs, (size_t)(tlb - tlbs->known));
    struct fm_rng rng;
    double sum = 0;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    for (int i = 0; i < placements; i++) {
        double part;
        fm_page_list_fill(&tlbs->list, count, apart);
        for (size_t j = 0; j < tlbs->list.count; j++)
            tlbs->list.numbers[j] += (uint32_t)fm_rng_below(&rng, apart);
        if (!part_missed(lab, &tlbs->list, &tlb->step, &part, err))
            return false;
        sum += part;
        fm_page_list_fill(&tlbs->list, tlbs->list.count, 1);
        if (!part_missed(lab, &tlbs->list, &tlb->step, &part, err))
            return false;
        sum -= part > 0 ? part : 0;
    }
    *yes = sum > MOST * placements;
    return true;
}

/* How many neighbours share an entry. If any do, fewer pages than there seem to be entries are too
   many once they stand apart. Then from the most neighbours down: were there half as many entries
   as if but half of them shared one, one page of each so many would not fit. Where more share one
   than are thought to, a page of it is visited now and again, and hits. */
bool fm_count_neighbours(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                         size_t *shared, struct fm_error *err)
{
    const double seeming = FEWER * tlb->entries;
    const size_t room = fm_lab_limit(lab) / tlbs->page / ((size_t)seeming + 1);
    const size_t apart = room < SURELY_APART ? room : SURELY_APART;
    bool some = false;
    *shared = 1;
    if (apart > 1 && !are_too_many(lab, tlbs, tlb, (size_t)seeming, apart, &some, err))
        return false;
    for (size_t n = MOST_NEIGHBOURS; n > 1 && some && *shared == 1; n /= 2) {
        const size_t count = (size_t)(2 * seeming / (double)n);
        bool yes = false;
        /* Of so few any TLB holds all. */
        if (count > 1 && !are_too_many(lab, tlbs, tlb, count, n, &yes, err))
            return false;
        *shared = yes ? n : 1;
    }
    return true;
}

/* What neighbouring halves of pages cost more than the pages, from one of them on in the placement
   that is there. */
static bool cost_of_halving(struct fm_lab *lab, struct fm_page_list *list, size_t first,
                            size_t pages, double *more_ns, struct fm_error *err)
{
    const struct fm_page_run whole = {first, pages, 1}, half = {2 * first, 2 * pages, 1};
    const size_t page = list->page;
    struct fm_translation one, other;
    list->page = page / 2;
    bool good = fm_time_pages(lab, list, &half, 4, &one, err);
    list->page = page;
    good = good && fm_time_pages(lab, list, &whole, 4, &other, err);
    *more_ns = good ? one.cost_ns - other.cost_ns : 0;
    return good;
}

/* As many halves as there are pages where most miss, and some more: an entry that maps a page has
   the same to do for them as for half as many pages. Neither ways nor entries need be known. Whole
   pages are dear to place where they are large: a few times only, and what they left has room for
   pieces of them, by turns in each part of it. */
static bool maps_halves(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t page, bool *yes,
                        struct fm_error *err)
{
    const struct fm_tlb_step *step = &tlbs->known[0].step;
    struct fm_page_list *list = &tlbs->list;
    const int placements = placements_of(lab, tlbs, 0);
    double more[SIZES][PLACEMENTS], most = 0;
    bool good = true;
    const size_t all = (size_t)(LARGEST * step->missed);
    const bool dear = list->mapped > lab->machine->info.page_size;
    const size_t parts = dear ? tlbs->page / page : 1;
    list->page = page;
    for (int i = 0; i < placements && good; i++) {
        const size_t first = (size_t)i % parts * all;
        if (!dear || (parts == 1 && i < FRESH))
            good = i == 0 ? fm_provide_pages(lab, list, all, err)
                          : fm_place_pages(lab, list, all, err);
        for (size_t size = 0; size < SIZES && good; size++) {
            const double times = 1 + (LARGEST - 1) * (double)size / (SIZES - 1);
            good = cost_of_halving(lab, list, first, (size_t)(times / 2 * step->missed),
                                   &more[size][i], err);
        }
    }
    list->page = tlbs->page;
    for (size_t size = 0; size < SIZES && good; size++)
        most = fmax(most, fm_median(more[size], (size_t)placements));
    *yes = most > SOME * (step->cost - step->cost_before);
    return good;
}

bool fm_find_smallest_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t *piece,
                            struct fm_error *err)
{
    bool yes = true;
    *piece = tlbs->page;
    while (yes && *piece / 2 >= SMALLEST) {
        if (!maps_halves(lab, tlbs, *piece, &yes, err))
            return false;
        *piece /= yes ? 2 : 1;
    }
    return true;
}

bool fm_find_tlb_piece(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    size_t shared = 1;
    bool yes = true;
    tlb->piece = tlbs->page;
    while (yes && tlb->ways && tlb->piece / 2 >= SMALLEST) {
        if (!maps_a_piece(lab, tlbs, tlb, tlb->piece / 2, &yes, err))
            return false;
        tlb->piece /= yes ? 2 : 1;
    }
    if (tlb->ways && tlb->piece == tlbs->page && !fm_count_neighbours(lab, tlbs, tlb, &shared, err))
        return false;
    for (; shared > 1; shared /= 2) {
        tlb->piece *= 2;
        if (tlb->sets % 2 == 0)
            tlb->sets /= 2;
        else
            tlb->ways = (tlb->ways + 1) / 2;
        tlb->entries = tlb->ways * tlb->sets;
    }
    return true;
}
