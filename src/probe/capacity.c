/* Effective capacity: the largest footprint at which at most one reference in twenty of a walk
 * misses the level, expected over page placements. The plateaus on both sides of the rise say what
 * a hit and what a miss take, so each latency in between is a miss ratio. Where the rise is sharp
 * its place is halved down to; where page placement makes it soft, placements are averaged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/capacity.h"
#include "probe/edge.h"
#include "probe/fit.h"
#include "probe/placements.h"
#include "probe/probe.h"

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
/* Readings about a capacity, as far as these, tell whether it was disturbed. */
#define ABOUT 1.3

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
    if (fm_walk_is_spoilt(&lab->walk, low / ABOUT, high * ABOUT)) {
        fm_undetermined(finding,
                        "other work disturbed most readings around where its misses begin");
        return;
    }
    if (high > TOO_WIDE * low) {
        fm_undetermined(finding, "where its misses begin differed too much between readings (page "
                                 "placement, or others who use this cache)");
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
                 "only the range is sure: the edge moves with page placement or with others who "
                 "use this cache");
}

/* Of knees that describe a walk badly many do as well, and lie far apart: the range that readings
   tell alone counts where it is surer, and what knees tell within it. */
static void tell_by_readings(struct fm_lab *lab, const struct fm_fitted *fitted, size_t index,
                             double haste, double interval[3], const char **method)
{
    double told[3];
    if (!fm_crossing_by_readings(lab, fitted, index, told))
        return;
    widen_by(told, haste);
    if (told[2] * interval[1] >= interval[2] * told[1])
        return;
    if (interval[0] > told[1] && interval[0] < told[2])
        told[0] = interval[0];
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
    const double wide = interval[2] / interval[1];
    if (index > 0 && !hidden && (wide > TOO_WIDE || (rough && wide > WIDE)))
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

static bool report(struct fm_lab *lab, struct fm_edge *edge, struct fm_error *err)
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
    const double low = fmin(fmax(edge->crossing.low, edge->bytes[0]), fm_edge_onset(edge));
    const double high = fmin(edge->crossing.high, edge->bytes[edge->footprints - 1]);
    const double at = fmin(edge->crossing.at, fm_edge_onset(edge));
    double interval[] = {at, low, high};
    /* The few placements that an edge is looked for on may be lucky alike, and who else uses an
       outer level does not come and go while that takes place: where pages were not seen to leave
       it where it is, it is no sharp one. */
    if (lab->known.scattered && edge->level > 0 && !fm_rise_stays(lab, edge->level))
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
    const struct fm_edge edge = {
        .level = index, .hit_ns = level->height_ns, .miss_ns = level[1].height_ns};
    double before, after;
    *agrees = false;
    if (!found || level->blurred || APART * found->high > (double)fm_lab_limit(lab))
        return true;
    /* What is not sharp lies elsewhere on each placement. */
    const double low = found->sharp ? found->bytes : found->low / APART;
    const double high = (found->sharp ? BEYOND : APART) * found->high;
    /* What fits comes first: some policies are long in forgetting what did not. */
    if (!fm_lab_place(lab, (size_t)high, err) || !fm_edge_time(lab, &edge, low, &before, err) ||
        !fm_edge_time(lab, &edge, high, &after, err))
        return false;
    *agrees = fm_edge_misses(lab, &edge, low, before) < FM_CAPACITY_MISSES &&
              fm_edge_misses(lab, &edge, high, after) > FM_CAPACITY_MISSES;
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
static bool is_sharp_at_rest(struct fm_lab *lab, size_t index, struct fm_edge *edge, bool *yes,
                             struct fm_error *err)
{
    struct fm_fitted fitted;
    fm_lab_fitted(lab, &fitted);
    *yes = false;
    if (!fm_seems_steep(lab, &fitted, index))
        return true;
    if (!fm_edge_find(lab, index, edge, err))
        return false;
    *yes = edge->footprints && edge->crossing.inside &&
           edge->crossing.high < STILL * edge->crossing.low;
    return true;
}

static bool find_capacity(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_edge edge;
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
    return fm_edge_find(lab, index, &edge, err) && report(lab, &edge, err);
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
