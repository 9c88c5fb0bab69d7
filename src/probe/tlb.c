/* Data TLBs: what translation adds to a reference, by the number of pages, read into levels; then
 * each level by itself: entries, ways, cost of a miss, and how much memory one entry maps. */
#include "probe/tlb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/monotone_steps.h"
#include "probe/probe.h"

/* More pages than any TLB holds. */
#define MOST_PAGES  8192
#define MOST_POINTS 64
#define FIRST_PAGES 2
/* Points to an octave. */
#define DENSITY 4
/* What a reading can be off by, as a part of all that a reference takes. */
#define READING 0.01
/* Beyond the end of a rise, where every reference misses. */
#define BEYOND           1.25
#define COST_PLACEMENTS  3
#define ONSET_PLACEMENTS 4
/* Part of the step from hit to miss that is some, and no accident. */
#define SOME 0.08
/* Part of the step from hit to miss that strides must not show in a TLB that has but one set. */
#define STRIDES 0.3
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03

static bool time_pages(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t count, size_t stride,
                       unsigned repeats, struct fm_translation *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .references = 2 * count, .steps = 256};
    fm_page_list_fill(&tlbs->list, count, stride);
    return fm_time_translation(lab, &tlbs->list, &care, found, err);
}

/* Translation never gets cheaper as pages are added, but for what misses of caches hide of it. A
   reading that something disturbed is outvoted by its neighbours. */
static bool smooth(struct fm_tlb_point *points, size_t n, struct fm_error *err)
{
    double cost[MOST_POINTS], error[MOST_POINTS];
    for (size_t i = 0; i < n; i++) {
        cost[i] = points[i].cost;
        error[i] = points[i].error;
    }
    if (n && !fm_monotone_steps(cost, error, n, cost))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the curve");
    for (size_t i = 0; i < n; i++)
        points[i].cost = cost[i];
    return true;
}

static bool draw_curve(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS];
    struct fm_tlb_step steps[FM_TLB_LEVELS];
    struct fm_curve *curve = fm_result_curve(lab->result, "tlb");
    const double most = fmin(MOST_PAGES, (double)fm_lab_limit(lab) / (double)tlbs->page);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"pages", ""};
    curve->y = (struct fm_axis){"translation", "ns"};
    size_t n = 0;
    double placed = 0;
    for (double pages = FIRST_PAGES; pages <= most && n < MOST_POINTS; n++) {
        struct fm_translation found;
        if (pages > placed) {
            placed = fmin(most, 4 * pages);
            if (!fm_place_pages(lab, &tlbs->list, (size_t)placed, err))
                return false;
        }
        if (!fm_lab_go_on(lab, 0.3 * log(pages) / log(most), err) ||
            !time_pages(lab, tlbs, (size_t)pages, 1, 4, &found, err))
            return false;
        points[n] = (struct fm_tlb_point){floor(pages), found.cost_ns,
                                          READING * (found.rest_ns + found.cost_ns)};
        fm_curve_add(curve, (struct fm_point){points[n].pages, found.cost_ns,
                                              found.cost_ns - points[n].error,
                                              found.cost_ns + points[n].error});
        tlbs->far = points[n].pages;
        pages = fmax(floor(pages) + 1, pages * exp2(1.0 / DENSITY));
    }
    if (!smooth(points, n, err))
        return false;
    tlbs->count = fm_read_tlb_steps(points, n, steps, FM_TLB_LEVELS);
    for (size_t i = 0; i < tlbs->count; i++) {
        tlbs->known[i] = (struct fm_known_tlb){.step = steps[i], .read_cost = steps[i].cost};
        struct fm_step *step = &curve->steps[curve->step_count++];
        step->x = steps[i].held;
        step->y = steps[i].cost;
        snprintf(step->label, sizeof step->label, "dtlb%zu", i + 1);
    }
    return true;
}

/* Measures what a miss costs where all miss: every page, or every so many of which one entry maps
   all. */
static bool measure_cost(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, size_t stride,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const double end = index + 1 < tlbs->count ? tlb[1].step.held : tlbs->far;
    const double beyond_it = fmax(tlb->step.missed, fmin(BEYOND * tlb->step.missed, end));
    const size_t pages = (size_t)beyond_it / stride;
    double sum = 0, rest = 0;
    tlb->cost_low = INFINITY;
    tlb->cost_high = 0;
    for (int i = 0; i < COST_PLACEMENTS; i++) {
        struct fm_translation found;
        if (!fm_place_pages(lab, &tlbs->list, pages * stride, err) ||
            !time_pages(lab, tlbs, pages, stride, 6, &found, err))
            return false;
        sum += found.cost_ns;
        rest += found.rest_ns;
        tlb->cost_low = fmin(tlb->cost_low, found.cost_ns);
        tlb->cost_high = fmax(tlb->cost_high, found.cost_ns);
    }
    tlb->step.cost = sum / COST_PLACEMENTS;
    tlb->rest_ns = rest / COST_PLACEMENTS;
    return true;
}

/* What a reading at some pages shows beyond one at pages that fit. Some policies miss less often
   one by one than in bursts while a TLB is but a little too small, and the difference of the two
   says nothing; where caches take the same before and after the rise, the whole is the TLB's. */
static double beyond(const struct fm_translation *found, const struct fm_translation *fits,
                     const struct fm_tlb_step *step, bool caches_rest)
{
    const double more = found->cost_ns - step->cost_before;
    return caches_rest ? found->cost_ns + found->rest_ns - fits->cost_ns - fits->rest_ns : more;
}

/* Whether some of so many pages miss, on any of a few placements: each brings another order, and
   some policies are lucky with some. */
static bool some_miss(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                      size_t pages, bool *yes, struct fm_error *err)
{
    const double some = SOME * (step->cost - step->cost_before);
    struct fm_translation fits, full, found;
    *yes = false;
    for (int i = 0; i < ONSET_PLACEMENTS && !*yes; i++) {
        if (!fm_place_pages(lab, &tlbs->list, (size_t)step->missed, err) ||
            !time_pages(lab, tlbs, (size_t)step->held, 1, 4, &fits, err) ||
            !time_pages(lab, tlbs, (size_t)step->missed, 1, 4, &full, err) ||
            !time_pages(lab, tlbs, pages, 1, 6, &found, err))
            return false;
        const bool caches_rest = fabs(full.rest_ns - fits.rest_ns) < some;
        *yes = beyond(&found, &fits, step, caches_rest) > some;
    }
    return true;
}

/* Halves down to the largest number of pages that the level holds, all of which then hit. */
static bool find_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                       struct fm_error *err)
{
    size_t held = (size_t)tlb->step.held, missed = (size_t)tlb->step.missed;
    while (missed - held > 1) {
        const size_t middle = (held + missed) / 2;
        bool yes;
        if (!some_miss(lab, tlbs, &tlb->step, middle, &yes, err))
            return false;
        if (yes)
            missed = middle;
        else
            held = middle;
    }
    tlb->entries = (unsigned)held;
    tlb->method = "pages";
    return true;
}

/* Whether pages any stride apart fit as well as neighbours do: then there is but one set. */
static bool strides_all_fit(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                            struct fm_error *err)
{
    const struct fm_tlb_step *step = &tlb->step;
    const size_t count = tlb->entries - tlb->entries / 8;
    bool all = true;
    if (!fm_place_pages(lab, &tlbs->list, count * tlb->entries, err))
        return false;
    for (size_t stride = 2; stride <= tlb->entries && all; stride++) {
        struct fm_translation found;
        if (!time_pages(lab, tlbs, count, stride, 2, &found, err))
            return false;
        all = found.cost_ns - step->cost_before < STRIDES * (step->cost - step->cost_before);
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

/* Entries up to which all strides can be tried. */
#define FEW_ENTRIES 128

static bool measure_level(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                          struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    if (!fm_find_tlb_ways(lab, tlbs->page, tlbs->known, index, tlb, err))
        return false;
    if (tlb->ways) {
        tlb->entries = tlb->ways * tlb->sets;
        tlb->method = "page-gap";
        return true;
    }
    if (!find_onset(lab, tlbs, tlb, err))
        return false;
    return index > 0 || tlb->entries > FEW_ENTRIES || strides_all_fit(lab, tlbs, tlb, err);
}

static struct fm_finding *tlb_finding(struct fm_lab *lab, size_t index, const char *attribute,
                                      const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%zu.%s", index + 1, attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void report_number(struct fm_lab *lab, size_t index, const char *attribute, const char *unit,
                          double value, const char *method)
{
    struct fm_finding *finding = tlb_finding(lab, index, attribute, unit);
    if (finding)
        fm_measured(finding, value, value, value, 0.98, method, "curve:tlb");
}

static void report_level(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    struct fm_finding *ways = tlb_finding(lab, index, "ways", "");
    if (tlb->ways == 0) {
        char note[sizeof((struct fm_finding *)0)->note];
        struct fm_finding *entries = tlb_finding(lab, index, "entries", "");
        struct fm_finding *reach = tlb_finding(lab, index, "reach", "B");
        snprintf(note, sizeof note,
                 "misses begin after %.0f pages and are many at %.0f, but no group of pages "
                 "conflicts by itself: the index may be hashed",
                 tlb->step.held, tlb->step.missed);
        if (ways && entries && reach) {
            fm_undetermined(entries, note);
            fm_undetermined(reach, note);
            fm_undetermined(ways, note);
        }
        return;
    }
    report_number(lab, index, "entries", "", tlb->entries, tlb->method);
    report_number(lab, index, "reach", "B", (double)tlb->entries * (double)tlb->piece, tlb->method);
    report_number(lab, index, "page_size", "B", (double)tlb->piece, "pieces");
    report_number(lab, index, "ways", "", tlb->ways, tlb->method);
    ways = tlb_finding(lab, index, "ways", "");
    if (ways && tlb->sets == 1)
        ways->value = ways->low = ways->high = fm_text("full");
}

static void report_cost(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known *known = &lab->known;
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    const double cost = tlb->step.cost, low = tlb->cost_low * (1 - LEAST_WIDTH),
                 high = tlb->cost_high * (1 + LEAST_WIDTH);
    struct fm_finding *ns = tlb_finding(lab, index, "miss_cost", "ns");
    if (ns)
        fm_measured(ns, cost, low, high, 0.95, "pages", "curve:tlb");
    struct fm_finding *cycles = tlb_finding(lab, index, "miss_cost_cycles", "cycles");
    if (!cycles)
        return;
    if (known->cycle_ns > 0)
        fm_measured(cycles, cost / known->cycle_ns, low / known->cycle_high,
                    high / known->cycle_low, 0.95, "pages", "curve:tlb");
    else
        fm_undetermined(cycles, "the cycle time is not known");
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_tlbs tlbs = {.page = lab->machine->info.page_size};
    if (!fm_page_list_open(&tlbs.list, MOST_PAGES, tlbs.page, err))
        return false;
    bool good = draw_curve(lab, &tlbs, err);
    for (size_t i = 0; i < tlbs.count && good;) {
        bool yes = false;
        good = fm_lab_go_on(lab, 0.3 + 0.2 * (double)i, err) &&
               measure_cost(lab, &tlbs, i, 1, err) && fm_is_a_tlb(lab, &tlbs, i, &yes, err);
        if (good && !yes) {
            take_away(&tlbs, i);
            continue;
        }
        good = good && measure_level(lab, &tlbs, i, err) && fm_find_tlb_piece(lab, &tlbs, i, err);
        const size_t shared = tlbs.known[i].piece / tlbs.page;
        good = good && (shared <= 1 || measure_cost(lab, &tlbs, i, shared, err));
        if (!good)
            break;
        report_level(lab, &tlbs, i);
        report_cost(lab, &tlbs, i);
        i++;
    }
    if (good && tlbs.count == 0) {
        struct fm_finding *entries = tlb_finding(lab, 0, "entries", "");
        if (entries)
            fm_undetermined(entries, "translation costs nothing up to the largest number of pages");
    }
    fm_page_list_close(&tlbs.list);
    return good;
}

static const char *const properties[] = {
    "dtlb1.entries",          "dtlb1.reach", "dtlb1.ways", "dtlb1.page_size", "dtlb1.miss_cost",
    "dtlb1.miss_cost_cycles", NULL};

const struct fm_probe fm_probe_tlb = {
    .name = "tlb",
    .finds = "data TLBs: entries, ways, reach, what a miss costs",
    .needs = "cycle",
    .curve = "tlb",
    .share = 0.2,
    .run = run,
    .properties = properties,
};
