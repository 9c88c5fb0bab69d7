/* Where misses of a TLB set in, page by page, and what part of some pages misses. */
#include <math.h>

#include "analysis/median.h"
#include "core/rng.h"
#include "probe/tlb.h"

/* What caches may add between pages that fit and those that miss, as a part of the step from hit to
   miss, to be left out of account. */
#define REST 0.02
/* Placements that pages are asked about on. */
#define PLACEMENTS 12
/* Part of the step from hit to miss that is some, and no accident. */
#define SOME 0.08
/* … and that it shows where none is spared. */
#define ALL 0.85
/* Part of the pages that is tried where those at which a rise seems to begin miss, and how often.
 */
#define STEP_BACK  0.75
#define STEPS_BACK 3
/* Misses of a lap that are none, and what the figure may be off by to be of use. */
#define NO_MISS 0.5
#define SURELY  0.2
/* Misses that a reading may bring along, by its own pages, as a part of those that are none. */
#define BROUGHT_ALONG 0.5
/* Part of some pages that surely fit where these nearly do. */
#define SURELY_FIT 0.75
/* Times the pages in question among which they are drawn, so that any sets would get some more than
   others. */
#define SPREAD 8
/* Placements of all on which they must do as those of one set. */
#define NEARLY_ALL 10
/* The standard error of a median of readings, in deviations from it over the root of their number:
   of normal errors half deviate by 0.6745 standard deviations at the most. */
#define ERROR_OF_MEDIAN (1.2533 / 0.6745)

/* What pages before a rise take, and whether caches take the same at its end. */
struct ground {
    struct fm_translation fits;
    bool caches_rest;
};

/* Times both on the placed arena. */
static bool find_ground(struct fm_lab *lab, struct fm_page_list *list,
                        const struct fm_tlb_step *step, struct ground *ground, struct fm_error *err)
{
    const struct fm_page_run held = {0, (size_t)step->held, 1},
                             missed = {0, (size_t)step->missed, 1};
    struct fm_translation full;
    if (!fm_time_pages(lab, list, &held, 4, &ground->fits, err) ||
        !fm_time_pages(lab, list, &missed, 4, &full, err))
        return false;
    ground->caches_rest =
        fabs(full.rest_ns - ground->fits.rest_ns) < REST * (step->cost - step->cost_before);
    return true;
}

/* The part of the step from hit to miss that a reading shows. Some policies miss less often one by
   one than in bursts while a TLB is but a little too small, or more, and the difference of the two
   says nothing but that they miss; where caches take the same before and after the rise, all that
   either takes more is the TLB's. */
static double part_missed(const struct ground *ground, const struct fm_tlb_step *step,
                          const struct fm_translation *found)
{
    const double all = step->cost - step->cost_before;
    const double cost = found->cost_ns - ground->fits.cost_ns,
                 rest = found->rest_ns - ground->fits.rest_ns;
    if (!ground->caches_rest)
        return fabs(found->cost_ns - step->cost_before) / all;
    /* In bursts of two every other reference asks the TLB. */
    const double one_by_one = rest + cost, bursts = 2 * rest + cost;
    return fmax(one_by_one, bursts) / all;
}

/* The part of the step from hit to miss that so many pages show on a few placements, each of which
   brings another order. Some policies are lucky with most, and noise spoils a reading or two: the
   third largest counts. */
static bool part_beyond(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                        size_t pages, double *part, struct fm_error *err)
{
    /* Ways and sets may make a few pages more than those at which the curve has all miss. */
    const size_t arena = pages > (size_t)step->missed ? pages : (size_t)step->missed;
    double parts[PLACEMENTS];
    struct ground ground;
    struct fm_translation found;
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
            !find_ground(lab, &tlbs->list, step, &ground, err))
            return false;
        /* Afresh: a TLB that evicts what came first remembers what was before. But in the same
           order, which decides what lines meet in a cache. */
        const uint64_t order = lab->placement_seed;
        if (!fm_place_pages(lab, &tlbs->list, arena, err))
            return false;
        lab->placement_seed = order;
        if (!fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, pages, 1}, 6, &found, err))
            return false;
        parts[i] = part_missed(&ground, step, &found);
    }
    fm_sort(parts, PLACEMENTS);
    *part = parts[PLACEMENTS - 3];
    return true;
}

/* Runs so long that misses of a lap can be counted: all of one may miss once in a run. */
static struct fm_care care_for_laps(const struct fm_page_list *list, size_t pages)
{
    const size_t lap = pages * list->lines;
    const double laps = (double)pages / (BROUGHT_ALONG * NO_MISS);
    return (struct fm_care){.repeats = 3,
                            .references = lap,
                            .least = (uint64_t)(laps * (double)lap),
                            .laps = fm_laps_to_settle(lap)};
}

/* How many of some pages miss in a lap, as against fewer that fit; NAN: noise leaves it open. Some
   policies spare all but one, which a part of the step from hit to miss does not tell from none. */
static bool misses_of_lap(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                          size_t pages, double *misses, struct fm_error *err)
{
    struct fm_page_list *list = &tlbs->list;
    const struct fm_care care = care_for_laps(list, pages);
    double more[PLACEMENTS], off[PLACEMENTS];
    for (int i = 0; i < PLACEMENTS; i++) {
        struct fm_translation found, fits;
        fm_page_list_fill(list, pages, 1);
        if (!fm_place_pages(lab, list, pages, err) ||
            !fm_time_translation(lab, list, &care, &found, err))
            return false;
        fm_page_list_fill(list, (size_t)(SURELY_FIT * (double)pages), 1);
        if (!fm_time_translation(lab, list, &care, &fits, err))
            return false;
        more[i] = (found.cost_ns - fits.cost_ns) / (step->cost - step->cost_before);
    }
    const double middle = fm_median(more, PLACEMENTS);
    for (int i = 0; i < PLACEMENTS; i++)
        off[i] = fabs(more[i] - middle);
    const double error = ERROR_OF_MEDIAN * fm_median(off, PLACEMENTS) / sqrt(PLACEMENTS);
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

/* Goes back from pages of which but few miss to those of which none does, where that can be told.
 */
static bool settle(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                   size_t *held, struct fm_error *err)
{
    for (size_t pages = *held; pages > STEP_BACK * (double)*held; pages--) {
        double misses;
        if (!misses_of_lap(lab, tlbs, step, pages, &misses, err))
            return false;
        if (misses < NO_MISS)
            *held = pages;
        if (isnan(misses) || misses < NO_MISS)
            return true;
    }
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

bool fm_find_tlb_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                       struct fm_error *err)
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
    if (onset.held <= FM_TLB_FEW && !settle(lab, tlbs, &step, &onset.held, err))
        return false;
    tlb->entries = (unsigned)onset.held;
    tlb->spares = onset.part < ALL;
    tlb->method = "pages";
    return true;
}

/* What the first of the listed pages take. */
static bool time_first(struct fm_lab *lab, struct fm_page_list *list, size_t pages, double *ns,
                       struct fm_error *err)
{
    const struct fm_care care = care_for_laps(list, pages);
    struct fm_translation found;
    list->count = pages;
    if (!fm_time_translation(lab, list, &care, &found, err))
        return false;
    *ns = found.cost_ns;
    return true;
}

bool fm_tlb_is_one_set(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_known_tlb *tlb,
                       bool *yes, struct fm_error *err)
{
    struct fm_page_list *list = &tlbs->list;
    const size_t pages = tlb->entries, arena = SPREAD * pages;
    const double lap = (double)pages / (tlb->step.cost - tlb->step.cost_before);
    double same[PLACEMENTS], more[PLACEMENTS];
    int fit = 0, miss = 0;
    for (int i = 0; i < PLACEMENTS; i++) {
        struct fm_rng rng;
        double fits;
        fm_rng_seed(&rng, fm_lab_seed(lab));
        fm_page_list_fill(list, arena, 1);
        fm_rng_shuffle(&rng, list->numbers, list->count);
        if (!fm_place_pages(lab, list, arena, err) ||
            !time_first(lab, list, (size_t)(SURELY_FIT * (double)pages), &fits, err) ||
            !time_first(lab, list, pages, &same[i], err) ||
            !time_first(lab, list, pages + 1, &more[i], err))
            return false;
        same[i] = (same[i] - fits) * lap;
        more[i] = (more[i] - fits) * lap;
    }
    const double some = fmax(NO_MISS, SOME * fm_median(more, PLACEMENTS));
    for (int i = 0; i < PLACEMENTS; i++) {
        fit += same[i] < some;
        miss += more[i] > some;
    }
    *yes = fit >= NEARLY_ALL && miss >= NEARLY_ALL;
    return true;
}
