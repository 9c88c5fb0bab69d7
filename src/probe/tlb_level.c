/* One level of TLBs by itself: what its misses cost, how many pages it holds, in which ways. */
#include "probe/tlb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/median.h"
#include "analysis/occupancy.h"

/* Beyond the end of a rise, where every reference misses, and short of the next. */
#define BEYOND   1.6
#define SHORT_OF 1.2
/* … and for outer levels no further than need be: caches that begin to miss hide a part of it. */
#define NOT_FAR         1.25
#define COST_PLACEMENTS 3
/* Part of the pages that miss where all do, as good as. */
#define ALL_MISS 0.995
/* Pages at which a level is missed and the next is not. A next one that takes long to be missed may
   have begun before it shows. */
static double beyond_rise(const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_tlb_step *step = &tlbs->known[index].step;
    const struct fm_known_tlb *next = index + 1 < tlbs->count ? &tlbs->known[index + 1] : NULL;
    const double farther = tlbs->known[index].soft ? FM_TLB_SOFT : index ? NOT_FAR : BEYOND;
    double end = next ? next->step.held : tlbs->far;
    if (next && next->soft)
        end /= FM_TLB_SOFT;
    return fmax(step->missed, fmin(farther * step->missed, end / SHORT_OF));
}

/* Measures what a miss costs where all miss: every page, or every so many of which one entry maps
   all. */
static bool measure_cost(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, size_t stride,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const size_t pages = (size_t)beyond_rise(tlbs, index) / stride;
    const size_t need = pages * stride, room = (size_t)fm_tlb_memory(lab) / tlbs->page;
    const size_t arena = room < need ? need : room < 2 * need ? room : 2 * need;
    double costs[COST_PLACEMENTS], rest = 0;
    for (int i = 0; i < COST_PLACEMENTS; i++) {
        struct fm_translation found;
        if (!fm_provide_pages(lab, &tlbs->list, arena, err) ||
            !fm_time_pages(
                lab, &tlbs->list,
                &(struct fm_page_run){fm_lab_seed(lab) % (arena - need + 1), pages, stride}, 6,
                &found, err))
            return false;
        costs[i] = found.cost_ns;
        rest += found.rest_ns;
    }
    /* The middle one: what disturbs may add to either of the two strings that are compared. */
    fm_sort(costs, COST_PLACEMENTS);
    tlb->cost_low = costs[0];
    tlb->step.cost = costs[COST_PLACEMENTS / 2];
    tlb->cost_high = costs[COST_PLACEMENTS - 1];
    tlb->rest_ns = rest / COST_PLACEMENTS;
    return true;
}

static void take_away(struct fm_tlbs *tlbs, size_t index)
{
    memmove(&tlbs->known[index], &tlbs->known[index + 1],
            (tlbs->count - index - 1) * sizeof tlbs->known[0]);
    tlbs->count--;
}

/* Part of its entries that any level holds of neighbours, with room for what others take; and
   where a hash puts them. */
#define MOST_ENTRIES  0.75
#define SOME_ENTRIES  0.25
#define HELD_READINGS 5

/* Where two levels rise as one a group may conflict in the outer of them, or in both together.
   Neighbours that such a level would hold cost more then than those that fit the inner. */
static bool doubt_joined(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const double part = tlb->hashed ? SOME_ENTRIES : MOST_ENTRIES;
    const size_t pages = (size_t)(part * tlb->ways * tlb->sets);
    double more[HELD_READINGS], least = 0;
    if (!tlb->ways || pages <= (size_t)tlb->step.held)
        return true;
    for (int i = 0; i < HELD_READINGS; i++) {
        struct fm_translation found;
        if (!fm_place_pages(lab, &tlbs->list, pages, err) ||
            !fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, pages, 1}, 4, &found, err))
            return false;
        more[i] = found.cost_ns - tlb->step.cost_before;
        least = fm_least_cost(lab, found.rest_ns);
    }
    fm_sort(more, HELD_READINGS);
    if (more[HELD_READINGS / 2] > least) {
        tlb->ways = tlb->sets = 0;
        tlb->doubt = "fewer pages than it would hold cost more than a few do: two levels may rise "
                     "as one";
    }
    return true;
}

/* Times the entries of a level that all pages miss, or as good as: victims drawn by lot spare one
   page in five of so many, which does not hide as much as a step. */
#define NEARLY_ALL 2

/* Puts another rise behind a level, where there is room. */
static bool insert_behind(struct fm_tlbs *tlbs, size_t index, const struct fm_tlb_step *rise)
{
    struct fm_known_tlb *next = &tlbs->known[index + 1];
    if (tlbs->count == FM_TLB_LEVELS)
        return false;
    memmove(next + 1, next, (tlbs->count - index - 1) * sizeof *next);
    *next = fm_tlb_of_rise(rise);
    tlbs->count++;
    return true;
}

/* The first rise for itself, and the rest of it as one that follows. */
static bool split(struct fm_tlbs *tlbs, size_t index)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    tlb->step = tlb->alone;
    tlb->read_cost = tlb->alone.cost;
    tlb->soft = false;
    return insert_behind(tlbs, index, &tlb->rest);
}

/* By the rise as it is. What it rises more than a group that conflicts costs is another level's. */
static bool find_in_rise(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    struct fm_tlb_step rest = tlb->step;
    if (!fm_find_tlb_ways(lab, tlbs, index, err) || !doubt_joined(lab, tlbs, index, err))
        return false;
    rest.held = fmax(rest.held, tlb->ways * tlb->sets);
    rest.cost_before = tlb->step.cost;
    if (tlb->ways && rest.held < rest.missed && rest.cost > FM_TLB_LEAST_STEP * rest.cost_before)
        insert_behind(tlbs, index, &rest);
    return true;
}

/* By the first rise alone, where others were joined to it: a policy that spares some pages, or
   another that is not LRU, looks like luck; but a group that conflicts by itself is none. What
   rises far beyond its entries is then another level. */
static bool find_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->alone.held <= 0)
        return find_in_rise(lab, tlbs, index, err);
    struct fm_known_tlb joined = *tlb;
    const bool two = split(tlbs, index);
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    if (!measure_cost(lab, tlbs, index, 1, err) ||
        /* Luck may have nothing miss here of what missed where the curve was read. */
        (fm_rise_is_there(lab, tlbs, index) && !fm_find_tlb_ways(lab, tlbs, index, err)))
        return false;
    const bool spared = tlb->spares && tlb->rest.held < NEARLY_ALL * tlb->ways * tlb->sets;
    if (two && (!tlb->ways || spared))
        take_away(tlbs, index + 1);
    if (tlb->ways)
        return true;
    joined.hint = tlb->hint;
    *tlb = joined;
    return find_in_rise(lab, tlbs, index, err);
}

/* Where no group of pages conflicts: as one set, by where misses set in; or by crowding it. */
static bool measure_otherwise(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                              struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    bool one = false;
    tlb->entries = (unsigned)tlb->step.held;
    if (index == 0 && tlb->entries <= FM_TLB_FEW && !fm_find_tlb_onset(lab, tlbs, tlb, err))
        return false;
    if (index == 0 && tlb->entries <= FM_TLB_FEW && !fm_tlb_is_one_set(lab, tlbs, tlb, &one, err))
        return false;
    tlb->ways = one ? tlb->entries : 0;
    tlb->sets = one;
    /* Jumps to many pages at random are too much for what predicts them. */
    return tlb->ways || tlbs->list.code ||
           (fm_crowd_tlb(lab, tlbs, index, FM_EVENTS, err) && doubt_joined(lab, tlbs, index, err));
}

static bool measure_level(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                          struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    fm_hint_at_tlb(lab, tlbs, index);
    if (!find_ways(lab, tlbs, index, err))
        return false;
    bool fit = true;
    tlb->entries = tlb->ways * tlb->sets;
    tlb->method = "page-gap";
    if (tlb->hint.ways && tlb->ways == tlb->hint.ways && tlb->sets == tlb->hint.sets)
        return true;
    if (tlb->hint.crowded && !tlb->ways) {
        fm_take_hint(lab, tlbs, index);
        return true;
    }
    /* In one set any pages are a group, and a policy that is lucky with some may let one more seem
       to be the first that misses; and so may a hash with neighbours, wherever they lie. */
    if (tlb->sets == 1 && index == 0 && !fm_tlb_is_one_set(lab, tlbs, tlb, &fit, err))
        return false;
    if (tlb->ways && fit)
        return true;
    tlb->ways = tlb->sets = 0;
    tlb->meter = NULL;
    if (!fm_tlb_is_steady(lab, tlbs, index))
        return measure_otherwise(lab, tlbs, index, err);
    /* It was crowded by its event. */
    tlb->entries = (unsigned)tlb->step.held;
    return true;
}

/* Times its pages before which a rise cannot end. */
#define LEAST_RISE 1.2

/* What a miss costs beyond the end of a rise; and where it is not there, halfway to it: behind
   other levels noise may put the end of a rise as far as where caches miss, and hide what
   translation takes. */
static bool measure_rise(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                         struct fm_error *err)
{
    struct fm_tlb_step *step = &tlbs->known[index].step;
    const struct fm_tlb_step read = *step;
    if (!measure_cost(lab, tlbs, index, 1, err))
        return false;
    const double halfway = floor(sqrt(read.held * read.missed));
    if (index == 0 || fm_rise_is_there(lab, tlbs, index) || halfway < LEAST_RISE * read.held)
        return true;
    step->missed = halfway;
    if (!measure_cost(lab, tlbs, index, 1, err))
        return false;
    if (!fm_rise_is_there(lab, tlbs, index))
        step->missed = read.missed;
    return true;
}

bool fm_measure_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *is_one,
                    struct fm_error *err)
{
    *is_one = false;
    if (!measure_rise(lab, tlbs, index, err) || !fm_is_a_tlb(lab, tlbs, index, is_one, err))
        return false;
    if (!*is_one) {
        take_away(tlbs, index);
        return true;
    }
    if (!measure_level(lab, tlbs, index, err) || !fm_find_tlb_piece(lab, tlbs, index, err) ||
        (index > 0 && !tlbs->list.code && !fm_find_tlb_row(lab, tlbs, index, err)))
        return false;
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->hashed || !tlb->ways) {
        /* Sets that a hash chooses are not all too small where most are. */
        const double all = tlb->ways ? (double)fm_occupancy_pages(ALL_MISS, tlb->sets, tlb->ways)
                                     : FM_TLB_SOFT * tlb->step.missed;
        const double end = index + 1 < tlbs->count ? tlb[1].step.held : tlbs->far;
        tlb->step.missed = fmax(tlb->step.missed, fmin(all, end / SHORT_OF));
        return measure_cost(lab, tlbs, index, 1, err);
    }
    const size_t shared = tlbs->known[index].piece / tlbs->page;
    return shared <= 1 || measure_cost(lab, tlbs, index, shared, err);
}

bool fm_join_tlb(struct fm_tlbs *tlbs, size_t index)
{
    struct fm_tlb_step whole = tlbs->known[index].step;
    const struct fm_tlb_step *inside = &tlbs->known[index - 1].step;
    if (whole.held >= inside->held)
        return false;
    whole.cost_before = inside->cost_before;
    take_away(tlbs, index);
    tlbs->known[index - 1] = fm_tlb_of_rise(&whole);
    return true;
}
