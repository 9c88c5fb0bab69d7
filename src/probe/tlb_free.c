/* Whether translation costs anything at all.
 *
 * Where every cache has an event that is exact, counts say which level served each reference, and
 * so what all take besides translation. One string will do then instead of the two whose difference
 * is the TLB's part, and a few numbers of pages instead of a curve: if the most pages there are
 * cost nothing, fewer do not. */
#include <math.h>

#include "probe/served.h"
#include "probe/tlb.h"
#include "refstring/refstring.h"

/* Pages are asked for at these distances too: they may have grown before they were first timed. */
static const size_t distances[] = {1, 16, 256};
/* Part of a cache that the lines of the pages fill, so that it serves them. */
#define PART 0.5
/* Laps before those that are timed, and counted. Under some policies one differs from the next, so
   that of few pages there are many; and where lots are drawn those that are timed are not those
   that are counted. */
#define WARM       3
#define LAPS       4
#define LAPS_LOTS  64
#define REFERENCES 4096
/* Part of the least that misses of a TLB add which is nothing. */
#define NOTHING 0.5

/* What so many pages on a fresh arena take beyond what the levels take that serve them. */
static bool cost_of(struct fm_lab *lab, struct fm_page_list *list, size_t pages, double *cost_ns,
                    double *rest_ns, struct fm_error *err)
{
    const bool lots = !fm_levels_are_counted(lab);
    size_t laps = lots ? LAPS_LOTS : LAPS;
    laps = laps * pages < REFERENCES ? REFERENCES / pages : laps;
    const size_t references = laps * pages;
    const struct fm_care care = {
        .repeats = 2, .laps = WARM, .references = references, .lots = lots};
    struct fm_string string;
    double whole_ns;
    fm_page_list_fill(list, pages, 1);
    if (!fm_place_pages(lab, list, pages, err) ||
        !fm_single_visits(&string, list, lab->placement_seed, err) ||
        !fm_lab_time(lab, &string, &care, &whole_ns, err) ||
        !fm_single_visits(&string, list, lab->placement_seed, err))
        return false;
    fm_string_prime(&string, WARM);
    fm_string_time(&string, references);
    if (!fm_served_once(lab, &string, rest_ns, err))
        return false;
    *cost_ns = whole_ns - *rest_ns;
    return true;
}

/* The pages whose lines a level serves, and which those inside do not; the most for memory. */
static size_t pages_of(const struct fm_lab *lab, size_t level, size_t most)
{
    const struct fm_counted *cache = fm_lab_counted(lab, (unsigned)level);
    const double pages =
        cache ? PART * cache->bytes / (double)(cache->line ? cache->line : FM_PAGE_UNIT)
              : (double)most;
    return pages < (double)most ? (size_t)pages : most;
}

bool fm_translation_is_free(struct fm_lab *lab, struct fm_tlbs *tlbs, bool *yes,
                            struct fm_error *err)
{
    const size_t base = tlbs->page;
    const size_t levels = lab->known.count;
    *yes = fm_levels_are_fairly_counted(lab);
    struct fm_curve *curve = *yes ? fm_result_curve(lab->result, tlbs->curve) : NULL;
    if (!curve)
        return true;
    curve->x = (struct fm_axis){"pages", ""};
    curve->y = (struct fm_axis){"translation", "ns"};
    for (size_t i = 0; i < sizeof distances / sizeof distances[0] && *yes; i++) {
        tlbs->list.page = distances[i] * base;
        const double room = fm_tlb_memory(lab) / (double)tlbs->list.page;
        const size_t most = (size_t)fmin(FM_TLB_PAGES, room);
        for (size_t level = 0; level < levels && *yes && most; level++) {
            const size_t pages = pages_of(lab, level, most);
            double cost, rest;
            if (pages < FM_TLB_FEWEST)
                continue;
            if (!cost_of(lab, &tlbs->list, pages, &cost, &rest, err))
                return false;
            *yes = fabs(cost) < NOTHING * fm_least_cost(lab, rest);
            if (i == 0)
                fm_curve_add(curve, (struct fm_point){(double)pages, cost, cost, cost});
        }
        tlbs->far = i == 0 ? (double)most : tlbs->far;
    }
    tlbs->list.page = base;
    if (*yes)
        fm_curve_sort(curve);
    else
        curve->point_count = 0;
    return true;
}
