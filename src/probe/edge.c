#include "probe/edge.h"

#include <math.h>
#include <string.h>

#include "probe/fit.h"
#include "probe/lab.h"
#include "probe/walk_ways.h"

#define MANY      4
#define RESAMPLES 200
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
/* Footprints this far from the crossing say nothing of where it is. */
#define NEAR 1.3

/* Where the walk crosses the miss ratio for good, beginning on the level's plateau; 0: nowhere.
   What it crosses before and comes back from is a TLB whose part it was not taken for. */
static double first_guess(const struct fm_lab *lab, const struct fm_known_level *level,
                          const struct fm_edge *edge)
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

double fm_edge_misses(const struct fm_lab *lab, const struct fm_edge *edge, double bytes,
                      double whole_ns)
{
    const double ns =
        whole_ns - fm_walk_tlb_at(&lab->walk, bytes) - fm_fit_beside(lab, edge->level, bytes);
    return (ns - edge->hit_ns) / (edge->miss_ns - edge->hit_ns);
}

bool fm_edge_time(struct fm_lab *lab, const struct fm_edge *edge, double bytes, double *whole_ns,
                  struct fm_error *err)
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
static bool is_near(const struct fm_edge *edge, size_t i)
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
static bool measure_placement(struct fm_lab *lab, struct fm_edge *edge, struct fm_error *err)
{
    double *row = edge->whole_ns[edge->placements];
    for (size_t i = 0; i < FM_EDGE_FOOTPRINTS; i++)
        row[i] = NAN;
    if (!fm_lab_place(lab, (size_t)edge->bytes[edge->footprints - 1], err))
        return false;
    edge->placements++;
    for (size_t i = edge->footprints; i-- > 0;)
        if (is_near(edge, i) && !fm_edge_time(lab, edge, edge->bytes[i], &row[i], err))
            return false;
    return true;
}

/* The more readings there are around it the better the TLB's part in the first ones is known. */
static void tell_ratios(const struct fm_lab *lab, struct fm_edge *edge)
{
    for (size_t p = 0; p < edge->placements; p++)
        for (size_t i = 0; i < edge->footprints; i++)
            edge->ratio[p][i] = fm_edge_misses(lab, edge, edge->bytes[i], edge->whole_ns[p][i]);
}

static bool locate(const struct fm_lab *lab, struct fm_edge *edge, uint64_t seed,
                   struct fm_error *err)
{
    double packed[FM_EDGE_PLACEMENTS * FM_EDGE_FOOTPRINTS];
    tell_ratios(lab, edge);
    for (size_t p = 0; p < edge->placements; p++)
        memcpy(&packed[p * edge->footprints], edge->ratio[p], edge->footprints * sizeof packed[0]);
    const struct fm_placements data = {edge->bytes, edge->footprints, packed, edge->placements};
    if (!fm_find_crossing(&data, FM_CAPACITY_MISSES, 0.99, RESAMPLES, seed, &edge->crossing))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to find a crossing");
    return true;
}

static double mean_ratio(const struct fm_edge *edge, size_t footprint)
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
static size_t after_crossing(const struct fm_edge *edge)
{
    size_t i = 1;
    while (i + 1 < edge->footprints && edge->bytes[i] < edge->crossing.at)
        i++;
    return i;
}

/* One more footprint before the one at index `at`, measured on the placement that is there. */
static bool insert(struct fm_lab *lab, struct fm_edge *edge, size_t at, double bytes,
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
    if (!fm_edge_time(lab, edge, edge->bytes[at], &edge->whole_ns[edge->placements - 1][at], err))
        return false;
    tell_ratios(lab, edge);
    return true;
}

/* Widens the footprints until the crossing lies among them. */
static bool reach_crossing(struct fm_lab *lab, struct fm_edge *edge, double limit,
                           struct fm_error *err)
{
    for (int i = 0; i < 8 && edge->footprints < FM_EDGE_FOOTPRINTS; i++) {
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

static bool narrow(struct fm_lab *lab, struct fm_edge *edge, struct fm_error *err)
{
    const uint64_t seed = fm_lab_seed(lab);
    while (edge->footprints < FM_EDGE_FOOTPRINTS) {
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
static size_t last_without_misses(const struct fm_edge *edge)
{
    for (size_t i = after_crossing(edge); i-- > 0;)
        if (edge->bytes[i] * SHARP_RISE < edge->crossing.at)
            break;
        else if (mean_ratio(edge, i) < NO_MISSES * FM_CAPACITY_MISSES)
            return i;
    return SIZE_MAX;
}

/* Halves down to where the misses of a sharp rise begin. */
static bool narrow_onset(struct fm_lab *lab, struct fm_edge *edge, struct fm_error *err)
{
    for (int i = 0; i < 3 && edge->footprints < FM_EDGE_FOOTPRINTS; i++) {
        const size_t none = last_without_misses(edge);
        if (none == SIZE_MAX || edge->bytes[none + 1] < edge->bytes[none] * SHARP ||
            edge->bytes[none + 1] - edge->bytes[none] < 2 * (double)lab->walk.unit)
            return true;
        if (!insert(lab, edge, none + 1, sqrt(edge->bytes[none] * edge->bytes[none + 1]), err))
            return false;
    }
    return true;
}

double fm_edge_onset(const struct fm_edge *edge)
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

static bool find_edge(struct fm_lab *lab, struct fm_edge *edge, double guess, struct fm_error *err)
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
    const size_t most = (size_t)fmin(fmax(affordable, (double)few), FM_EDGE_PLACEMENTS);
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

bool fm_edge_find(struct fm_lab *lab, size_t index, struct fm_edge *edge, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    *edge = (struct fm_edge){
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
