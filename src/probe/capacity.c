/* Effective capacity: the largest footprint at which at most one reference in twenty of a walk
 * misses the level, expected over page placements. The plateaus on both sides of the rise say what
 * a hit and what a miss take, so each latency in between is a miss ratio. Where the rise is sharp
 * its place is halved down to; where page placement makes it soft, placements are averaged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/crossing.h"
#include "probe/capacity.h"
#include "probe/fit.h"
#include "probe/probe.h"
#include "probe/walk_ways.h"

#define MOST_FOOTPRINTS 40
#define MOST_PLACEMENTS 64
#define MANY            4
#define RESAMPLES       200
/* Closer than this two footprints need not be told apart. */
#define SHARP 1.004
/* … nor closer than this, where they hardly differ. */
#define SOFT 1.025
/* A rise from nothing to the miss ratio over no more than this is that of contiguous pages. */
#define SHARP_RISE 1.03
/* Part of the misses at the crossing that are none: so much two orders differ by, of which one
   tells the part of a TLB. */
#define NO_MISSES 0.1
/* On the safe side by what noise can make of it: a block slightly too small costs little. */
#define SAFE 0.995
/* References spent on one level at the most, in each effort. */
static const double spend[] = {[FM_QUICK] = 5e5, [FM_NORMAL] = 2e6, [FM_THOROUGH] = 3e7};
/* A rise from the miss ratio to all but it that is no sharp one's. */
#define LONG_RISE 2
/* An interval wider than this tells the range alone, and one wider than that is no answer to how
   much fits. */
#define WIDE     1.54
#define TOO_WIDE 4
/* Residuals of a fit that is believed where no plateau shows a level, and of one that is not quite;
   and what the two may be off by. */
#define GOOD_FIT  0.75
#define ROUGH_FIT 1.2
#define BY_SHAPES 1.3
#define BY_LUCK   1.12
/* … and what few points on few placements may be off by besides. */
#define BY_HASTE 1.3
/* Beyond an edge that counters have shown, and so near that the next level is far. */
#define BEYOND 1.08
/* … on either side of one that is another on each placement. */
#define APART 1.25
#define SOME  3
/* What an edge may differ by that is the same on all placements. */
#define STILL 1.02
/* Footprints this far from the crossing say nothing of where it is. */
#define NEAR 1.3

struct edge {
    size_t level;
    struct fm_way way;      /* how it is measured */
    double hit_ns, miss_ns; /* plateaus before and after the rise */
    double bytes[MOST_FOOTPRINTS];
    /* A reading, the TLB's part included, NAN where there is none; and what missed, by what the
       TLB's part is known to be now. */
    double whole_ns[MOST_PLACEMENTS][MOST_FOOTPRINTS];
    double ratio[MOST_PLACEMENTS][MOST_FOOTPRINTS];
    size_t footprints, placements;
    struct fm_crossing crossing;
};

/* Where the walk crosses the miss ratio for good, beginning on the level's plateau; 0: nowhere.
   What it crosses before and comes back from is a TLB whose part it was not taken for. */
static double first_guess(const struct fm_lab *lab, const struct fm_known_level *level,
                          const struct edge *edge)
{
    const struct fm_walk *walk = &lab->walk;
    const double threshold = edge->hit_ns + FM_CAPACITY_MISSES * (edge->miss_ns - edge->hit_ns);
    const double from = sqrt(level->flat_from * level->flat_to);
    double before = 0, guess = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes < level->flat_from)
            continue;
        if (guess > 0 && bytes > level->rise_to)
            break;
        if (bytes < from || fm_walk_mean(&walk->points[i]) <= threshold)
            guess = 0;
        else if (guess <= 0)
            guess = before > 0 ? sqrt(before * bytes) : bytes;
        before = bytes;
    }
    return guess;
}

static double ratio_of(const struct fm_lab *lab, const struct edge *edge, double bytes,
                       double whole_ns)
{
    const double ns =
        whole_ns - fm_walk_tlb_at(&lab->walk, bytes) - fm_fit_beside(lab, edge->level, bytes);
    return (ns - edge->hit_ns) / (edge->miss_ns - edge->hit_ns);
}

static bool measure_whole(struct fm_lab *lab, const struct edge *edge, double bytes,
                          double *whole_ns, struct fm_error *err)
{
    double ns;
    if (!fm_lab_go_on(lab, 0.5, err) ||
        !fm_walk_measure_settled(lab, (size_t)bytes, edge->way, &ns, err))
        return false;
    *whole_ns = ns + fm_walk_tlb_at(&lab->walk, bytes);
    return true;
}

/* Whether a footprint is worth measuring on one more placement: near the crossing, and not in a
   crowd of others where the edge was halved down to. */
static bool is_near(const struct edge *edge, size_t i)
{
    if (edge->placements <= 1)
        return true;
    const double ratio = edge->bytes[i] / edge->crossing.at;
    if (ratio > NEAR || ratio < 1 / NEAR)
        return false;
    const bool beside =
        (i > 0 && edge->bytes[i - 1] < edge->crossing.at) != (edge->bytes[i] < edge->crossing.at);
    const bool before = i + 1 < edge->footprints && edge->bytes[i] <= edge->crossing.at &&
                        edge->bytes[i + 1] > edge->crossing.at;
    return beside || before || fabs(log(ratio)) > 0.03;
}

/* The footprints around the crossing on one fresh placement, from large to small (placements.c
   says why). */
static bool measure_placement(struct fm_lab *lab, struct edge *edge, struct fm_error *err)
{
    double *row = edge->whole_ns[edge->placements];
    for (size_t i = 0; i < MOST_FOOTPRINTS; i++)
        row[i] = NAN;
    if (!fm_lab_place(lab, (size_t)edge->bytes[edge->footprints - 1], err))
        return false;
    edge->placements++;
    for (size_t i = edge->footprints; i-- > 0;)
        if (is_near(edge, i) && !measure_whole(lab, edge, edge->bytes[i], &row[i], err))
            return false;
    return true;
}

/* The more readings there are around it the better the TLB's part in the first ones is known. */
static void tell_ratios(const struct fm_lab *lab, struct edge *edge)
{
    for (size_t p = 0; p < edge->placements; p++)
        for (size_t i = 0; i < edge->footprints; i++)
            edge->ratio[p][i] = ratio_of(lab, edge, edge->bytes[i], edge->whole_ns[p][i]);
}

static bool locate(const struct fm_lab *lab, struct edge *edge, uint64_t seed, struct fm_error *err)
{
    double packed[MOST_PLACEMENTS * MOST_FOOTPRINTS];
    tell_ratios(lab, edge);
    for (size_t p = 0; p < edge->placements; p++)
        memcpy(&packed[p * edge->footprints], edge->ratio[p], edge->footprints * sizeof packed[0]);
    const struct fm_placements data = {edge->bytes, edge->footprints, packed, edge->placements};
    if (!fm_find_crossing(&data, FM_CAPACITY_MISSES, 0.99, RESAMPLES, seed, &edge->crossing))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to find a crossing");
    return true;
}

static double mean_ratio(const struct edge *edge, size_t footprint)
{
    double sum = 0;
    unsigned count = 0;
    for (size_t p = 0; p < edge->placements; p++)
        if (!isnan(edge->ratio[p][footprint])) {
            sum += edge->ratio[p][footprint];
            count++;
        }
    return count ? sum / count : NAN;
}

/* Index of the footprint after the crossing. */
static size_t after_crossing(const struct edge *edge)
{
    size_t i = 1;
    while (i + 1 < edge->footprints && edge->bytes[i] < edge->crossing.at)
        i++;
    return i;
}

/* One more footprint before the one at index `at`, measured on the placement that is there. */
static bool insert(struct fm_lab *lab, struct edge *edge, size_t at, double bytes,
                   struct fm_error *err)
{
    const double unit = (double)lab->walk.unit;
    const size_t rest = edge->footprints - at;
    memmove(&edge->bytes[at + 1], &edge->bytes[at], rest * sizeof edge->bytes[0]);
    edge->bytes[at] = round(bytes / unit) * unit;
    for (size_t p = 0; p < edge->placements; p++) {
        double *row = edge->whole_ns[p];
        memmove(&row[at + 1], &row[at], rest * sizeof row[0]);
        row[at] = NAN;
    }
    edge->footprints++;
    if (!measure_whole(lab, edge, edge->bytes[at], &edge->whole_ns[edge->placements - 1][at], err))
        return false;
    tell_ratios(lab, edge);
    return true;
}

/* Widens the footprints until the crossing lies among them. */
static bool reach_crossing(struct fm_lab *lab, struct edge *edge, double limit,
                           struct fm_error *err)
{
    for (int i = 0; i < 8 && edge->footprints < MOST_FOOTPRINTS; i++) {
        if (!locate(lab, edge, 1, err))
            return false;
        if (edge->crossing.inside)
            return true;
        const double first = edge->bytes[0], last = edge->bytes[edge->footprints - 1];
        if (mean_ratio(edge, 0) > FM_CAPACITY_MISSES) {
            if (!insert(lab, edge, 0, first / 1.25, err))
                return false;
        } else if (last * 1.25 > limit || !fm_lab_place(lab, (size_t)(last * 1.25), err) ||
                   !insert(lab, edge, edge->footprints, last * 1.25, err)) {
            return last * 1.25 > limit;
        }
    }
    return true;
}

static bool narrow(struct fm_lab *lab, struct edge *edge, struct fm_error *err)
{
    const uint64_t seed = fm_lab_seed(lab);
    while (edge->footprints < MOST_FOOTPRINTS) {
        if (!locate(lab, edge, seed, err))
            return false;
        const size_t after = after_crossing(edge);
        const double step = edge->bytes[after] / edge->bytes[after - 1];
        const double jump = mean_ratio(edge, after) - mean_ratio(edge, after - 1);
        const bool too_close =
            edge->bytes[after] - edge->bytes[after - 1] < 2 * (double)lab->walk.unit;
        if (too_close || jump < 0.4 * FM_CAPACITY_MISSES ||
            step < (jump < 2 * FM_CAPACITY_MISSES ? SOFT : SHARP))
            return true;
        const double middle = sqrt(edge->bytes[after - 1] * edge->bytes[after]);
        if (!insert(lab, edge, after, middle, err))
            return false;
    }
    return true;
}

/* The largest footprint below the crossing that shows no misses at all and is near enough to it for
   the rise to be a sharp one; SIZE_MAX: none. */
static size_t last_without_misses(const struct edge *edge)
{
    for (size_t i = after_crossing(edge); i-- > 0;)
        if (edge->bytes[i] * SHARP_RISE < edge->crossing.at)
            break;
        else if (mean_ratio(edge, i) < NO_MISSES * FM_CAPACITY_MISSES)
            return i;
    return SIZE_MAX;
}

/* Halves down to where the misses of a sharp rise begin. */
static bool narrow_onset(struct fm_lab *lab, struct edge *edge, struct fm_error *err)
{
    for (int i = 0; i < 3 && edge->footprints < MOST_FOOTPRINTS; i++) {
        const size_t none = last_without_misses(edge);
        if (none == SIZE_MAX || edge->bytes[none + 1] < edge->bytes[none] * SHARP ||
            edge->bytes[none + 1] - edge->bytes[none] < 2 * (double)lab->walk.unit)
            return true;
        if (!insert(lab, edge, none + 1, sqrt(edge->bytes[none] * edge->bytes[none + 1]), err))
            return false;
    }
    return true;
}

/* Where a sharp rise sets out from: the largest footprint that shows no misses at all, or what the
   rise through the crossing points back to. The crossing itself where the rise is not sharp. The
   two are within the same one or two percent, and a cache's capacity is where misses begin. */
static double onset(const struct edge *edge)
{
    const size_t after = after_crossing(edge);
    const double at = edge->crossing.at;
    const size_t none = last_without_misses(edge);
    if (none != SIZE_MAX)
        return edge->bytes[none] * SAFE;
    size_t top = after;
    while (top + 1 < edge->footprints && mean_ratio(edge, top) < 3 * FM_CAPACITY_MISSES)
        top++;
    const double gain = mean_ratio(edge, top) - mean_ratio(edge, after - 1);
    if (gain <= 0)
        return at;
    const double begin =
        at - FM_CAPACITY_MISSES * (edge->bytes[top] - edge->bytes[after - 1]) / gain;
    return begin * SHARP_RISE > at ? begin * SAFE : at;
}

static bool find_edge(struct fm_lab *lab, struct edge *edge, double guess, struct fm_error *err)
{
    static const double around[] = {0.82, 0.92, 1, 1.08, 1.2};
    /* Nothing holds what the walk has seen memory serve. */
    const double far = lab->known.memory_seen ? lab->known.far_bytes : INFINITY;
    const double limit = fmin(far, (double)fm_lab_limit(lab));
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++)
        if (guess * around[i] < limit)
            edge->bytes[edge->footprints++] =
                floor(guess * around[i] / (double)lab->walk.unit) * (double)lab->walk.unit;
    const double each = 8 * guess / (double)lab->walk.unit;
    const double affordable = spend[lab->options->effort] / each;
    /* Where pages are scattered, two placements that agree may be luck. */
    const size_t few = lab->known.scattered ? MANY : 2;
    const size_t most = (size_t)fmin(fmax(affordable, (double)few), MOST_PLACEMENTS);
    const uint64_t seed = fm_lab_seed(lab);
    while (edge->placements < most) {
        if (!measure_placement(lab, edge, err) || !reach_crossing(lab, edge, limit, err) ||
            !narrow(lab, edge, err) || !narrow_onset(lab, edge, err) ||
            !locate(lab, edge, seed, err))
            return false;
        const double wide = edge->crossing.high / edge->crossing.low;
        if (edge->crossing.inside &&
            (edge->placements >= MANY ? wide < 1.05 : edge->placements >= few && wide < 1.012))
            break;
    }
    return true;
}

/* Whether a level is read from the fit: placements move its rise, or it is a long one. */
static bool is_soft(const struct fm_lab *lab, size_t index)
{
    const struct fm_knee_fit *fit = &lab->known.fit;
    if (!fit->count || fit->knees[index].shape == FM_KNEE_CONTIGUOUS)
        return false;
    if (fit->soft[index])
        return true;
    return fit->knees[index].shape != FM_KNEE_CONTIGUOUS_RANDOM &&
           fm_fit_crossing(fit, index, 1 - FM_CAPACITY_MISSES) >
               LONG_RISE * fm_fit_crossing(fit, index, FM_CAPACITY_MISSES);
}

static void widen_by(double interval[3], double times)
{
    interval[1] /= times;
    interval[2] *= times;
}

/* Tells what a level holds, or about what, or that it moves too far to be told. */
static void report_capacity(struct fm_lab *lab, size_t index, const double interval[3],
                            const char *method)
{
    struct fm_known_level *level = &lab->known.levels[index];
    struct fm_finding *finding = fm_lab_finding(lab, index, "capacity", "B");
    const double at = interval[0], low = interval[1], high = interval[2];
    const double grain = (double)level->unit;
    const double certainty = 0.9 * level->certainty + 0.09;
    const bool wide = high > WIDE * low;
    if (!finding)
        return;
    if (fm_walk_is_spoilt(&lab->walk, low / NEAR, high * NEAR)) {
        fm_undetermined(finding,
                        "other work disturbed most readings around where its misses begin");
        return;
    }
    if (high > TOO_WIDE * low) {
        fm_undetermined(finding, "page placement moves its rise too far for the placements tried");
        return;
    }
    if (level->units_too_long) {
        fm_undetermined(finding, "what it holds was counted in units that seem to be longer than "
                                 "its lines");
        return;
    }
    const double bytes = floor(at / grain) * grain;
    fm_measured(finding, bytes, floor(low / grain) * grain, ceil(high / grain) * grain,
                wide ? certainty / 2 : certainty, method, "curve:cache-only");
    /* A range is nothing for other probes to build on. */
    if (!wide)
        level->capacity = bytes;
    else
        snprintf(finding->note, sizeof finding->note,
                 "the range alone is sure: where it begins to miss moves, with the pages or with "
                 "who else uses it");
}

/* Of knees that describe a walk badly many do as well, and lie far apart: what readings tell alone
   counts where it is surer. */
static void tell_by_readings(struct fm_lab *lab, const struct fm_fitted *fitted, size_t index,
                             double haste, double interval[3], const char **method)
{
    double told[3];
    if (!fm_crossing_by_readings(lab, fitted, index, told))
        return;
    widen_by(told, haste);
    if (told[2] * interval[1] >= interval[2] * told[1])
        return;
    memcpy(interval, told, sizeof told);
    *method = "swept";
}

bool fm_report_fitted(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_known_level *level = &lab->known.levels[index];
    struct fm_finding *finding = fm_lab_finding(lab, index, "capacity", "B");
    struct fm_fitted fitted;
    double at, low, high;
    /* Without its height misses are told from hits by the shapes of knees alone, which is not well
       enough for a first level. */
    const bool hidden = fm_level_is_hidden(level) || level[1].inferred;
    fm_lab_fitted(lab, &fitted);
    const bool sized = fm_fitted_is_sized(&fitted, index);
    if (finding && hidden && !sized && (index == 0 || lab->known.fit.error > GOOD_FIT)) {
        fm_undetermined(finding, "its rise runs into the next level's: no plateau lies between");
        return true;
    }
    if (!finding || !fm_fitted_crossing(&fitted, index, FM_CAPACITY_MISSES, &at, &low, &high))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (sized) {
        report_capacity(lab, index, (const double[]){at, low, high}, "occupancy");
        return true;
    }
    const bool rough = index == 0 || lab->known.fit.error > ROUGH_FIT;
    const double haste = lab->known.hasty ? BY_HASTE : 1;
    const double off = (hidden ? BY_SHAPES : rough ? BY_LUCK : 1) * haste;
    double interval[] = {at, low, high};
    const char *method = "knees";
    fm_hold_to_readings(lab, &fitted, index, interval);
    widen_by(interval, off);
    if (index > 0 && !hidden && (rough || interval[2] > WIDE * interval[1]))
        tell_by_readings(lab, &fitted, index, haste, interval, &method);
    /* Where all misses already, the knee that was fitted is that of another level. */
    if (interval[0] > level->rise_to) {
        fm_undetermined(finding, "its knee is not where the walk rises");
        level->capacity = 0;
        return true;
    }
    report_capacity(lab, index, interval, method);
    /* Others need to see it miss by itself. */
    if (hidden)
        level->capacity = 0;
    return true;
}

/* Finds where the misses of a level begin; its edge is left empty where that cannot be found. */
static bool measure_level(struct fm_lab *lab, size_t index, struct edge *edge, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    *edge = (struct edge){
        .level = index,
        .way = fm_rise_way(lab, index),
        .hit_ns = level->height_ns,
        .miss_ns = (level + 1)->height_ns,
    };
    const double guess = first_guess(lab, level, edge);
    if (guess <= 0)
        return true;
    return find_edge(lab, edge, guess, err);
}

static bool report(struct fm_lab *lab, struct edge *edge, struct fm_error *err)
{
    struct fm_finding *finding = fm_lab_finding(lab, edge->level, "capacity", "B");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (edge->footprints == 0) {
        fm_undetermined(finding, "no footprint could be found where its misses begin");
        return true;
    }
    if (!edge->crossing.inside) {
        fm_undetermined(finding, "the footprint where its misses begin moves between placements");
        return true;
    }
    /* Where the interval has no end among the footprints, it has it with them. */
    const double low = fmin(fmax(edge->crossing.low, edge->bytes[0]), onset(edge));
    const double high = fmin(edge->crossing.high, edge->bytes[edge->footprints - 1]);
    const double at = fmin(edge->crossing.at, onset(edge));
    double interval[] = {at, low, high};
    /* The few placements that an edge is looked for on may be lucky alike, and who else uses an
       outer level does not come and go while that takes place. */
    if (lab->known.scattered && edge->level > 0)
        widen_by(interval, BY_LUCK);
    report_capacity(lab, edge->level, interval, "swept");
    return true;
}

/* Where counters have shown an edge the clock need not search: it looks on either side of it, on
   one placement. If it sees anything else, *agrees is false. */
static bool confirm(struct fm_lab *lab, size_t index, bool *agrees, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_counted *found = fm_lab_counted(lab, (unsigned)index);
    const struct edge edge = {
        .level = index, .hit_ns = level->height_ns, .miss_ns = level[1].height_ns};
    double before, after;
    *agrees = false;
    if (!found || level->blurred || APART * found->high > (double)fm_lab_limit(lab))
        return true;
    /* What is not sharp lies elsewhere on each placement. */
    const double low = found->sharp ? found->bytes : found->low / APART;
    const double high = (found->sharp ? BEYOND : APART) * found->high;
    /* What fits comes first: some policies are long in forgetting what did not. */
    if (!fm_lab_place(lab, (size_t)high, err) || !measure_whole(lab, &edge, low, &before, err) ||
        !measure_whole(lab, &edge, high, &after, err))
        return false;
    *agrees = ratio_of(lab, &edge, low, before) < FM_CAPACITY_MISSES &&
              ratio_of(lab, &edge, high, after) > FM_CAPACITY_MISSES;
    if (*agrees)
        report_capacity(lab, index, (const double[]){found->bytes, low, high}, "swept");
    return true;
}

/* What each placement moves one may show on the wrong side: several are asked. To average over them
   by the clock is what takes longest in a survey, and an event shows it thinly and exactly. */
static bool confirm_on_some(struct fm_lab *lab, size_t index, bool *agrees, struct fm_error *err)
{
    const struct fm_counted *found = fm_lab_counted(lab, (unsigned)index);
    const int most = found && !found->sharp && lab->known.scattered ? SOME : 1;
    *agrees = false;
    for (int i = 0; i < most && !*agrees; i++)
        if (!confirm(lab, index, agrees, err))
            return false;
    return true;
}

/* Where misses set in too steeply for pages, what moves the rise is a policy, to which each order
   is another, or which is not at rest yet. Once it is, the edge is the same on all placements. */
static bool is_sharp_at_rest(struct fm_lab *lab, size_t index, struct edge *edge, bool *yes,
                             struct fm_error *err)
{
    struct fm_fitted fitted;
    fm_lab_fitted(lab, &fitted);
    *yes = false;
    if (!fm_seems_steep(lab, &fitted, index))
        return true;
    if (!measure_level(lab, index, edge, err))
        return false;
    *yes = edge->footprints && edge->crossing.inside &&
           edge->crossing.high < STILL * edge->crossing.low;
    return true;
}

static bool find_capacity(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct edge edge;
    bool agrees, sharp;
    if (!confirm_on_some(lab, index, &agrees, err))
        return false;
    if (agrees)
        return true;
    if (is_soft(lab, index)) {
        if (!is_sharp_at_rest(lab, index, &edge, &sharp, err))
            return false;
        return sharp ? report(lab, &edge, err) : fm_report_fitted(lab, index, err);
    }
    return measure_level(lab, index, &edge, err) && report(lab, &edge, err);
}

/* What comes after this needs to know about how much a level holds: where the clock cannot tell,
   counters may, of the level whose rise is there. */
static void take_counted(struct fm_lab *lab, size_t index)
{
    const struct fm_counted *found = fm_lab_counted(lab, (unsigned)index);
    struct fm_known_level *level = &lab->known.levels[index];
    if (found && !(level->capacity > 0) && found->effective < 2 * level->rise_to &&
        2 * found->effective > level->rise_from)
        level->capacity = found->effective;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    if (lab->known.count < 2) {
        struct fm_finding *finding = fm_result_finding(lab->result, "l1d.capacity", "B");
        if (finding)
            fm_undetermined(finding, "latency does not rise up to the largest footprint measured");
        return true;
    }
    for (size_t i = lab->known.levels[0].capacity > 0 ? 1 : 0; i + 1 < lab->known.count; i++)
        if (!find_capacity(lab, i, err))
            return false;
    for (size_t i = 0; i + 1 < lab->known.count; i++)
        take_counted(lab, i);
    return true;
}

static const char *const properties[] = {"l1d.capacity", NULL};
static const char *const outer_attributes[] = {"capacity", NULL};

const struct fm_probe fm_probe_capacity = {
    .name = "capacity",
    .finds = "the effective capacity of every data cache",
    .needs = "levels,gap,latency",
    .curve = "cache-only",
    .share = 0.1,
    .vital = true,
    .run = run,
    .properties = properties,
    .outer = outer_attributes,
};
