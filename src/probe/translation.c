#include "probe/translation.h"

#include <math.h>
#include <stdlib.h>

#include "refstring/refstring.h"

/* Pages are divided into so many bytes; on any machine that is some lines or parts of one, which
   makes no difference: both orders touch the same. */
#define UNIT 64
/* The fewest lines of a page that can be visited in bursts, so that caches have little to do. */
#define FEWEST_LINES 2

bool fm_page_list_open(struct fm_page_list *list, size_t room, size_t page, struct fm_error *err)
{
    *list =
        (struct fm_page_list){.room = room, .page = page, .mapped = page, .lines = FEWEST_LINES};
    list->numbers = malloc(room * sizeof *list->numbers);
    return list->numbers || fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of pages");
}

void fm_page_list_close(struct fm_page_list *list)
{
    free(list->numbers);
    *list = (struct fm_page_list){0};
}

void fm_page_list_fill(struct fm_page_list *list, size_t count, size_t stride)
{
    list->count = count < list->room ? count : list->room;
    for (size_t i = 0; i < list->count; i++)
        list->numbers[i] = (uint32_t)(i * stride);
}

static bool time_visits(struct fm_lab *lab, const struct fm_page_list *list, unsigned burst,
                        const struct fm_care *care, double *ns, struct fm_error *err)
{
    const struct fm_page_plan plan = {.pages = list->numbers,
                                      .count = list->count,
                                      .page = list->page,
                                      .unit = UNIT,
                                      .lines = list->lines,
                                      .burst = burst,
                                      .seed = lab->placement_seed};
    struct fm_string string;
    if (!fm_page_string(&string, &plan, err))
        return false;
    fm_string_flush(&string);
    return fm_lab_time(lab, &string, care, ns, err);
}

bool fm_place_pages(struct fm_lab *lab, const struct fm_page_list *list, size_t pages,
                    struct fm_error *err)
{
    if (fm_lab_limit(lab) / list->page < pages)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%zu pages are more memory than may be touched",
                       pages);
    return fm_lab_place_on(lab, pages * list->page, list->mapped, err);
}

bool fm_time_translation(struct fm_lab *lab, const struct fm_page_list *list,
                         const struct fm_care *care, struct fm_translation *found,
                         struct fm_error *err)
{
    double single, bursts;
    if (!time_visits(lab, list, 1, care, &single, err) ||
        !time_visits(lab, list, list->lines, care, &bursts, err))
        return false;
    found->cost_ns = (single - bursts) * list->lines / (list->lines - 1);
    found->rest_ns = single - found->cost_ns;
    return true;
}

bool fm_time_afresh(struct fm_lab *lab, const struct fm_page_list *list, const struct fm_care *care,
                    struct fm_translation *found, struct fm_error *err)
{
    size_t last = 0;
    for (size_t i = 0; i < list->count; i++)
        last = list->numbers[i] > last ? list->numbers[i] : last;
    return fm_place_pages(lab, list, last + 1, err) &&
           fm_time_translation(lab, list, care, found, err);
}

/* Readings of one arena, and how much faster the last must be than the first. */
#define READINGS 48
#define FASTER   0.6
#define FIRST    3
/* Arenas on which it must be so: once is noise. */
#define ARENAS 3
/* Numbers of pages tried: too many for a TLB before they grow, and few enough after. */
#define FEWEST_PAGES 128
#define MOST_PAGES   2048

/* Whether visits to the pages of a list get faster on a fresh arena. */
static bool gets_faster(struct fm_lab *lab, const struct fm_page_list *list, bool *yes,
                        struct fm_error *err)
{
    const struct fm_care care = {.repeats = 1, .laps = 1, .references = list->count * list->lines};
    double first = INFINITY, ns;
    *yes = false;
    if (!fm_place_pages(lab, list, list->count, err))
        return false;
    for (int i = 0; i < READINGS && !*yes; i++) {
        if (!time_visits(lab, list, 1, &care, &ns, err))
            return false;
        /* The first few, since a core may take its time to wake up. */
        first = i < FIRST ? fmin(first, ns) : first;
        *yes = ns < FASTER * first;
    }
    return true;
}

bool fm_find_growth(struct fm_lab *lab, size_t page, bool *grow, struct fm_error *err)
{
    struct fm_page_list list;
    *grow = false;
    if (!fm_page_list_open(&list, MOST_PAGES, page, err))
        return false;
    bool good = true;
    const size_t most =
        fm_lab_limit(lab) / page < MOST_PAGES ? fm_lab_limit(lab) / page : MOST_PAGES;
    for (size_t pages = FEWEST_PAGES; pages <= most && good && !*grow; pages *= 2) {
        fm_page_list_fill(&list, pages, 1);
        *grow = true;
        for (int arena = 0; arena < ARENAS && good && *grow; arena++)
            good = gets_faster(lab, &list, grow, err);
    }
    fm_page_list_close(&list);
    return good;
}
