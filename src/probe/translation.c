#include "probe/translation.h"

#include <math.h>
#include <stdlib.h>

#include "refstring/refstring.h"

bool fm_page_list_open(struct fm_page_list *list, size_t room, size_t page, struct fm_error *err)
{
    *list =
        (struct fm_page_list){.room = room, .page = page, .mapped = page, .lines = FM_FEWEST_LINES};
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

bool fm_single_visits(struct fm_string *string, const struct fm_page_list *list, uint64_t seed,
                      struct fm_error *err)
{
    const struct fm_page_plan plan = {.pages = list->numbers,
                                      .count = list->count,
                                      .page = list->page,
                                      .unit = FM_PAGE_UNIT,
                                      .lines = 1,
                                      .burst = 1,
                                      .seed = seed};
    return fm_page_string(string, &plan, err);
}

/* Laps before a reading at the least; and references that a policy other than LRU may take to get
   over what came before. */
#define LEAST_LAPS 3
#define TO_SETTLE  2048

unsigned fm_laps_to_settle(size_t lap)
{
    const size_t laps = TO_SETTLE / lap;
    return (unsigned)(laps < LEAST_LAPS ? LEAST_LAPS : laps);
}

bool fm_time_visits(struct fm_lab *lab, const struct fm_page_list *list, unsigned burst,
                    const struct fm_care *care, double *ns, struct fm_error *err)
{
    const struct fm_page_plan plan = {.pages = list->numbers,
                                      .count = list->count,
                                      .page = list->page,
                                      .unit = FM_PAGE_UNIT,
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

bool fm_ripen(struct fm_lab *lab, const struct fm_page_list *list, size_t count,
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
    const bool good = fm_time_visits(lab, &all, 1, &care, &ns, err);
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
           fm_ripen(lab, list, count, err);
}

bool fm_provide_pages(struct fm_lab *lab, const struct fm_page_list *list, size_t pages,
                      struct fm_error *err)
{
    const bool large = list->mapped != lab->machine->info.page_size && list->ripen.visits <= 0;
    if (!large || lab->placed.page_size != list->mapped || lab->placed.bytes < pages * list->page)
        return fm_place_pages(lab, list, pages, err);
    fm_lab_reorder(lab);
    return true;
}

bool fm_time_translation(struct fm_lab *lab, const struct fm_page_list *list,
                         const struct fm_care *care, struct fm_translation *found,
                         struct fm_error *err)
{
    double single, bursts;
    if (!fm_time_visits(lab, list, 1, care, &single, err) ||
        !fm_time_visits(lab, list, list->lines, care, &bursts, err))
        return false;
    found->cost_ns = (single - bursts) * list->lines / (list->lines - 1);
    found->rest_ns = single - found->cost_ns;
    return true;
}

bool fm_time_pages(struct fm_lab *lab, struct fm_page_list *list, const struct fm_page_run *run,
                   unsigned repeats, struct fm_translation *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats,
                                 .references = 2 * run->count,
                                 .least = FM_LONG_VISIT,
                                 .laps = fm_laps_to_settle(run->count * list->lines),
                                 .steps = 256};
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
    return fm_provide_pages(lab, list, last + 1, err) &&
           fm_time_translation(lab, list, care, found, err);
}
