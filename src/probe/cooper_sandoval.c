/* The method of Cooper and Sandoval (2011) for data caches, as published: gap test, cache-only
 * sweep with their analysis, linesize test. It is here to be compared with; today's prefetchers
 * learn its order of references, and its reading of a curve is coarse where the curve is soft. */
#include <math.h>
#include <stdio.h>

#include "analysis/cooper_sandoval.h"
#include "probe/probe.h"
#include "probe/published.h"

#define METHOD "cooper-sandoval"
/* The grain of the sweep where the gap test finds no line; any will do. */
#define ANY_UNIT 64
/* How often the truth lies in what this method reads off the curve, on random simulated machines.
 */
#define SURE_OF_CAPACITY 0.5
#define SURE_OF_LATENCY  0.9
#define SURE_OF_MEMORY   0.65
#define MOST_LEVELS      (FM_CACHE_LEVELS + 1)

struct reading {
    struct fm_published_first first;
    struct fm_published_curve curve;
    struct fm_published_level levels[MOST_LEVELS];
    size_t ends[MOST_LEVELS]; /* the last point of each level's step */
    size_t count;
};

static void read_curve(const struct fm_lab *lab, struct reading *reading)
{
    const struct fm_published_curve *curve = &reading->curve;
    reading->count = fm_cooper_sandoval(curve->bytes, curve->least, curve->count, lab->known.add_ns,
                                        true, reading->levels, MOST_LEVELS);
    for (size_t i = 0, point = 0; i < reading->count; i++) {
        while (point + 1 < curve->count && curve->bytes[point] < reading->levels[i].capacity)
            point++;
        reading->ends[i] = point;
    }
}

/* What the rest of the survey wants to know. */
static void keep_known(struct fm_lab *lab, const struct reading *reading)
{
    const struct fm_published_curve *curve = &reading->curve;
    struct fm_known *known = &lab->known;
    known->count = reading->count;
    for (size_t i = 0; i < reading->count; i++)
        known->levels[i] = (struct fm_known_level){
            .height_ns = reading->levels[i].height * known->add_ns,
            .capacity = i + 1 < reading->count ? reading->levels[i].capacity : 0,
        };
    known->far_bytes = curve->count ? curve->bytes[curve->count - 1] : 0;
    /* A last step shorter than an octave may be the foot of the next rise. */
    known->memory_seen =
        reading->count > 1 && 2 * reading->levels[reading->count - 2].capacity < known->far_bytes;
}

static void publish_curve(struct fm_lab *lab, const struct reading *reading)
{
    const struct fm_published_curve *from = &reading->curve;
    struct fm_curve *curve = fm_result_curve(lab->result, "cache-only");
    if (!curve)
        return;
    curve->x = (struct fm_axis){"footprint", "B"};
    curve->y = (struct fm_axis){"latency", "ns"};
    for (size_t i = 0; i < from->count; i++)
        fm_curve_add(curve, (struct fm_point){.x = from->bytes[i],
                                              .y = from->least[i],
                                              .low = from->least[i],
                                              .high = from->most[i]});
    for (size_t i = 0; i < reading->count; i++) {
        struct fm_step *step = &curve->steps[curve->step_count++];
        step->x = reading->levels[i].capacity;
        step->y = reading->levels[i].height * lab->known.add_ns;
        snprintf(step->label, sizeof step->label, i + 1 == reading->count ? "memory" : "l%zu",
                 i + 1);
    }
}

static void report_latency(struct fm_lab *lab, const struct reading *reading, size_t i)
{
    const struct fm_known *known = &lab->known;
    struct fm_finding *ns = fm_lab_finding(lab, i, "latency", "ns");
    if (!ns)
        return;
    const double height = known->levels[i].height_ns, rounding = known->add_ns / 2;
    /* The height is the step's worst latency; its best is at the end of the rise before. */
    const double best = reading->curve.least[i ? reading->ends[i - 1] + 1 : 0];
    const double low = fmin(best, height) - rounding, high = height + rounding;
    const double sure = i + 1 < known->count ? SURE_OF_LATENCY : SURE_OF_MEMORY;
    fm_measured(ns, height, low, high, sure, METHOD, "curve:cache-only");
    struct fm_finding *cycles = fm_lab_finding(lab, i, "latency_cycles", "cycles");
    if (!cycles)
        return;
    if (known->cycle_ns > 0)
        fm_measured(cycles, height / known->cycle_ns, low / known->cycle_high,
                    high / known->cycle_low, sure, METHOD, "curve:cache-only");
    else
        fm_undetermined(cycles, "the cycle time is not known");
}

/* Between the points on both sides of the last one of the step. */
static void report_capacity(struct fm_lab *lab, const struct reading *reading, size_t i)
{
    const struct fm_published_curve *curve = &reading->curve;
    const size_t end = reading->ends[i];
    struct fm_finding *finding = fm_lab_finding(lab, i, "capacity", "B");
    if (finding)
        fm_measured(finding, curve->bytes[end], curve->bytes[end > 0 ? end - 1 : 0],
                    curve->bytes[end + 1 < curve->count ? end + 1 : end], SURE_OF_CAPACITY, METHOD,
                    "curve:cache-only");
}

/* The gap test's first level, if the sweep bears it out. */
static void report_first(struct fm_lab *lab, const struct reading *reading)
{
    const struct fm_published_first *first = &reading->first;
    const double exact = (double)first->ways * (double)first->way_bytes;
    report_capacity(lab, reading, 0);
    struct fm_finding *ways = fm_lab_finding(lab, 0, "ways", "");
    struct fm_finding *capacity = fm_lab_finding(lab, 0, "capacity", "B");
    if (!ways || !capacity)
        return;
    if (!first->ways) {
        fm_undetermined(ways, "no gap conflicts on every page placement");
    } else if (exact < capacity->low.number || exact > capacity->high.number) {
        ways->candidates[ways->candidate_count++] = fm_number(first->ways);
        capacity->candidates[capacity->candidate_count++] = fm_number(exact);
        capacity->candidates[capacity->candidate_count++] = capacity->value;
        fm_undetermined(ways, "the gap test and the cache-only sweep disagree on the capacity");
        fm_undetermined(capacity, ways->note);
    } else {
        fm_measured(capacity, exact, exact, exact, 0.99, METHOD, NULL);
        fm_measured(ways, first->ways, first->ways, first->ways, 0.99, METHOD, NULL);
        if (first->full)
            ways->value = ways->low = ways->high = fm_text("full");
        lab->known.levels[0].capacity = exact;
    }
}

static bool report_line(struct fm_lab *lab, const struct reading *reading, size_t i,
                        struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[i];
    const struct fm_published_cache cache = {i + 1, (size_t)level->capacity,
                                             (level + 1)->height_ns - level->height_ns};
    /* No outer line is shorter than the first level's: half of that is narrow enough to begin. */
    const size_t from = reading->first.line > FM_WORD ? reading->first.line / 2 : FM_WORD;
    size_t line = i == 0 ? reading->first.line : 0;
    char evidence[48] = "";
    if (!line) {
        if (!fm_published_line(lab, &cache, from, &line, err))
            return false;
        snprintf(evidence, sizeof evidence, "curve:linesize-%zu", i + 1);
    }
    struct fm_finding *finding = fm_lab_finding(lab, i, "line", "B");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (line)
        fm_measured(finding, (double)line, (double)line, (double)line, 0.9, METHOD,
                    evidence[0] ? evidence : NULL);
    else
        fm_undetermined(finding, "no stripe width made the latency drop");
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct reading reading;
    if (!fm_published_gap(lab, &reading.first, err))
        return false;
    const size_t unit = reading.first.line ? reading.first.line : ANY_UNIT;
    if (!fm_published_sweep(lab, unit, &reading.curve, err))
        return false;
    read_curve(lab, &reading);
    keep_known(lab, &reading);
    publish_curve(lab, &reading);
    if (reading.count < 2) {
        struct fm_finding *finding = fm_result_finding(lab->result, "l1d.capacity", "B");
        if (finding)
            fm_undetermined(finding, "the cache-only curve has no step");
        return true;
    }
    for (size_t i = 0; i < reading.count; i++)
        report_latency(lab, &reading, i);
    report_first(lab, &reading);
    for (size_t i = 1; i + 1 < reading.count; i++)
        report_capacity(lab, &reading, i);
    for (size_t i = 0; i + 1 < reading.count; i++)
        if (!report_line(lab, &reading, i, err))
            return false;
    return true;
}

static const char *const properties[] = {"l1d.capacity",
                                         "l1d.line",
                                         "l1d.ways",
                                         "l1d.latency",
                                         "l1d.latency_cycles",
                                         "memory.latency",
                                         "memory.latency_cycles",
                                         NULL};

const struct fm_probe fm_probe_cooper_sandoval = {
    .name = METHOD,
    .finds = "data caches by the published method, under --method cooper-sandoval",
    .needs = "cycle",
    .curve = "cache-only",
    .share = 1,
    .method = FM_METHOD_COOPER_SANDOVAL,
    .run = run,
    .properties = properties,
};
