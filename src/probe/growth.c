#include "probe/growth.h"

#include <math.h>

#include "refstring/refstring.h"

/* Readings of one arena, and visits, whichever is more; how much faster the last must be than the
   first. */
#define READINGS 48
#define VISITS   250000
#define FASTER   0.6
#define FIRST    3
/* … and stay so for so many readings: a single fast one is luck. */
#define LASTING 3
/* Arenas on which it must be so, one after another, and then so many once more: a disturbance that
   passes may speed up some. */
#define ARENAS 3
#define ROUNDS 2
/* Numbers of pages tried: too many for a TLB before they grow, and few enough after. */
#define FEWEST_PAGES 128
#define MOST_PAGES   2048
/* Parts of the pages that miss on an arena that is new, at the least, and on one that was much
   used, at the most, where pages have grown. */
#define MISSING 0.5
#define HITTING 0.25
/* Times the visits after which pages had grown that are sure to do it. */
#define SURE 3

/* Visits that a reading takes: a lap to get warm and one that is timed. */
static double visits_each(size_t pages, unsigned lines)
{
    return 2.0 * (double)pages * lines;
}

/* After how many visits to the pages of a list they get faster on a fresh arena; 0: they do not. */
static bool visits_until_faster(struct fm_lab *lab, const struct fm_page_list *list, double *visits,
                                struct fm_error *err)
{
    const struct fm_care care = {.repeats = 1, .laps = 1, .references = list->count * list->lines};
    const double each = visits_each(list->count, list->lines);
    const int readings = (int)fmax(READINGS, VISITS / each);
    double first = INFINITY, ns;
    int fast = 0, i = 0;
    *visits = 0;
    if (!fm_place_pages(lab, list, list->count, err))
        return false;
    for (; i < readings && fast < LASTING; i++) {
        if (!fm_time_visits(lab, list, 1, &care, &ns, err))
            return false;
        /* The first few, since a core may take its time to wake up. */
        first = i < FIRST ? fmin(first, ns) : first;
        fast = ns < FASTER * first ? fast + 1 : 0;
    }
    if (fast == LASTING)
        *visits = i * each;
    return true;
}

/* The most visits it took on any arena; 0: on some it did not come about. */
static bool visits_on_arenas(struct fm_lab *lab, const struct fm_page_list *list, double *visits,
                             struct fm_error *err)
{
    double most = 0;
    *visits = 0;
    for (int arena = 0; arena < ARENAS; arena++) {
        double taken;
        if (!visits_until_faster(lab, list, &taken, err))
            return false;
        if (taken <= 0)
            return true;
        most = fmax(most, taken);
    }
    *visits = SURE * most;
    return true;
}

/* Misses of a lap over the first pages of a fresh arena, after so many laps. */
static bool count_visits(struct fm_lab *lab, const struct fm_page_list *list, unsigned bit,
                         unsigned laps, double *misses, struct fm_error *err)
{
    struct fm_string string;
    return fm_single_visits(&string, list, lab->placement_seed, err) &&
           fm_count_once(lab, &string, bit, laps, misses, err);
}

/* Times its pages that every page misses a TLB, or as good as. */
#define ALL_MISS 2

/* Whether pages may grow, by the events of TLBs: of pages that have grown fewer miss. Each TLB is
   asked with pages that are too many for it. Where none has an event the clock must be asked. */
static bool may_grow(struct fm_lab *lab, struct fm_page_list *list, size_t most, bool *yes,
                     struct fm_error *err)
{
    bool asked = false;
    *yes = false;
    for (unsigned bit = FM_CACHE_LEVELS; bit < FM_CACHE_LEVELS + FM_TLB_LEVELS && !*yes; bit++) {
        const struct fm_counted *counted = fm_lab_counted(lab, bit);
        double first, last;
        if (!counted)
            continue;
        const size_t pages = (size_t)(ALL_MISS * counted->bytes / (double)list->page);
        asked = true;
        fm_page_list_fill(list,
                          pages < FEWEST_PAGES ? FEWEST_PAGES
                          : pages > most       ? most
                                               : pages,
                          1);
        if (!fm_place_pages(lab, list, list->count, err) ||
            !count_visits(lab, list, bit, 1, &first, err) ||
            !count_visits(lab, list, bit, (unsigned)(VISITS / list->count), &last, err))
            return false;
        *yes = last < FASTER * first;
    }
    *yes |= !asked;
    return true;
}

bool fm_find_growth(struct fm_lab *lab, size_t page, struct fm_ripening *found,
                    struct fm_error *err)
{
    struct fm_page_list list;
    *found = (struct fm_ripening){0};
    if (!fm_page_list_open(&list, MOST_PAGES, page, err))
        return false;
    bool perhaps = false;
    const size_t most =
        fm_lab_limit(lab) / page < MOST_PAGES ? fm_lab_limit(lab) / page : MOST_PAGES;
    bool good = may_grow(lab, &list, most, &perhaps, err);
    for (size_t pages = FEWEST_PAGES; pages <= most && good && perhaps && found->visits <= 0;
         pages *= 2) {
        double once = 1;
        fm_page_list_fill(&list, pages, 1);
        for (int round = 0; round < ROUNDS && good && once > 0; round++) {
            good = visits_on_arenas(lab, &list, &once, err);
            found->visits = once > 0 ? fmax(found->visits, once) : 0;
            found->pages = pages;
        }
    }
    fm_page_list_close(&list);
    return good;
}

struct fm_ripening fm_early_growth(void)
{
    return (struct fm_ripening){SURE * FIRST * visits_each(MOST_PAGES, FM_FEWEST_LINES),
                                MOST_PAGES};
}

/* What translation of the list's pages costs of what it takes to miss the first TLB, before an
   arena has been used and after. */
static bool costs_by_use(struct fm_lab *lab, const struct fm_page_list *list,
                         const struct fm_tlb_step *step, double part[2], struct fm_error *err)
{
    const struct fm_care care = {.repeats = 1, .laps = 1, .references = list->count * list->lines};
    if (!fm_lab_place_on(lab, MOST_PAGES * list->page, list->page, err))
        return false;
    for (int used = 0; used < 2; used++) {
        struct fm_translation found;
        if ((used && !fm_ripen(lab, list, MOST_PAGES, err)) ||
            !fm_time_translation(lab, list, &care, &found, err))
            return false;
        part[used] = (found.cost_ns - step->cost_before) / (step->cost - step->cost_before);
    }
    return true;
}

bool fm_grow_early(struct fm_lab *lab, size_t page, const struct fm_tlb_step *step, bool *grow,
                   struct fm_error *err)
{
    /* Pages that are twice as large or more fit. */
    const double pages = fmin(step->missed, 2 * step->held);
    struct fm_page_list list;
    bool good = true;
    *grow = 2 * pages <= MOST_PAGES && fm_lab_limit(lab) / page >= MOST_PAGES;
    if (!*grow)
        return true;
    if (!fm_page_list_open(&list, MOST_PAGES, page, err))
        return false;
    list.ripen = fm_early_growth();
    fm_page_list_fill(&list, (size_t)pages, 1);
    for (int arena = 0; arena < ARENAS && good && *grow; arena++) {
        double part[2] = {0, 0};
        good = costs_by_use(lab, &list, step, part, err);
        *grow = part[0] > MISSING && part[1] < HITTING;
    }
    fm_page_list_close(&list);
    return good;
}
