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
#define NOT_FAR          1.25
#define COST_PLACEMENTS  3
#define ONSET_PLACEMENTS 12
/* Part of the step from hit to miss that is some, and no accident. */
#define SOME 0.08
/* … and what caches may add between those that fit and those that miss, to be left out of account.
 */
#define REST 0.02
/* … and that one page more than there are entries must show for these to be told. */
#define SHARP 0.15
/* … and that it shows where none is spared. */
#define ALL 0.85
/* Part of the pages that are some more, and times the misses that these must show. */
#define FURTHER 0.08
#define GROWS   2
/* Part of the pages that is tried where those at which a rise seems to begin miss, and how often.
 */
#define STEP_BACK  0.75
#define STEPS_BACK 3
/* The longest stride that must have been tried. */
#define LEAST_STRIDES 5
/* Part of the pages that miss where all do, as good as. */
#define ALL_MISS 0.995
/* Part of the step from hit to miss that strides must not show in a TLB that has but one set, in
   one of a few looks: what disturbs only adds. */
#define STRIDES      0.3
#define STRIDE_LOOKS 3

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
    const size_t need = pages * stride, room = fm_lab_limit(lab) / tlbs->page;
    const size_t arena = room < 2 * need ? need : 2 * need;
    double costs[COST_PLACEMENTS], rest = 0;
    for (int i = 0; i < COST_PLACEMENTS; i++) {
        struct fm_translation found;
        if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
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

/* What a reading at some pages shows beyond one at pages that fit. Some policies miss less often
   one by one than in bursts while a TLB is but a little too small, or more, and the difference of
   the two says nothing but that they miss; where caches take the same before and after the rise,
   all that either takes more is the TLB's. */
static double beyond(const struct fm_translation *found, const struct fm_translation *fits,
                     const struct fm_tlb_step *step, bool caches_rest)
{
    const double cost = found->cost_ns - fits->cost_ns, rest = found->rest_ns - fits->rest_ns;
    if (!caches_rest)
        return fabs(found->cost_ns - step->cost_before);
    /* In bursts of two every other reference asks the TLB. */
    const double one_by_one = rest + cost, bursts = 2 * rest + cost;
    return fmax(one_by_one, bursts);
}

/* The part of the step from hit to miss that so many pages show on a few placements, each of which
   brings another order. Some policies are lucky with most, and noise spoils a reading or two: the
   third largest counts. */
static bool part_beyond(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                        size_t pages, double *part, struct fm_error *err)
{
    const double all = step->cost - step->cost_before;
    /* Ways and sets may make a few pages more than those at which the curve has all miss. */
    const size_t arena = pages > (size_t)step->missed ? pages : (size_t)step->missed;
    double parts[ONSET_PLACEMENTS];
    struct fm_translation fits, full, found;
    for (int i = 0; i < ONSET_PLACEMENTS; i++) {
        if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
            !fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, (size_t)step->held, 1}, 4,
                           &fits, err) ||
            !fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, (size_t)step->missed, 1}, 4,
                           &full, err) ||
            /* Afresh: a TLB that evicts what came first remembers what was before. */
            !fm_place_pages(lab, &tlbs->list, arena, err) ||
            !fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, pages, 1}, 6, &found, err))
            return false;
        const bool caches_rest = fabs(full.rest_ns - fits.rest_ns) < REST * all;
        parts[i] = beyond(&found, &fits, step, caches_rest) / all;
    }
    fm_sort(parts, ONSET_PLACEMENTS);
    *part = parts[ONSET_PLACEMENTS - 3];
    return true;
}

/* Misses of a lap that are none, and what the figure may be off by to be of use. */
#define NO_MISS 0.5
#define SURELY  0.2
/* Part of some pages that surely fit where these nearly do. */
#define SURELY_FIT 0.75
/* The standard error of a median of readings, in deviations from it over the root of their number:
   of normal errors half deviate by 0.6745 standard deviations at the most. */
#define ERROR_OF_MEDIAN (1.2533 / 0.6745)

/* How many of some pages miss in a lap, as against fewer that fit; NAN: noise leaves it open. Some
   policies spare all but one, which a part of the step from hit to miss does not tell from none. */
static bool misses_of_lap(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                          size_t pages, double *misses, struct fm_error *err)
{
    const struct fm_page_run all = {0, pages, 1}, fewer = {0, (size_t)(SURELY_FIT * pages), 1};
    double more[ONSET_PLACEMENTS], off[ONSET_PLACEMENTS];
    for (int i = 0; i < ONSET_PLACEMENTS; i++) {
        struct fm_translation found, fits;
        if (!fm_place_pages(lab, &tlbs->list, pages, err) ||
            !fm_time_pages(lab, &tlbs->list, &all, 6, &found, err) ||
            !fm_time_pages(lab, &tlbs->list, &fewer, 6, &fits, err))
            return false;
        more[i] = (found.cost_ns - fits.cost_ns) / (step->cost - step->cost_before);
    }
    const double middle = fm_median(more, ONSET_PLACEMENTS);
    for (int i = 0; i < ONSET_PLACEMENTS; i++)
        off[i] = fabs(more[i] - middle);
    const double error =
        ERROR_OF_MEDIAN * fm_median(off, ONSET_PLACEMENTS) / sqrt(ONSET_PLACEMENTS);
    *misses = error * (double)pages < SURELY ? fabs(middle) * (double)pages : NAN;
    return true;
}

/* Where misses set in. */
struct onset {
    size_t held, missed;
    double part; /* of the step that `missed` pages show */
};

static bool halve(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                  struct onset *onset, struct fm_error *err)
{
    while (onset->missed - onset->held > 1) {
        const size_t middle = (onset->held + onset->missed) / 2;
        double part;
        if (!part_beyond(lab, tlbs, step, middle, &part, err))
            return false;
        if (part > SOME)
            *onset = (struct onset){onset->held, middle, part};
        else
            onset->held = middle;
    }
    return true;
}

/* Goes back from pages of which but few miss to those of which none does, where that can be told:
   then one page more is seen to miss. */
static bool settle(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                   size_t *held, bool *sharp, struct fm_error *err)
{
    double misses = 0, beyond = INFINITY;
    size_t pages = *held;
    for (; pages > STEP_BACK * (double)*held; pages--) {
        if (!misses_of_lap(lab, tlbs, step, pages, &misses, err))
            return false;
        if (isnan(misses))
            return true;
        if (misses < NO_MISS)
            break;
        beyond = misses;
    }
    if (misses >= NO_MISS)
        return true;
    if (pages == *held && !misses_of_lap(lab, tlbs, step, pages + 1, &beyond, err))
        return false;
    if (beyond > NO_MISS) {
        *held = pages;
        *sharp = true;
    }
    return true;
}

/* Where misses set in little by little they grow with the pages. If they stay few for some pages
   more, others have some of the entries, now and then: then it is not these pages that end the
   level. */
static bool misses_grow(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                        size_t held, bool *yes, struct fm_error *err)
{
    const size_t further = held + 1 + (size_t)(FURTHER * (double)held);
    double first, then;
    if (!part_beyond(lab, tlbs, step, held + 1, &first, err) ||
        !part_beyond(lab, tlbs, step, further, &then, err))
        return false;
    *yes = then > GROWS * first;
    return true;
}

/* A rise that sets out from pages that surely fit: where the curve takes it to begin some may miss,
   in bursts more than one by one. */
static bool pages_that_fit(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *read,
                           struct fm_tlb_step *step, struct fm_error *err)
{
    double part = INFINITY;
    *step = *read;
    for (int i = 0; i < STEPS_BACK && part > SOME; i++) {
        if (!part_beyond(lab, tlbs, step, (size_t)step->held, &part, err))
            return false;
        if (part > SOME && step->held > FM_TLB_FEWEST)
            step->held = fmax(FM_TLB_FEWEST, floor(STEP_BACK * step->held));
    }
    return true;
}

/* Halves down to the largest number of pages that the level holds, all of which then hit. Where
   misses set in little by little, as with victims drawn by lot, the last entries hide among them.
 */
static bool find_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                       bool *sharp, struct fm_error *err)
{
    struct fm_tlb_step step;
    double part;
    if (!pages_that_fit(lab, tlbs, &tlb->step, &step, err))
        return false;
    tlb->step.held = step.held;
    struct onset onset = {(size_t)step.held, (size_t)step.missed, 1};
    /* What held once, by luck, is asked again. */
    if (!halve(lab, tlbs, &step, &onset, err) ||
        !part_beyond(lab, tlbs, &step, onset.held, &part, err))
        return false;
    if (part > SOME && onset.held > (size_t)step.held) {
        onset = (struct onset){(size_t)step.held, onset.held, part};
        if (!halve(lab, tlbs, &step, &onset, err))
            return false;
    }
    /* … and so is what missed once, by noise. */
    if (onset.part > SHARP && !part_beyond(lab, tlbs, &step, onset.missed, &onset.part, err))
        return false;
    *sharp = onset.part > SHARP;
    if (!settle(lab, tlbs, &step, &onset.held, sharp, err) ||
        (*sharp && onset.part < ALL && !misses_grow(lab, tlbs, &step, onset.held, sharp, err)))
        return false;
    tlb->entries = (unsigned)onset.held;
    tlb->spares = onset.part < ALL;
    tlb->method = "pages";
    return true;
}

static bool is_prime(size_t number)
{
    for (size_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return true;
}

/* Whether pages any stride apart fit as well as neighbours do: then there is but one set. Of
   several sets a stride that divides their number leaves some empty, and every number but one has a
   prime that does. */
static bool strides_all_fit(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                            struct fm_error *err)
{
    const struct fm_tlb_step *step = &tlb->step;
    const size_t count = tlb->entries - tlb->entries / 8;
    const size_t longest =
        (size_t)fmin(tlb->entries, fm_tlb_memory(lab) / (double)tlbs->page / (double)count);
    bool all = longest >= LEAST_STRIDES;
    if (all && !fm_place_pages(lab, &tlbs->list, count * longest, err))
        return false;
    for (size_t stride = 2; stride <= longest && all; stride++) {
        struct fm_translation found;
        if (!is_prime(stride))
            continue;
        all = false;
        for (int look = 0; look < STRIDE_LOOKS && !all; look++) {
            if (!fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, count, stride}, 2, &found,
                               err))
                return false;
            all = found.cost_ns - step->cost_before < STRIDES * (step->cost - step->cost_before);
        }
    }
    if (all) {
        tlb->ways = tlb->entries;
        tlb->sets = 1;
    }
    return true;
}

static void take_away(struct fm_tlbs *tlbs, size_t index)
{
    memmove(&tlbs->known[index], &tlbs->known[index + 1],
            (tlbs->count - index - 1) * sizeof tlbs->known[0]);
    tlbs->count--;
}

/* Times the entries of one set that all pages miss. */
#define COMPLETE 1.6
/* Entries up to which all strides can be tried. */
#define FEW_ENTRIES 128

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

/* The first rise for itself, and the rest of it as one that follows where there is room. */
static bool split(struct fm_tlbs *tlbs, size_t index)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const bool room = tlbs->count < FM_TLB_LEVELS;
    tlb->step = tlb->alone;
    tlb->read_cost = tlb->alone.cost;
    tlb->soft = false;
    if (!room)
        return false;
    memmove(tlb + 2, tlb + 1, (tlbs->count - index - 1) * sizeof *tlb);
    tlb[1] = fm_tlb_of_rise(&tlb->rest);
    tlbs->count++;
    return true;
}

/* By the first rise alone, where others were joined to it: a policy that spares some pages, or
   another that is not LRU, looks like luck; but a group that conflicts by itself is none. What
   rises far beyond its entries is then another level. */
static bool find_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->alone.held <= 0)
        return fm_find_tlb_ways(lab, tlbs, index, err) && doubt_joined(lab, tlbs, index, err);
    const struct fm_known_tlb joined = *tlb;
    const bool two = split(tlbs, index);
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    if (!measure_cost(lab, tlbs, index, 1, err) ||
        /* Luck may have nothing miss here of what missed where the curve was read. */
        (fm_rise_is_there(lab, tlbs, index) && !fm_find_tlb_ways(lab, tlbs, index, err)))
        return false;
    if (two && (!tlb->ways || tlb->rest.held < NEARLY_ALL * tlb->ways * tlb->sets))
        take_away(tlbs, index + 1);
    if (tlb->ways)
        return true;
    *tlb = joined;
    return fm_find_tlb_ways(lab, tlbs, index, err) && doubt_joined(lab, tlbs, index, err);
}

/* Where no group of pages conflicts: by where misses set in, or by crowding it. */
static bool measure_otherwise(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                              struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    bool sharp;
    if (!find_onset(lab, tlbs, tlb, &sharp, err))
        return false;
    /* A hashed index lets misses set in early, and takes long to let all miss. */
    const bool complete = tlb->step.missed < COMPLETE * tlb->entries;
    if (sharp && complete && index == 0 && tlb->entries <= FEW_ENTRIES &&
        !strides_all_fit(lab, tlbs, tlb, err))
        return false;
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
    if (!fm_hint_at_tlb(lab, tlbs, index, err) || !find_ways(lab, tlbs, index, err))
        return false;
    double part = 0, misses = 0;
    tlb->entries = tlb->ways * tlb->sets;
    tlb->method = "page-gap";
    if (tlb->hint.ways && tlb->ways == tlb->hint.ways && tlb->sets == tlb->hint.sets)
        return true;
    if (tlb->hint.crowded && !tlb->ways) {
        fm_take_hint(lab, tlbs, index);
        return true;
    }
    /* In one set any pages are a group, and a policy that is lucky with some may let one more seem
       to be the first that misses. */
    if (tlb->sets == 1 && index == 0 &&
        (!part_beyond(lab, tlbs, &tlb->step, tlb->entries, &part, err) ||
         !misses_of_lap(lab, tlbs, &tlb->step, tlb->entries, &misses, err)))
        return false;
    const bool open = isnan(misses) ? tlb->spares : misses > NO_MISS;
    if (tlb->ways && part <= SOME && !open)
        return true;
    tlb->ways = tlb->sets = 0;
    tlb->meter = NULL;
    if (!fm_tlb_is_exact(lab, tlbs, index))
        return measure_otherwise(lab, tlbs, index, err);
    /* It was crowded by its event, which has shown no onset that is sharp. */
    tlb->entries = (unsigned)tlb->step.held;
    return true;
}

bool fm_measure_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *is_one,
                    struct fm_error *err)
{
    *is_one = false;
    if (!measure_cost(lab, tlbs, index, 1, err) || !fm_is_a_tlb(lab, tlbs, index, is_one, err))
        return false;
    if (!*is_one) {
        take_away(tlbs, index);
        return true;
    }
    if (!measure_level(lab, tlbs, index, err) || !fm_find_tlb_piece(lab, tlbs, index, err))
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
