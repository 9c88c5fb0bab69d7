/* Calibrator's way to TLBs (Manegold and Boncz 2000): spots one stride apart, read one after the
 * other; the stride a page and a line, so that each spot has a page and a cache set of its own.
 * Time rises where there are more spots than entries. The curve of half a page rises at twice as
 * many spots: the smallest stride whose curve does not is the page, which may be several of those
 * that are mapped, where an entry holds a pair. Also published is that such a
 * curve rises where spots outnumber the lines of a cache; those rises are left out by what the walk
 * knows of caches. Here to be compared with: no ways, and a prefetcher may learn the stride. */
#include <math.h>
#include <stdio.h>

#include "analysis/monotone_steps.h"
#include "analysis/tlb_steps.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define METHOD      "calibrator"
#define FEWEST      8
#define MOST_SPOTS  4096
#define MOST_POINTS 24
/* Strides from a page's eighth to four pages. */
#define SMALLEST_PART 8
#define STRIDES       6
/* What a reading can be off by. */
#define READING 0.01
/* Part of a step that is the beginning of it. */
#define ONSET 0.01
/* Numbers of spots that are the same. */
#define SAME 1.25

struct family {
    size_t page, shift; /* bytes that the first stride is made of */
    struct fm_tlb_point points[MOST_POINTS];
    size_t count;
    struct fm_tlb_step steps[FM_TLB_LEVELS + FM_CACHE_LEVELS];
    size_t step_count;
};

static bool time_spots(struct fm_lab *lab, size_t spots, size_t stride, double *ns,
                       struct fm_error *err)
{
    const struct fm_spot_plan plan = {.count = spots, .stride = stride};
    const struct fm_care care = {.repeats = 4};
    struct fm_string string;
    return fm_spot_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* One curve of the family, and its steps. */
static bool draw(struct fm_lab *lab, struct family *family, size_t stride, struct fm_error *err)
{
    char id[48];
    double cost[MOST_POINTS], error[MOST_POINTS], least = INFINITY;
    snprintf(id, sizeof id, "spots-%zu", stride);
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"spots", ""};
    curve->y = (struct fm_axis){"latency", "ns"};
    if (!fm_lab_place(lab, MOST_SPOTS * (stride + family->shift), err))
        return false;
    family->count = 0;
    for (double spots = FEWEST; spots <= MOST_SPOTS && family->count < MOST_POINTS;
         spots *= M_SQRT2) {
        double ns;
        if (!fm_lab_go_on(lab, 0.5, err) ||
            !time_spots(lab, (size_t)spots, stride + family->shift, &ns, err))
            return false;
        const size_t i = family->count++;
        fm_curve_add(curve, (struct fm_point){floor(spots), ns, ns, ns});
        least = fmin(least, ns);
        family->points[i] = (struct fm_tlb_point){floor(spots), ns, READING * ns};
    }
    for (size_t i = 0; i < family->count; i++) {
        cost[i] = family->points[i].cost - least;
        error[i] = family->points[i].error;
    }
    if (!fm_monotone_steps(cost, error, family->count, cost))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth a curve");
    for (size_t i = 0; i < family->count; i++)
        family->points[i].cost = cost[i];
    family->step_count = fm_read_tlb_steps(family->points, family->count, family->steps,
                                           FM_TLB_LEVELS + FM_CACHE_LEVELS);
    return true;
}

/* Whether a rise is where spots outnumber the lines of a cache. */
static bool is_a_cache(const struct fm_lab *lab, const struct fm_tlb_step *step)
{
    for (size_t i = 0; i + 1 < lab->known.count; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        const double bytes = level->capacity > 0 ? level->capacity : level->rise_from;
        const double lines = bytes / (double)(level->line ? level->line : level->unit);
        if (lines > step->held / SAME && lines < step->missed * SAME)
            return true;
    }
    return false;
}

/* Halves down to where time begins to rise: of several sets the first is full long before all are.
 */
static bool find_entries(struct fm_lab *lab, const struct family *family,
                         const struct fm_tlb_step *step, size_t *entries, struct fm_error *err)
{
    size_t low = (size_t)step->held, high = (size_t)step->missed;
    double base;
    if (!fm_lab_place(lab, (high + 1) * (family->page + family->shift), err) ||
        !time_spots(lab, low, family->page + family->shift, &base, err))
        return false;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        double ns;
        if (!time_spots(lab, middle, family->page + family->shift, &ns, err))
            return false;
        if (ns - base > fmax(ONSET * (step->cost - step->cost_before), READING / 2 * base))
            high = middle;
        else
            low = middle;
    }
    *entries = low;
    return true;
}

/* Curve of a stride, and the spots that its first rise begins after which is not a cache's; 0 where
   there is none. */
static bool find_first(struct fm_lab *lab, struct family *family, size_t stride, size_t *entries,
                       struct fm_error *err)
{
    *entries = 0;
    family->page = stride;
    if (!draw(lab, family, stride, err))
        return false;
    for (size_t i = 0; i < family->step_count && *entries == 0; i++)
        if (!is_a_cache(lab, &family->steps[i]) &&
            !find_entries(lab, family, &family->steps[i], entries, err))
            return false;
    return true;
}

static bool is_same(size_t a, size_t b)
{
    return (double)a < (double)b * SAME && (double)b < (double)a * SAME;
}

/* An entry that holds a pair of pages has half as many of them two pages apart, and no fewer four
   pages apart; one of several sets has fewer each time. */
static bool find_pair(struct fm_lab *lab, struct family *family, struct fm_error *err)
{
    const size_t page = family->page;
    size_t entries[3];
    for (size_t i = 0; i < 3; i++)
        if (!find_first(lab, family, page << i, &entries[i], err))
            return false;
    const bool pair = !is_same(entries[0], entries[1]) && is_same(entries[1], entries[2]);
    family->page = pair ? 2 * page : page;
    return true;
}

/* The smallest stride at which the first rise comes at so many spots. */
static bool find_page(struct fm_lab *lab, struct family *family, size_t entries, size_t *page,
                      struct fm_error *err)
{
    *page = 0;
    for (int i = 0; i < STRIDES && !*page; i++) {
        const size_t stride = (family->page / SMALLEST_PART) << i;
        if (!draw(lab, family, stride, err))
            return false;
        for (size_t j = 0; j < family->step_count && !*page; j++)
            if (family->steps[j].held / SAME < (double)entries &&
                (double)entries < family->steps[j].missed * SAME)
                *page = stride;
    }
    return true;
}

static struct fm_finding *number(struct fm_lab *lab, size_t level, const char *attribute,
                                 const char *unit, double value, double low, double high)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%zu.%s", level, attribute);
    struct fm_finding *finding = fm_result_finding(lab->result, property, unit);
    if (finding)
        fm_measured(finding, value, low, high, 0.8, METHOD, NULL);
    return finding;
}

static void report(struct fm_lab *lab, size_t level, const struct fm_tlb_step *step, size_t entries,
                   size_t page)
{
    const double cycle = lab->known.cycle_ns, bytes = (double)page;
    number(lab, level, "entries", "", (double)entries, step->held, step->missed);
    number(lab, level, "miss_cost", "ns", step->cost, step->cost, step->cost);
    if (cycle > 0)
        number(lab, level, "miss_cost_cycles", "cycles", step->cost / cycle,
               step->cost / lab->known.cycle_high, step->cost / lab->known.cycle_low);
    if (!page)
        return;
    number(lab, level, "page_size", "B", bytes, bytes, bytes);
    number(lab, level, "reach", "B", bytes * (double)entries, bytes * step->held,
           bytes * step->missed);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    /* The published shift is the line of the second level. */
    struct family family = {.page = lab->machine->info.page_size, .shift = 64};
    for (size_t i = 0; i + 1 < lab->known.count; i++)
        family.shift =
            lab->known.levels[i].line > family.shift ? lab->known.levels[i].line : family.shift;
    if (!find_pair(lab, &family, err) || !draw(lab, &family, family.page, err))
        return false;
    struct fm_tlb_step steps[FM_TLB_LEVELS];
    size_t count = 0, page = 0;
    for (size_t i = 0; i < family.step_count && count < FM_TLB_LEVELS; i++)
        if (!is_a_cache(lab, &family.steps[i]))
            steps[count++] = family.steps[i];
    for (size_t i = 0; i < count; i++) {
        size_t entries;
        if (!find_entries(lab, &family, &steps[i], &entries, err) ||
            (i == 0 && !find_page(lab, &family, entries, &page, err)))
            return false;
        report(lab, i + 1, &steps[i], entries, page);
    }
    return true;
}

static const char *const properties[] = {"dtlb1.entries", "dtlb1.miss_cost", NULL};

const struct fm_probe fm_probe_calibrator = {
    .name = METHOD,
    .finds = "data TLBs by the published method, under --method calibrator",
    .needs = "cycle,levels",
    .share = 0.5,
    .method = FM_METHOD_CALIBRATOR,
    .run = run,
    .properties = properties,
};
