/* The levels behind the first cache of code, as code sees them: how much of it each serves, and
 * what a line that comes from there adds to a jump. The walk of code is read as that of data is, as
 * a sum of knees, since pages lie as scattered for code; a level is called by what data calls it
 * where the two share it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/tlb_steps.h"
#include "core/units.h"
#include "probe/code_counted.h"
#include "probe/code_walk.h"
#include "probe/fit.h"
#include "probe/probe.h"

/* How far code goes at the most, in each effort, and how many lines it has. */
static const double far_bytes[] = {
    [FM_QUICK] = 0x1p20, [FM_NORMAL] = 0x1p22, [FM_THOROUGH] = 0x1p25};
#define MOST_LINES 0x1p19
/* Part of the first cache's end at which the walk begins; times the beginning of a level's plateau,
   or the middle of the rise before it, that are needed to see it; and that are enough. Where the
   first cache's misses come little by little, that is sooner and farther. */
#define BEFORE      0.5
#define LONG_BEFORE 0.125
#define AFTER       1.5
#define BEYOND      3
#define FAR_BEYOND  12
/* Part of what a level holds at which its own misses are none beside what they would be. */
#define BEFORE_END 0.6
/* Residuals, in standard errors, above which knees do not describe the walk; and how many times
   better those do that code shows itself than those that data has. */
#define POOR_FIT    2.5
#define MUCH_BETTER 1.5
/* What levels around it may make of a plateau; and times the level before it that the walk must go
   on: where that gives up lines by lot, some stay for long. */
#define HIDDEN 0.2
#define SEEN   2.5
/* An interval wider than this tells the range alone, and one wider than that is no answer. */
#define WIDE         1.35
#define TOO_WIDE     2
#define WIDE_LATENCY 1.25
/* What shapes of knees can be off by beyond what they are for data: fewer placements were seen. */
#define SHAPES 1.05
/* Part of a page that footprints of so few pages can be off by. */
#define PAGE_PART 0.5
/* Times that what code and data get of one level may differ by. */
#define ALIKE 1.35
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03

/* The walk as it is read. */
struct view {
    struct fm_code_walk walk;
    struct fm_fitted fitted;
    struct fm_knee_fit fit;
    size_t reached;   /* levels of data whose ends the walk goes beyond, the first included */
    bool as_data_has; /* the knees are those of the levels that data has */
};

static double half_way(const struct fm_lab *lab, size_t level)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    if (lab->known.fit.count)
        return lab->known.fit.knees[level].capacity;
    return known->capacity > 0 ? known->capacity : sqrt(known->rise_from * known->rise_to);
}

/* Whether a walk that goes so far shows where a level ends and what comes after it. */
static bool shows_end(const struct fm_lab *lab, size_t level, double to)
{
    const double middle = level ? half_way(lab, level) : lab->known.code_to;
    return AFTER * middle <= to && AFTER * lab->known.levels[level + 1].flat_from <= to;
}

static bool is_told(const struct fm_lab *lab, const char *property)
{
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED;
}

/* As far as it takes to see the last level's end; where that is too far, not into the rise of the
   first level that is too large. */
static void plan(const struct fm_lab *lab, struct view *view)
{
    const struct fm_known *known = &lab->known;
    struct fm_code_walk *walk = &view->walk;
    const bool sharp = !known->code_moved;
    walk->pitch = known->code_unit;
    walk->apart = is_told(lab, "l1i.line") ? walk->pitch / 2 : FM_WORD;
    for (size_t i = 1; i + 1 < known->count; i++)
        if (known->levels[i].line > walk->pitch)
            walk->pitch = known->levels[i].line;
    walk->from = known->code_from * (sharp ? BEFORE : LONG_BEFORE);
    walk->small = known->code_to;
    walk->offset_ns = fmax(known->code_miss_ns, known->cycle_ns);
    double to = fmin(far_bytes[lab->options->effort], MOST_LINES * (double)walk->pitch);
    to = fmin(to, (double)fm_lab_limit(lab) / 4);
    while (view->reached + 1 < known->count && shows_end(lab, view->reached, to))
        view->reached++;
    const struct fm_known_level *next = &known->levels[view->reached];
    if (view->reached + 1 == known->count)
        to = fmin(to,
                  fmax((sharp ? BEYOND : FAR_BEYOND) * known->code_to, BEYOND * next->flat_from));
    else if (view->reached > 0 && next->rise_from > 0)
        to = fmin(
            to, fmin(next->rise_from, next->capacity > 0 ? BEFORE_END * next->capacity : INFINITY));
    walk->to = to;
    /* What is counted the clock need not find where levels end. */
    walk->sparse = sharp;
    for (size_t i = 1; i < view->reached || i == 1; i++)
        walk->sparse = walk->sparse && fm_code_is_counted(lab, i);
}

/* Half way up the rises of the levels that data has, behind the first cache of code. */
static size_t places_of_data(const struct fm_lab *lab, const struct view *view,
                             struct fm_knee_place places[FM_KNEES])
{
    size_t count = 0;
    places[count++].bytes = sqrt(lab->known.code_from * lab->known.code_to);
    for (size_t i = 1; i < view->reached && count < FM_KNEES; i++)
        places[count++].bytes = half_way(lab, i);
    return count;
}

/* … and of those that code itself shows. */
static size_t places_of_code(const struct fm_lab *lab, const struct view *view,
                             struct fm_knee_place places[FM_KNEES])
{
    const struct fm_walk *walk = &view->walk.walk;
    struct fm_tlb_point points[FM_WALK_POINTS];
    struct fm_tlb_step steps[FM_CACHE_LEVELS];
    size_t count = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const double mean = fm_walk_mean(&walk->points[i]);
        points[i] =
            (struct fm_tlb_point){(double)walk->points[i].bytes, mean - view->walk.offset_ns,
                                  mean * fm_code_walk_error(&view->walk, i)};
    }
    if (!fm_smooth_tlb_points(points, walk->count))
        return 0;
    const size_t rises = fm_read_tlb_steps(points, walk->count, steps, FM_CACHE_LEVELS);
    places[count++].bytes = sqrt(lab->known.code_from * lab->known.code_to);
    for (size_t i = 0; i < rises && count < FM_KNEES; i++)
        if (steps[i].held > places[0].bytes)
            places[count++].bytes = sqrt(steps[i].held * steps[i].missed);
    return count;
}

static void fit(const struct fm_lab *lab, struct view *view)
{
    struct fm_knee_place places[FM_KNEES] = {{0}};
    struct fm_fitted *fitted = &view->fitted;
    struct fm_knee_fit own;
    fm_fitted_load(fitted, &view->walk.walk, &view->fit, lab->machine->info.page_size);
    for (size_t i = 0; i < fitted->curve.n; i++)
        fitted->error[i] = hypot(fitted->error[i], fm_code_walk_error(&view->walk, i));
    view->as_data_has =
        fm_fit_knees(&fitted->curve, places, places_of_data(lab, view, places), &view->fit);
    const bool good = (!view->as_data_has || view->fit.error > 1) &&
                      fm_fit_knees(&fitted->curve, places, places_of_code(lab, view, places), &own);
    if (good && (!view->as_data_has || own.error * MUCH_BETTER < view->fit.error)) {
        view->as_data_has = own.count == view->fit.count;
        view->fit = own;
    }
    if (view->fit.error > POOR_FIT)
        view->fit.count = 0;
}

/* Why nothing is told of what serves code beyond a level; NULL: nothing speaks against it. */
static const char *obstacle(const struct view *view, size_t level)
{
    if (view->fit.count == 0)
        return "no sum of knees describes what fetching adds";
    if (!view->as_data_has)
        return "code shows another number of levels than data does";
    return level > view->reached ? "so much code as it takes to come from there was not run" : NULL;
}

/* What a level is called, and why nothing is told of it. */
struct name {
    char structure[8];
    const char *capacity; /* the attribute */
    const char *open;     /* NULL: nothing speaks against it */
};

static struct name name_of(const struct fm_lab *lab, const struct view *view, size_t level)
{
    struct name name = {.capacity = "code_capacity", .open = obstacle(view, level)};
    char property[FM_PROPERTY_TEXT];
    snprintf(name.structure, sizeof name.structure, "l%zu", level + 1);
    snprintf(property, sizeof property, "%.7s.unified", name.structure);
    const struct fm_finding *unified = fm_result_find(lab->result, property);
    const bool asked = unified && unified->status == FM_MEASURED;
    if (asked && !unified->value.truth) {
        snprintf(name.structure, sizeof name.structure, "l%zui", level + 1);
        name.capacity = "capacity";
    }
    if (name.open || level >= view->fit.count || view->walk.sparse ||
        (asked && !unified->value.truth))
        return name;
    const double data = lab->known.levels[level].capacity;
    const double code = fm_fit_crossing(&view->fit, level, FM_CAPACITY_MISSES);
    if (data <= 0 || fmax(data / code, code / data) > ALIKE)
        name.open = asked ? "code seems to get another part of it than data does"
                          : "it is not known whether it is the level that data has";
    return name;
}

static struct fm_finding *open_finding(struct fm_lab *lab, const char *structure,
                                       const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    return fm_result_finding(lab->result, property, fm_unit_of(property));
}

static void leave_open(struct fm_lab *lab, const char *structure, const char *attribute,
                       const char *reason)
{
    struct fm_finding *finding = open_finding(lab, structure, attribute);
    if (finding)
        fm_undetermined(finding, reason);
}

/* Why no capacity is told; NULL: nothing speaks against it. */
static const char *why_no_capacity(const struct fm_lab *lab, const struct view *view, size_t level,
                                   const struct name *name)
{
    if (name->open)
        return name->open;
    if (level >= view->reached)
        return lab->options->effort == FM_THOROUGH ? "so much code was not run"
                                                   : "so much code was not run; try --thorough";
    if (view->walk.sparse)
        return "left to the counters";
    if (fm_fitted_blur(&view->fitted, level) > HIDDEN ||
        fm_fitted_blur(&view->fitted, level + 1) > HIDDEN)
        return "its rise runs into another level's: no plateau lies between";
    return NULL;
}

/* A capacity, and where it may lie. */
struct range {
    double at, low, high;
};

static bool find_range(const struct view *view, size_t level, struct range *range)
{
    const double page = view->fitted.curve.page;
    if (!fm_fitted_crossing(&view->fitted, level, FM_CAPACITY_MISSES, &range->at, &range->low,
                            &range->high))
        return false;
    range->low /= SHAPES;
    range->high *= SHAPES;
    /* Misses come with whole pages, which the shape of a knee leaves out: it counts where pages are
       few. */
    if (view->fit.knees[level].shape == FM_KNEE_PAGES) {
        range->low = fmax(range->low - PAGE_PART * page, 0);
        range->high += PAGE_PART * page;
    }
    return true;
}

static void tell_range(struct fm_lab *lab, const struct view *view, const struct range *range,
                       const struct name *name)
{
    struct fm_finding *finding = open_finding(lab, name->structure, name->capacity);
    const double pitch = (double)view->walk.pitch;
    const bool wide = range->high > WIDE * range->low;
    if (!finding)
        return;
    fm_measured(finding, floor(range->at / pitch) * pitch, floor(range->low / pitch) * pitch,
                ceil(range->high / pitch) * pitch, wide ? 0.5 : 0.95, "knees", "curve:code-levels");
    if (wide)
        snprintf(finding->note, sizeof finding->note,
                 "only the range is sure: the edge moves with page placement or with others who "
                 "use this cache");
}

static bool report_capacity(struct fm_lab *lab, const struct view *view, size_t level,
                            const struct name *name, struct fm_error *err)
{
    const char *open = why_no_capacity(lab, view, level, name);
    struct range range;
    if (!open && !find_range(view, level, &range))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (!open && range.high > TOO_WIDE * range.low)
        open = "where its misses begin differed too much between readings (page placement, or "
               "others who use this cache)";
    if (open)
        leave_open(lab, name->structure, name->capacity, open);
    else
        tell_range(lab, view, &range, name);
    return true;
}

/* What a line from a level adds to a jump, beside one from the first cache of code. */
static bool report_latency(struct fm_lab *lab, const struct view *view, size_t level,
                           const char *structure, const char *reason, struct fm_error *err)
{
    const double cycle = lab->known.cycle_ns;
    double ns = 0, low = 0, high = 0, none = 0, none_low, none_high;
    const char *open = reason ? reason
                       : fm_fitted_blur(&view->fitted, level) > HIDDEN ||
                               view->walk.to < SEEN * view->fit.knees[level - 1].capacity
                           ? "the levels around it reach over its plateau"
                           : NULL;
    if (!open && (!fm_fitted_height(&view->fitted, level, &ns, &low, &high) ||
                  !fm_fitted_height(&view->fitted, 0, &none, &none_low, &none_high)))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    ns -= none;
    low = (low - none) * (1 - LEAST_WIDTH);
    high = (high - none) * (1 + LEAST_WIDTH);
    if (open || low <= 0 || high > WIDE_LATENCY * low) {
        leave_open(lab, structure, "fetch_latency",
                   open ? open : "what it adds differs too much from one look to the next");
        return true;
    }
    struct fm_finding *finding = open_finding(lab, structure, "fetch_latency");
    if (finding)
        fm_measured(finding, ns, low, high, 0.95, "knees", "curve:code-levels");
    finding = cycle > 0 ? open_finding(lab, structure, "fetch_latency_cycles") : NULL;
    if (finding)
        fm_measured(finding, ns / cycle, low / lab->known.cycle_high, high / lab->known.cycle_low,
                    0.95, "knees", "curve:code-levels");
    return true;
}

static void draw(struct fm_lab *lab, const struct view *view)
{
    const struct fm_walk *walk = &view->walk.walk;
    struct fm_curve *curve = fm_result_curve(lab->result, "code-levels");
    if (!curve)
        return;
    curve->x = (struct fm_axis){"code", "B"};
    curve->y = (struct fm_axis){"fetch", "ns"};
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        fm_curve_add(curve, (struct fm_point){(double)point->bytes,
                                              fm_walk_mean(point) - view->walk.offset_ns,
                                              point->low - view->walk.offset_ns,
                                              point->high - view->walk.offset_ns});
    }
    for (size_t i = 0; i < view->fit.count && view->as_data_has; i++) {
        struct fm_step *step = &curve->steps[curve->step_count++];
        step->x = fm_fit_crossing(&view->fit, i, FM_CAPACITY_MISSES);
        step->y = view->fit.heights[i] - view->walk.offset_ns;
        snprintf(step->label, sizeof step->label, i == 0 ? "l%zui" : "l%zu", i + 1);
    }
}

static bool report(struct fm_lab *lab, const struct view *view, struct fm_error *err)
{
    const size_t memory = lab->known.count - 1;
    const struct fm_code_span span = {
        view->walk.pitch, lab->known.code_from,
        fmin(far_bytes[lab->options->effort], (double)fm_lab_limit(lab) / 4)};
    draw(lab, view);
    for (size_t level = 1; level < memory; level++) {
        const struct name name = name_of(lab, view, level);
        if (!report_capacity(lab, view, level, &name, err) ||
            !report_latency(lab, view, level, name.structure, name.open, err) ||
            !fm_count_code_level(lab, level, &span, err))
            return false;
    }
    return view->reached < memory ||
           report_latency(lab, view, memory, "memory", obstacle(view, memory), err);
}

static void report_none(struct fm_lab *lab, const char *reason)
{
    for (size_t level = 1; level + 1 < lab->known.count; level++) {
        char structure[8];
        snprintf(structure, sizeof structure, "l%zu", level + 1);
        leave_open(lab, structure, "code_capacity", reason);
        leave_open(lab, structure, "fetch_latency", reason);
    }
}

static const char *const outer_attributes[] = {"code_capacity", "fetch_latency", NULL};

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct view view = {.as_data_has = false};
    bool runs;
    if (!fm_code_runs(lab, NULL, &runs, err))
        return false;
    if (!runs || lab->known.count < 2)
        return true;
    if (lab->known.code_to > 0)
        plan(lab, &view);
    if (view.reached == 0) {
        report_none(lab, lab->known.code_to > 0
                             ? "so much code as it takes to come from there was not run"
                             : "the first cache of code is not known");
        return true;
    }
    if (!fm_code_walk(lab, &view.walk, err))
        return false;
    fit(lab, &view);
    for (size_t i = 0; i < view.fit.count; i++)
        if (view.fit.knees[i].shape != FM_KNEE_CONTIGUOUS &&
            !fm_code_walk_around(lab, &view.walk, fm_fit_crossing(&view.fit, i, FM_CAPACITY_MISSES),
                                 err))
            return false;
    fit(lab, &view);
    return report(lab, &view, err);
}

const struct fm_probe fm_probe_code_levels = {
    .name = "code-levels",
    .finds = "the outer caches as code sees them: how much of it they serve, what a fetch adds",
    .needs = "icache,levels,capacity,unified",
    .curve = "code-levels",
    .share = 0.1,
    .detail = true,
    .run = run,
    .outer = outer_attributes,
};
