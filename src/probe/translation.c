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

/* No two of the units that are touched share a line of a cache: both in one burst they would hit
   where one by one they may not, and look like translation. */
#define LONGEST_LINE 256

void fm_page_list_touch(struct fm_page_list *list, double lines)
{
    const size_t room = list->page / LONGEST_LINE;
    list->lines = (unsigned)fmin(ceil(lines), (double)room);
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
    struct fm_care how = *care;
    struct fm_string string;
    if (!fm_page_string(&string, &plan, err))
        return false;
    how.jumps = list->code;
    fm_string_flush(&string);
    return fm_lab_time(lab, &string, &how, ns, err);
}

/* Visits pages of an arena, of the size they are mapped in, until they have grown. */
static bool ripen(struct fm_lab *lab, const struct fm_page_list *list, size_t count,
                  struct fm_error *err)
{
    struct fm_page_list all;
    if (!fm_page_list_open(&all, count, list->mapped, err))
        return false;
    fm_page_list_fill(&all, all.room, 1);
    const double laps = list->ripen.visits / ((double)all.count * all.lines);
    const struct fm_care care = {
        .repeats = 1, .laps = 1 + (unsigned)laps, .references = all.count * all.lines};
    double ns;
    const bool good = time_visits(lab, &all, 1, &care, &ns, err);
    fm_page_list_close(&all);
    return good;
}

bool fm_place_pages(struct fm_lab *lab, const struct fm_page_list *list, size_t pages,
                    struct fm_error *err)
{
    if (fm_lab_limit(lab) / list->page < pages)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%zu pages are more memory than may be touched",
                       pages);
    if (list->ripen.visits <= 0)
        return fm_lab_place_on(lab, pages * list->page, list->mapped, err);
    /* Pages that a TLB holds do not miss, and do not grow: some more are there to be visited. */
    const size_t wanted = (pages * list->page + list->mapped - 1) / list->mapped;
    const size_t room = fm_lab_limit(lab) / list->mapped;
    const size_t more = list->ripen.pages < room ? list->ripen.pages : room;
    const size_t count = wanted < more ? more : wanted;
    return fm_lab_place_on(lab, count * list->mapped, list->mapped, err) &&
           ripen(lab, list, count, err);
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

bool fm_time_pages(struct fm_lab *lab, struct fm_page_list *list, const struct fm_page_run *run,
                   unsigned repeats, struct fm_translation *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .references = 2 * run->count, .steps = 256};
    fm_page_list_fill(list, run->count, run->stride);
    for (size_t i = 0; i < list->count; i++)
        list->numbers[i] += (uint32_t)run->first;
    return fm_time_translation(lab, list, &care, found, err);
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
        if (!time_visits(lab, list, 1, &care, &ns, err))
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

bool fm_find_growth(struct fm_lab *lab, size_t page, struct fm_ripening *found,
                    struct fm_error *err)
{
    struct fm_page_list list;
    *found = (struct fm_ripening){0};
    if (!fm_page_list_open(&list, MOST_PAGES, page, err))
        return false;
    bool good = true;
    const size_t most =
        fm_lab_limit(lab) / page < MOST_PAGES ? fm_lab_limit(lab) / page : MOST_PAGES;
    for (size_t pages = FEWEST_PAGES; pages <= most && good && found->visits <= 0; pages *= 2) {
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
    return (struct fm_ripening){SURE * FIRST * visits_each(MOST_PAGES, FEWEST_LINES), MOST_PAGES};
}
