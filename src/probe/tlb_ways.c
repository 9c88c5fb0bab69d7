/* The gap test carried over to pages. n pages, s pages apart, fall into one set of a TLB if s is a
 * multiple of its sets; one more than it has ways, and they miss on every lap. The smallest n that
 * does, with s = entries / ways, gives both exactly. */
#include <math.h>
#include <stdlib.h>

#include "analysis/median.h"
#include "probe/tlb_group.h"

/* Part of the step from hit to miss that LRU shows; pages may meet by chance, but not all. */
#define ALL 0.85
/* Times as much as a group that twice its pages show where some are spared. */
#define SPARES 1.1
/* Times that a stride must conflict more than a smaller one. */
#define MORE 1.3
/* How many more pages than conflict at all are tried for one where all do. */
#define FURTHER 4
/* Sets are mostly a power of two in number, or a few times that: up to so many pages such strides
   are tried first, which are few. */
#define MOST_OF_TWOS 64
/* References spent on one level at the most, in each effort. */
static const double spend[] = {[FM_QUICK] = 3e6, [FM_NORMAL] = 1.5e7, [FM_THOROUGH] = 3e8};
/* … of which a test of one page takes so many. */
#define REFERENCES_EACH 24
/* The bracket of the curve, widened by what a point can be off. */
#define WIDER 1.1

/* Strides from one to another, all of them or the powers of two alone. */
struct strides {
    size_t from, to;
    bool twos;
};

static size_t first_stride(const struct strides *strides)
{
    size_t stride = 1;
    if (!strides->twos)
        return strides->from > 1 ? strides->from : 1;
    while (stride < strides->from)
        stride *= 2;
    return stride;
}

/* The stride at which a number of pages conflicts most. */
static bool best_stride(struct fm_lab *lab, struct fm_group_search *search, unsigned count,
                        const struct strides *strides, struct fm_page_group *best, double *most,
                        struct fm_error *err)
{
    *most = 0;
    for (size_t stride = first_stride(strides); stride <= strides->to;
         stride = strides->twos ? 2 * stride : stride + 1) {
        struct fm_page_group group = {count, stride, 1};
        double part;
        fm_group_offsets(search, stride, fm_group_apart_inside(search), fm_lab_seed(lab));
        if (!fm_group_row(search, &group))
            continue;
        if (!fm_group_time(lab, search, &group, FM_GLANCE, &part, err))
            return false;
        search->spent += REFERENCES_EACH * (double)search->list.count;
        /* Multiples of the sets conflict as well; the smallest is meant. */
        if (part > *most * MORE && part < FM_GROUP_TOO_MUCH) {
            *most = part;
            *best = group;
        }
    }
    return true;
}

/* Pages a power of two apart fall into as many sets as the odd part of their number says, and
   conflict when they are one more than all those together have ways. Then fewer conflict at a
   multiple of the stride. */
static bool look_wider(struct fm_lab *lab, struct fm_group_search *search,
                       struct fm_page_group *group, double *found, struct fm_error *err)
{
    const unsigned ways = group->count - 1;
    for (unsigned times = ways; times > 1; times--) {
        struct fm_page_group wider = {ways / times + 1, group->stride * times, 1};
        double part;
        if (ways % times)
            continue;
        if (!fm_group_confirm(lab, search, &wider, &part, err))
            return false;
        if (part > 0) {
            *group = wider;
            *found = part;
            return true;
        }
    }
    return true;
}

/* Pages that spare some of each other show more or less from one look to the next, and those a
   multiple of the sets apart may have shown more than those as far apart as the sets. */
static bool look_nearer(struct fm_lab *lab, struct fm_group_search *search,
                        const struct strides *strides, struct fm_page_group *group, double *found,
                        struct fm_error *err)
{
    const size_t far = group->stride;
    for (size_t stride = first_stride(strides); stride <= far / 2; stride++) {
        const struct fm_page_group nearer = {group->count, stride, 1};
        double part;
        if (far % stride)
            continue;
        if (!fm_group_confirm(lab, search, &nearer, &part, err))
            return false;
        if (part > 0) {
            *group = nearer;
            *found = part;
            return true;
        }
    }
    return true;
}

/* Whether ways and sets as they were found have a group conflict: at half the stride of the sets
   twice the pages do. */
static bool is_explained(struct fm_group_search *search, const struct fm_known_tlb *tlb,
                         const struct fm_page_group *group)
{
    fm_group_fill(search, group);
    return fm_pages_miss(tlb, &search->list, 1);
}

/* The fewest pages that conflict, all of them; or, where no number does so, that conflict at all.
 */
static bool find(struct fm_lab *lab, struct fm_group_search *search, struct fm_known_tlb *tlb,
                 bool twos, struct fm_error *err)
{
    const double low = tlb->step.held / WIDER, high = tlb->step.missed * WIDER;
    const double last = twos ? fmin(MOST_OF_TWOS, high + 1) : high + 1;
    double found = 0;
    for (unsigned count = 2; count <= last && found < ALL; count++) {
        const struct strides strides = {(size_t)ceil(low / (count - 1)),
                                        (size_t)(high / (count - 1)), twos};
        struct fm_page_group group;
        double most, least = 0;
        if (search->spent > spend[lab->options->effort] ||
            (tlb->ways && count > FURTHER * tlb->ways))
            break;
        if (!fm_lab_go_on(lab, count / high, err) ||
            !best_stride(lab, search, count, &strides, &group, &most, err))
            return false;
        if (most > FM_GROUP_CONFLICT && !fm_group_confirm(lab, search, &group, &least, err))
            return false;
        if (least > 0 && least < ALL && !look_nearer(lab, search, &strides, &group, &least, err))
            return false;
        if (twos && found == 0 && least > 0 && !look_wider(lab, search, &group, &least, err))
            return false;
        if (found > 0 ? least > ALL && !is_explained(search, tlb, &group) : least > 0) {
            tlb->ways = group.count - 1;
            tlb->sets = (unsigned)group.stride;
            found = least;
        }
    }
    tlb->spares = found < ALL;
    return true;
}

/* A group that shows less than the whole step either is spared in part, and more of its pages show
   more; or the step is that of two levels, and what the group shows is what a miss of this one
   costs. */
static bool tell_sparing(struct fm_lab *lab, struct fm_group_search *search,
                         struct fm_known_tlb *tlb, struct fm_error *err)
{
    const double before = tlb->step.cost_before, all = tlb->step.cost - before;
    const struct fm_page_group group = {tlb->ways + 1, tlb->sets, 1},
                               twice = {2 * tlb->ways, tlb->sets, 1};
    double parts[FM_GROUP_PLACES], more[FM_GROUP_PLACES];
    if (search->inner_count || tlb->sets == 1 || tlb->ways == 1 ||
        (double)twice.count * (double)twice.stride > (double)search->arena)
        return true;
    fm_group_offsets(search, group.stride, 1, fm_lab_seed(lab));
    for (int i = 0; i < FM_GROUP_PLACES; i++)
        if (!fm_group_place(lab, search, err) ||
            !fm_group_time(lab, search, &group, FM_LOOK, &parts[i], err) ||
            !fm_group_time(lab, search, &twice, FM_LOOK, &more[i], err))
            return false;
    fm_sort(parts, FM_GROUP_PLACES);
    tlb->spares = fm_median(more, FM_GROUP_PLACES) > SPARES * parts[FM_GROUP_PLACES / 2];
    if (tlb->spares)
        return true;
    tlb->soft = false;
    tlb->cost_low = before + all * parts[0];
    tlb->step.cost = before + all * parts[FM_GROUP_PLACES / 2];
    tlb->cost_high = before + all * parts[FM_GROUP_PLACES - 1];
    return true;
}

/* The group that counters lead to expect, if it conflicts for the clock too. */
static bool confirm_hint(struct fm_lab *lab, struct fm_group_search *search,
                         struct fm_known_tlb *tlb, struct fm_error *err)
{
    const struct fm_tlb_hint *hint = &tlb->hint;
    const struct fm_page_group group = {hint->ways + 1, hint->sets, 1};
    double shown;
    if (!hint->ways || (double)group.count * (double)group.stride > (double)search->need)
        return true;
    if (!fm_group_confirm(lab, search, &group, &shown, err))
        return false;
    if (shown > 0) {
        tlb->ways = hint->ways;
        tlb->sets = hint->sets;
        tlb->spares = shown < ALL;
    }
    return true;
}

/* The least that a group shows on some placements, when what was there before is forgotten under
   any policy: what disturbs only adds. */
static bool least_shown(struct fm_lab *lab, struct fm_group_search *search,
                        const struct fm_page_group *group, double *least, struct fm_error *err)
{
    *least = INFINITY;
    for (int i = 0; i < FM_GROUP_PLACES; i++) {
        double part;
        if (!fm_group_place(lab, search, err) ||
            !fm_group_time(lab, search, group, FM_LATE_LOOK, &part, err))
            return false;
        *least = fmin(*least, part);
    }
    return true;
}

/* The least that rows of a group show; NAN: the levels inside hold any such rows. */
static bool least_of_rows(struct fm_lab *lab, struct fm_group_search *search,
                          struct fm_page_group *group, double *least, struct fm_error *err)
{
    *least = NAN;
    return !fm_group_row(search, group) || least_shown(lab, search, group, least, err);
}

/* Whether ways and sets hold where no group conflicts cleanly, as when a level inside spares some
   of its pages. Most entries hold neighbours, others being those of the program and of whoever
   walks its tables; and pages twice the sets apart share a set like those as far apart as
   the sets, so that as many as ways fit: else there are twice the sets and half the ways. Offsets
   that share a set inside may share one of this level too, always the same few: what conflicts by
   them alone does not with offsets drawn at random. */
static bool holds(struct fm_lab *lab, struct fm_group_search *search,
                  const struct fm_known_tlb *tlb, bool *yes, struct fm_error *err)
{
    const size_t inside = fm_group_apart_inside(search);
    struct fm_page_group fits = {tlb->ways, 2 * (size_t)tlb->sets, 1};
    struct fm_page_group conflicts = {tlb->ways + 1, tlb->sets, 1};
    const unsigned entries = tlb->ways * tlb->sets;
    const struct fm_page_group neighbours = {entries - entries / 4, 1, 1};
    const bool room = fits.count * fits.stride <= search->arena;
    double part;
    search->offsets[0] = 0;
    if (!least_shown(lab, search, &neighbours, &part, err))
        return false;
    *yes = part < FM_GROUP_CONFLICT && room;
    if (!*yes || tlb->sets == 1)
        return true;
    fm_group_offsets(search, tlb->sets, inside, fm_lab_seed(lab));
    if (!least_of_rows(lab, search, &fits, &part, err))
        return false;
    *yes = part < FM_GROUP_CONFLICT;
    if (!*yes || inside == 1)
        return true;
    fm_group_offsets(search, tlb->sets, 1, fm_lab_seed(lab));
    if (!least_of_rows(lab, search, &conflicts, &part, err))
        return false;
    *yes = part > FM_GROUP_CONFLICT;
    return true;
}

/* Without a hint that holds: by strides that are powers of two, which are few; by crowding it where
   a counter tells, after which no row of pages need be looked for; and by all strides. */
static bool search_strides(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                           struct fm_group_search *search, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const unsigned clock = search->event;
    const unsigned event =
        fm_tlb_is_steady(lab, tlbs, index) ? fm_tlb_event(tlbs, index) : search->event;
    search->event = event;
    if (!find(lab, search, tlb, true, err))
        return false;
    if (tlb->ways)
        return true;
    search->event = clock;
    if (!fm_crowd_for_hint(lab, tlbs, index, err) ||
        (tlb->hint.crowded &&
         (!fm_group_place(lab, search, err) || !confirm_hint(lab, search, tlb, err))))
        return false;
    if (tlb->hint.crowded)
        return true;
    search->event = event;
    return fm_group_place(lab, search, err) && find(lab, search, tlb, false, err);
}

bool fm_find_tlb_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    const struct fm_known_tlb *inner = tlbs->known;
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const size_t inner_count = index, page = tlbs->page;
    struct fm_group_search search = {.inner = inner,
                                     .inner_count = inner_count,
                                     .step = &tlb->step,
                                     .event = FM_EVENTS,
                                     .need = (size_t)(2 * WIDER * tlb->step.missed) + 2,
                                     .offsets = malloc(FM_TLB_PAGES * sizeof *search.offsets)};
    /* Some more where there is room, so that groups can lie elsewhere. */
    const size_t room = fm_lab_limit(lab) / page, more = search.need + search.need / 4;
    search.arena = room < search.need ? search.need : room < more ? room : more;
    bool good = search.offsets || fm_fail(err, FM_ERR_NO_MEMORY, "no memory for offsets");
    good = good && fm_page_list_open(&search.list, FM_TLB_PAGES, page, err);
    search.list.code = tlbs->list.code;
    search.list.mapped = tlbs->list.mapped;
    search.list.ripen = tlbs->list.ripen;
    good = good && fm_group_place(lab, &search, err);
    good = good && confirm_hint(lab, &search, tlb, err);
    if (good && !tlb->ways && !tlb->hint.crowded)
        good = search_strides(lab, tlbs, index, &search, err);
    bool yes = true;
    if (good && tlb->ways && tlb->spares)
        good = holds(lab, &search, tlb, &yes, err);
    if (!yes)
        tlb->ways = tlb->sets = 0;
    if (good && tlb->ways && tlb->spares && search.event == FM_EVENTS)
        good = tell_sparing(lab, &search, tlb, err);
    tlb->meter = search.event < FM_EVENTS ? fm_lab_meter(lab, search.event) : NULL;
    fm_page_list_close(&search.list);
    free(search.offsets);
    return good;
}
