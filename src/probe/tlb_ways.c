/* The gap test carried over to pages. n pages, s pages apart, fall into one set of a TLB if s is a
 * multiple of its sets; one more than it has ways, and they miss on every lap. The smallest n that
 * does, with s = entries / ways, gives both exactly.
 *
 * A level behind another is asked only for what that one misses. So each of the n pages becomes a
 * row of pages at the same few offsets: as many as it takes for the levels inside to hold none of
 * them. These sit in sets of their own and conflict in all of them at once. */
#include <math.h>
#include <stdlib.h>

#include "analysis/median.h"
#include "core/rng.h"
#include "probe/tlb.h"
#include "refstring/refstring.h"

/* Part of the step from hit to miss that a group of n must show. Where replacement is no true LRU
   it keeps some of its pages: all but two in n where victims are drawn by lot. And where two levels
   rise as one the step is that of both. */
#define CONFLICT 0.1
/* … and up to which more places are asked. */
#define LITTLE 0.25
/* … and that LRU shows; pages may meet by chance, but not all. */
#define ALL 0.85
/* … and more than which no TLB shows: jumps that a predictor takes for each other do. */
#define TOO_MUCH 1.5
/* Times as much as a group that twice its pages show where some are spared. */
#define SPARES 1.1
/* Times that a stride must conflict more than a smaller one. */
#define MORE 1.3
/* How many more pages than conflict at all are tried for one where all do. */
#define FURTHER 4
/* Sets are mostly a power of two in number, or a few times that: up to so many pages such strides
   are tried first, which are few. */
#define MOST_OF_TWOS 64
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
/* References spent on one level at the most, in each effort. */
static const double spend[] = {[FM_QUICK] = 1e7, [FM_NORMAL] = 1.5e7, [FM_THOROUGH] = 3e8};
/* … of which a test of one page takes so many. */
#define REFERENCES_EACH 24
/* The bracket of the curve, widened by what a point can be off. */
#define WIDER 1.1
/* Places in an arena where a conflict must show, and not show with a page less; more where it shows
   but little, or what a reading can be off by is as large a part of the step from hit to miss. A
   TLB does not ask what lies behind its pages, so that other ones of the same arena do: a large one
   takes long to get. */
#define CONFIRMATIONS      3
#define MOST_CONFIRMATIONS 9
#define READING            0.01
#define LARGE              0.06
/* … of which a disturbance may spoil one in so many. */
#define ACCIDENTS 3

/* Laps before a reading: LRU has forgotten what was there after one; where victims are drawn by
   lot it takes many. */
#define SOON_AFTER 3
#define LONG_AFTER 24

struct group {
    unsigned count; /* n */
    size_t stride;  /* s, in pages */
    size_t row;     /* pages in a row */
};

struct search {
    const struct fm_known_tlb *inner;
    size_t inner_count;
    const struct fm_tlb_step *step;
    struct fm_page_list list;
    uint32_t *offsets; /* of the pages of a row, the first `row` of a shuffled order */
    size_t offset_count;
    size_t arena;    /* pages placed */
    size_t need;     /* of them, for any group */
    size_t base;     /* the group's first page: one that conflicts does so wherever it lies */
    double spent;    /* references */
    double whole_ns; /* what a reference takes */
    unsigned event;  /* that counts what misses; FM_EVENTS: the clock tells */
};

/* Whether a level inside holds hardly any of the pages, by what is known of it: under LRU a set
   that is asked for more pages than it has ways misses them all. */
static bool is_missed(const struct fm_known_tlb *tlb, const struct fm_page_list *list,
                      double crowding)
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

static void fill(struct search *search, const struct group *group)
{
    search->list.count = 0;
    for (unsigned i = 0; i < group->count; i++)
        for (size_t j = 0; j < group->row; j++)
            search->list.numbers[search->list.count++] =
                (uint32_t)(search->base + i * group->stride + search->offsets[j]);
}

/* Pages so far apart share a set of the level just inside; 1: there is no such distance. */
static size_t apart_inside(const struct search *search)
{
    const struct fm_known_tlb *inside =
        search->inner_count ? &search->inner[search->inner_count - 1] : NULL;
    return inside && inside->sets > 1 && !inside->hashed ? inside->sets : 1;
}

/* Offsets in a random order, multiples of a distance first: so few of them crowd a set of the level
   just inside. All lie in the first half of the stride: were the sets but half as many as the
   stride, offsets that far apart would meet in them, and twice as few ways seem to be crowded. */
static void choose_offsets(struct search *search, size_t stride, size_t apart, uint64_t seed)
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
static bool misses_inside(struct search *search, const struct group *group, double crowding)
{
    bool all = true;
    fill(search, group);
    for (size_t i = 0; i < search->inner_count && all; i++)
        all = is_missed(&search->inner[i], &search->list, crowding);
    return all;
}

/* Makes rows as short as they can be for the levels inside to hold no page, with one less in each
   row too. False: they hold any rows so short that these do not crowd this level by chance. */
static bool choose_row(struct search *search, struct group *group)
{
    const double room = fmin(FM_TLB_PAGES, FEW * search->step->held) / group->count;
    const size_t longest = (size_t)fmax(1, fmin((double)search->offset_count, room));
    struct group fewer = *group;
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

static bool place(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    return fm_place_pages(lab, &search->list, search->arena, err);
}

/* The part of the pages in the list that misses after so many laps, by the level's event. */
static bool count_group(struct fm_lab *lab, const struct search *search, unsigned laps,
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

/* How closely a group is looked at: at a glance, to see which stride is worth more; for long enough
   that what the reading itself brings along is little; and when what was there before is forgotten
   under any policy. */
enum look { GLANCE, LOOK, LATE_LOOK };

/* Which part of the step from hit to miss a group shows. */
static bool time_group(struct fm_lab *lab, struct search *search, const struct group *group,
                       enum look look, double *part, struct fm_error *err)
{
    fill(search, group);
    const unsigned settling = fm_laps_to_settle(search->list.count * search->list.lines);
    const struct fm_care care = {.repeats = look == GLANCE ? 2 : 4,
                                 .least = look == GLANCE ? 0 : FM_LONG_VISIT,
                                 .laps = look == GLANCE                               ? SOON_AFTER
                                         : look == LATE_LOOK && settling < LONG_AFTER ? LONG_AFTER
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

/* The middle of what a group shows in a few places; 0 where in one more than may be by accident it
   does not conflict, or one page less shows nearly as much. */
static bool confirm(struct fm_lab *lab, struct search *search, const struct group *group,
                    double *middle, struct fm_error *err)
{
    struct group one = *group, fewer;
    /* Of jumps, what predicts them makes some groups dearer now and then, whatever their pages do.
     */
    const bool unsure =
        search->list.code ||
        READING * search->whole_ns > LARGE * (search->step->cost - search->step->cost_before);
    int wanted = unsure ? MOST_CONFIRMATIONS : CONFIRMATIONS;
    double parts[MOST_CONFIRMATIONS];
    int shown = 0, failed = 0;
    if (!place(lab, search, err))
        return false;
    while (shown < wanted && failed <= wanted / ACCIDENTS) {
        double more, less = 0;
        choose_offsets(search, one.stride, apart_inside(search), fm_lab_seed(lab));
        search->base = fm_lab_seed(lab) % (search->arena - search->need + 1);
        if (!choose_row(search, &one))
            break;
        fewer = one;
        fewer.count--;
        fm_lab_reorder(lab);
        if (!time_group(lab, search, &one, LOOK, &more, err) ||
            (one.count > 2 && !time_group(lab, search, &fewer, LOOK, &less, err)))
            return false;
        if (more < LITTLE)
            wanted = MOST_CONFIRMATIONS;
        if (more > CONFLICT && more < TOO_MUCH && LESS * less < more)
            parts[shown++] = more;
        else
            failed++;
    }
    search->base = 0;
    fm_sort(parts, (size_t)shown);
    *middle = shown == wanted ? parts[wanted / 2] : 0;
    return true;
}

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
static bool best_stride(struct fm_lab *lab, struct search *search, unsigned count,
                        const struct strides *strides, struct group *best, double *most,
                        struct fm_error *err)
{
    *most = 0;
    for (size_t stride = first_stride(strides); stride <= strides->to;
         stride = strides->twos ? 2 * stride : stride + 1) {
        struct group group = {count, stride, 1};
        double part;
        choose_offsets(search, stride, apart_inside(search), fm_lab_seed(lab));
        if (!choose_row(search, &group))
            continue;
        if (!time_group(lab, search, &group, GLANCE, &part, err))
            return false;
        search->spent += REFERENCES_EACH * (double)search->list.count;
        /* Multiples of the sets conflict as well; the smallest is meant. */
        if (part > *most * MORE && part < TOO_MUCH) {
            *most = part;
            *best = group;
        }
    }
    return true;
}

/* Pages a power of two apart fall into as many sets as the odd part of their number says, and
   conflict when they are one more than all those together have ways. Then fewer conflict at a
   multiple of the stride. */
static bool look_wider(struct fm_lab *lab, struct search *search, struct group *group,
                       double *found, struct fm_error *err)
{
    const unsigned ways = group->count - 1;
    for (unsigned times = ways; times > 1; times--) {
        struct group wider = {ways / times + 1, group->stride * times, 1};
        double part;
        if (ways % times)
            continue;
        if (!confirm(lab, search, &wider, &part, err))
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
static bool look_nearer(struct fm_lab *lab, struct search *search, const struct strides *strides,
                        struct group *group, double *found, struct fm_error *err)
{
    const size_t far = group->stride;
    for (size_t stride = first_stride(strides); stride <= far / 2; stride++) {
        const struct group nearer = {group->count, stride, 1};
        double part;
        if (far % stride)
            continue;
        if (!confirm(lab, search, &nearer, &part, err))
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
static bool is_explained(struct search *search, const struct fm_known_tlb *tlb,
                         const struct group *group)
{
    fill(search, group);
    return is_missed(tlb, &search->list, 1);
}

/* The fewest pages that conflict, all of them; or, where no number does so, that conflict at all.
 */
static bool find(struct fm_lab *lab, struct search *search, struct fm_known_tlb *tlb, bool twos,
                 struct fm_error *err)
{
    const double low = tlb->step.held / WIDER, high = tlb->step.missed * WIDER;
    const double last = twos ? fmin(MOST_OF_TWOS, high + 1) : high + 1;
    double found = 0;
    for (unsigned count = 2; count <= last && found < ALL; count++) {
        const struct strides strides = {(size_t)ceil(low / (count - 1)),
                                        (size_t)(high / (count - 1)), twos};
        struct group group;
        double most, least = 0;
        if (search->spent > spend[lab->options->effort] ||
            (tlb->ways && count > FURTHER * tlb->ways))
            break;
        if (!fm_lab_go_on(lab, count / high, err) ||
            !best_stride(lab, search, count, &strides, &group, &most, err))
            return false;
        if (most > CONFLICT && !confirm(lab, search, &group, &least, err))
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
static bool tell_sparing(struct fm_lab *lab, struct search *search, struct fm_known_tlb *tlb,
                         struct fm_error *err)
{
    const double before = tlb->step.cost_before, all = tlb->step.cost - before;
    const struct group group = {tlb->ways + 1, tlb->sets, 1}, twice = {2 * tlb->ways, tlb->sets, 1};
    double parts[CONFIRMATIONS], more[CONFIRMATIONS];
    if (search->inner_count || tlb->sets == 1 || tlb->ways == 1 ||
        (double)twice.count * (double)twice.stride > (double)search->arena)
        return true;
    choose_offsets(search, group.stride, 1, fm_lab_seed(lab));
    for (int i = 0; i < CONFIRMATIONS; i++)
        if (!place(lab, search, err) || !time_group(lab, search, &group, LOOK, &parts[i], err) ||
            !time_group(lab, search, &twice, LOOK, &more[i], err))
            return false;
    fm_sort(parts, CONFIRMATIONS);
    tlb->spares = fm_median(more, CONFIRMATIONS) > SPARES * parts[CONFIRMATIONS / 2];
    if (tlb->spares)
        return true;
    tlb->soft = false;
    tlb->cost_low = before + all * parts[0];
    tlb->step.cost = before + all * parts[CONFIRMATIONS / 2];
    tlb->cost_high = before + all * parts[CONFIRMATIONS - 1];
    return true;
}

/* The group that counters lead to expect, if it conflicts for the clock too. */
static bool confirm_hint(struct fm_lab *lab, struct search *search, struct fm_known_tlb *tlb,
                         struct fm_error *err)
{
    const struct fm_tlb_hint *hint = &tlb->hint;
    const struct group group = {hint->ways + 1, hint->sets, 1};
    double shown;
    if (!hint->ways || (double)group.count * (double)group.stride > (double)search->need)
        return true;
    if (!confirm(lab, search, &group, &shown, err))
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
static bool least_shown(struct fm_lab *lab, struct search *search, const struct group *group,
                        double *least, struct fm_error *err)
{
    *least = INFINITY;
    for (int i = 0; i < CONFIRMATIONS; i++) {
        double part;
        if (!place(lab, search, err) || !time_group(lab, search, group, LATE_LOOK, &part, err))
            return false;
        *least = fmin(*least, part);
    }
    return true;
}

/* The least that rows of a group show; NAN: the levels inside hold any such rows. */
static bool least_of_rows(struct fm_lab *lab, struct search *search, struct group *group,
                          double *least, struct fm_error *err)
{
    *least = NAN;
    return !choose_row(search, group) || least_shown(lab, search, group, least, err);
}

/* Whether ways and sets hold where no group conflicts cleanly, as when a level inside spares some
   of its pages. Most entries hold neighbours, others being those of the program and of whoever
   walks its tables; and pages twice the sets apart share a set like those as far apart as
   the sets, so that as many as ways fit: else there are twice the sets and half the ways. Offsets
   that share a set inside may share one of this level too, always the same few: what conflicts by
   them alone does not with offsets drawn at random. */
static bool holds(struct fm_lab *lab, struct search *search, const struct fm_known_tlb *tlb,
                  bool *yes, struct fm_error *err)
{
    const size_t inside = apart_inside(search);
    struct group fits = {tlb->ways, 2 * (size_t)tlb->sets, 1};
    struct group conflicts = {tlb->ways + 1, tlb->sets, 1};
    const unsigned entries = tlb->ways * tlb->sets;
    const struct group neighbours = {entries - entries / 4, 1, 1};
    const bool room = fits.count * fits.stride <= search->arena;
    double part;
    search->offsets[0] = 0;
    if (!least_shown(lab, search, &neighbours, &part, err))
        return false;
    *yes = part < CONFLICT && room;
    if (!*yes || tlb->sets == 1)
        return true;
    choose_offsets(search, tlb->sets, inside, fm_lab_seed(lab));
    if (!least_of_rows(lab, search, &fits, &part, err))
        return false;
    *yes = part < CONFLICT;
    if (!*yes || inside == 1)
        return true;
    choose_offsets(search, tlb->sets, 1, fm_lab_seed(lab));
    if (!least_of_rows(lab, search, &conflicts, &part, err))
        return false;
    *yes = part > CONFLICT;
    return true;
}

/* Without a hint that holds: by strides that are powers of two, which are few; by crowding it where
   a counter tells, after which no row of pages need be looked for; and by all strides. */
static bool search_strides(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                           struct search *search, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const unsigned clock = search->event;
    const unsigned event =
        fm_tlb_is_exact(lab, tlbs, index) ? fm_tlb_event(tlbs, index) : search->event;
    search->event = event;
    if (!find(lab, search, tlb, true, err))
        return false;
    if (tlb->ways)
        return true;
    search->event = clock;
    if (!fm_crowd_for_hint(lab, tlbs, index, err) ||
        (tlb->hint.crowded && (!place(lab, search, err) || !confirm_hint(lab, search, tlb, err))))
        return false;
    if (tlb->hint.crowded)
        return true;
    search->event = event;
    return place(lab, search, err) && find(lab, search, tlb, false, err);
}

bool fm_find_tlb_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    const struct fm_known_tlb *inner = tlbs->known;
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const size_t inner_count = index, page = tlbs->page;
    struct search search = {.inner = inner,
                            .inner_count = inner_count,
                            .step = &tlb->step,
                            .event = FM_EVENTS,
                            .need = (size_t)(2 * WIDER * tlb->step.missed) + 2,
                            .offsets = malloc(FM_TLB_PAGES * sizeof *search.offsets)};
    /* Twice of it where there is room, so that groups can lie elsewhere. */
    const size_t room = fm_lab_limit(lab) / page;
    search.arena = room < search.need       ? search.need
                   : room < 2 * search.need ? room
                                            : 2 * search.need;
    bool good = search.offsets || fm_fail(err, FM_ERR_NO_MEMORY, "no memory for offsets");
    good = good && fm_page_list_open(&search.list, FM_TLB_PAGES, page, err);
    search.list.code = tlbs->list.code;
    search.list.mapped = tlbs->list.mapped;
    search.list.ripen = tlbs->list.ripen;
    good = good && place(lab, &search, err);
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
