#include "probe/tlb_group.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/median.h"
#include "core/rng.h"
#include "refstring/refstring.h"

/* Part of the step from hit to miss up to which more places are asked. */
#define LITTLE 0.25
/* A group of n - 1 must show so many times less: pages that conflict by chance do not. */
#define LESS 3
/* Part of the pages that must miss each level inside. */
#define NEARLY_ALL 0.9
/* Times its ways that a set must be asked for to miss nearly all: LRU needs but one page more than
   ways. Where a policy spares some it takes so many times as much: with lots drawn one page in
   eight is left then, and of a group with a page less, which only needs to miss, one in three. */
#define CROWDED 1.5
#define SPARED  1.66
/* Part of the pages a level holds that crowd hardly any of its sets, wherever they fall. */
#define FEW 0.5
/* Places in an arena where a conflict must show, and not show with a page less; more where it shows
   but little, or what a reading can be off by is as large a part of the step from hit to miss. A
   TLB does not ask what lies behind its pages, so that other ones of the same arena do: a large one
   takes long to get. */
#define MOST_CONFIRMATIONS 9
#define READING            0.01
#define LARGE              0.06
/* … of which a disturbance may spoil one in so many. */
#define ACCIDENTS 3
/* Laps before a reading: LRU has forgotten what was there after one; where victims are drawn by
   lot it takes many. */
#define SOON_AFTER 3
#define LONG_AFTER 24

bool fm_pages_miss(const struct fm_known_tlb *tlb, const struct fm_page_list *list, double crowding)
{
    /* Of one whose entries are not known: as many as its rise takes to end. */
    if (tlb->sets == 0)
        return (double)list->count >= fmax(2 * tlb->entries, tlb->step.missed);
    if (tlb->hashed)
        return list->count >= 2 * (tlb->spares ? SPARED : 1) * tlb->entries;
    /* Of one set the curve shows how many pages it takes. */
    if (tlb->spares && tlb->sets == 1)
        return (double)list->count >= tlb->step.missed * crowding / CROWDED;
    if (tlb->spares)
        crowding *= SPARED;
    unsigned *load = calloc(tlb->sets, sizeof *load);
    size_t missed = 0;
    for (size_t i = 0; load && i < list->count; i++)
        load[list->numbers[i] % tlb->sets]++;
    for (size_t i = 0; load && i < list->count; i++)
        missed += load[list->numbers[i] % tlb->sets] > crowding * tlb->ways;
    free(load);
    return (double)missed >= NEARLY_ALL * (double)list->count;
}

void fm_group_fill(struct fm_group_search *search, const struct fm_page_group *group)
{
    search->list.count = 0;
    for (unsigned i = 0; i < group->count; i++)
        for (size_t j = 0; j < group->row; j++)
            search->list.numbers[search->list.count++] =
                (uint32_t)(search->base + i * group->stride + search->offsets[j]);
}

size_t fm_group_apart_inside(const struct fm_group_search *search)
{
    const struct fm_known_tlb *inside =
        search->inner_count ? &search->inner[search->inner_count - 1] : NULL;
    return inside && inside->sets > 1 && !inside->hashed ? inside->sets : 1;
}

/* All lie in the first half of the stride: were the sets but half as many as the
   stride, offsets that far apart would meet in them, and twice as few ways seem to be crowded. */
void fm_group_offsets(struct fm_group_search *search, size_t stride, size_t apart, uint64_t seed)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    const size_t end = stride > 1 ? stride / 2 : 1;
    size_t count = 0;
    for (size_t at = 0; at < end && count < FM_TLB_PAGES; at += apart)
        search->offsets[count++] = (uint32_t)at;
    fm_rng_shuffle(&rng, search->offsets, count);
    const size_t first = count;
    for (size_t at = 0; at < end && count < FM_TLB_PAGES; at++)
        if (at % apart)
            search->offsets[count++] = (uint32_t)at;
    fm_rng_shuffle(&rng, search->offsets + first, count - first);
    search->offset_count = count;
}

/* Whether all levels inside hold hardly any page of a group. */
static bool misses_inside(struct fm_group_search *search, const struct fm_page_group *group,
                          double crowding)
{
    bool all = true;
    fm_group_fill(search, group);
    for (size_t i = 0; i < search->inner_count && all; i++)
        all = fm_pages_miss(&search->inner[i], &search->list, crowding);
    return all;
}

bool fm_group_row(struct fm_group_search *search, struct fm_page_group *group)
{
    const double room = fmin(FM_TLB_PAGES, FEW * search->step->held) / group->count;
    const size_t longest = (size_t)fmax(1, fmin((double)search->offset_count, room));
    struct fm_page_group fewer = *group;
    fewer.count -= group->count > 2;
    if (search->inner_count == 0) {
        group->row = 1;
        return true;
    }
    for (group->row = 1; group->row <= longest; group->row += group->row / 8 + 1) {
        fewer.row = group->row;
        if (misses_inside(search, group, CROWDED) && misses_inside(search, &fewer, 1))
            return true;
    }
    return false;
}

bool fm_group_place(struct fm_lab *lab, struct fm_group_search *search, struct fm_error *err)
{
    return fm_place_pages(lab, &search->list, search->arena, err);
}

/* The part of the pages in the list that misses after so many laps, by the level's event. */
static bool count_group(struct fm_lab *lab, const struct fm_group_search *search, unsigned laps,
                        double *part, struct fm_error *err)
{
    const struct fm_page_list *list = &search->list;
    struct fm_string string;
    double misses;
    if (!fm_single_visits(&string, list, fm_lab_seed(lab), err) ||
        !fm_count_once(lab, &string, search->event, laps, &misses, err))
        return false;
    *part = misses / (double)list->count;
    return true;
}

bool fm_group_time(struct fm_lab *lab, struct fm_group_search *search,
                   const struct fm_page_group *group, enum fm_look look, double *part,
                   struct fm_error *err)
{
    fm_group_fill(search, group);
    const unsigned settling = fm_laps_to_settle(search->list.count * search->list.lines);
    const struct fm_care care = {.repeats = look == FM_GLANCE ? 2 : 4,
                                 .least = look == FM_GLANCE ? 0 : FM_LONG_VISIT,
                                 .laps = look == FM_GLANCE ? SOON_AFTER
                                         : look == FM_LATE_LOOK && settling < LONG_AFTER
                                             ? LONG_AFTER
                                             : settling,
                                 .steps = 32};
    struct fm_translation found;
    if (search->event < FM_EVENTS)
        return count_group(lab, search, care.laps, part, err);
    if (!fm_time_translation(lab, &search->list, &care, &found, err))
        return false;
    search->whole_ns = found.cost_ns + found.rest_ns;
    const double all = search->step->cost - search->step->cost_before;
    *part = (found.cost_ns - search->step->cost_before) / all;
    return true;
}

bool fm_group_confirm(struct fm_lab *lab, struct fm_group_search *search,
                      const struct fm_page_group *group, double *middle, struct fm_error *err)
{
    struct fm_page_group one = *group, fewer;
    /* Of jumps, what predicts them makes some groups dearer now and then, whatever their pages do.
     */
    const bool unsure =
        search->list.code ||
        READING * search->whole_ns > LARGE * (search->step->cost - search->step->cost_before);
    int wanted = unsure ? MOST_CONFIRMATIONS : FM_GROUP_PLACES;
    double parts[MOST_CONFIRMATIONS];
    int shown = 0, failed = 0;
    /* The other pages of the arena will do where there is no time. */
    if (lab->options->effort != FM_QUICK && !fm_group_place(lab, search, err))
        return false;
    while (shown < wanted && failed <= wanted / ACCIDENTS) {
        double more, less = 0;
        fm_group_offsets(search, one.stride, fm_group_apart_inside(search), fm_lab_seed(lab));
        search->base = fm_lab_seed(lab) % (search->arena - search->need + 1);
        if (!fm_group_row(search, &one))
            break;
        fewer = one;
        fewer.count--;
        fm_lab_reorder(lab);
        if (!fm_group_time(lab, search, &one, FM_LOOK, &more, err) ||
            (one.count > 2 && !fm_group_time(lab, search, &fewer, FM_LOOK, &less, err)))
            return false;
        if (more < LITTLE)
            wanted = MOST_CONFIRMATIONS;
        if (more > FM_GROUP_CONFLICT && more < FM_GROUP_TOO_MUCH && LESS * less < more)
            parts[shown++] = more;
        else
            failed++;
    }
    search->base = 0;
    fm_sort(parts, (size_t)shown);
    *middle = shown == wanted ? parts[wanted / 2] : 0;
    return true;
}
