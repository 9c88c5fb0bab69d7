/* Load-to-use latency of every level: the walk at the flattest place of its plateau, on fresh
 * placements. */
#include <math.h>
#include <stdio.h>

#include "analysis/median.h"
#include "probe/cycle.h"
#include "probe/first_level.h"
#include "probe/fit.h"
#include "probe/mixture.h"
#include "probe/probe.h"
#include "probe/served.h"

#define PLACEMENTS 3
/* Times that the first level is measured because the clock has changed. */
#define MOST_CHANGES 4
/* Places of a plateau that are looked at, at the most. */
#define MOST_PLACES 3
/* Bytes of a large footprint. */
#define LARGE (1u << 24)
/* What readings of one plateau differ by when something else is at work. */
#define MOVED 0.05
/* What two good surveys of one machine differ by: clock grain, frequency, rounding of laps; and as
   much more for each level further out, which the more others take their turns at. */
#define LEAST_WIDTH 0.01
/* … and by lines that miss the first level, of which few may hit after all. */
#define STEERED 0.025
/* What a plateau may differ from the fit and still pass for flat. */
#define BLURRED 0.03
/* Residuals, in errors of readings, of knees that describe the walk well. */
#define WELL_DESCRIBED 0.9
/* What an octave's distance from the middle counts for, as a change of latency. */
#define ALIKE 0.005
/* Times what the last counted level holds at which memory serves most. */
#define MOSTLY 2.5
/* Points of the walk are no further apart than this. */
#define ALMOST 1.5
/* The change of a plateau over half an octave that is none. */
#define FLAT 0.02
/* A third of an octave. */
#define SIDE 1.25
/* No level takes so nearly as long as the next. */
#define LEAST_STEP 1.12

static double change(const struct fm_walk *walk, double from, double to)
{
    return fabs(log(fm_walk_at(walk, to) / fm_walk_at(walk, from)));
}

/* How much the walk changes over two thirds of an octave around a footprint, or up to it, or from
   it on: what is flat on one side is not by chance, while between two points of the walk a rise at
   the second shows before it begins. */
static double change_at(const struct fm_walk *walk, double bytes)
{
    const double wide = SIDE * SIDE;
    double least = change(walk, bytes / SIDE, bytes * SIDE);
    if (bytes / wide >= (double)walk->points[0].bytes)
        least = fmin(least, change(walk, bytes / wide, bytes));
    if (bytes * wide <= (double)walk->points[walk->count - 1].bytes)
        least = fmin(least, change(walk, bytes, bytes * wide));
    return least;
}

/* The footprint of a plateau, beyond another, around which the walk changes least. Of equally flat
   ones that in the middle, furthest from what its neighbours do there; and none of memory's below
   it, which a last cache may hold when others leave it. */
static size_t flattest(const struct fm_walk *walk, const struct fm_known_level *level, bool memory,
                       double beyond, double *steepness)
{
    const double middle = sqrt(level->flat_from * level->flat_to);
    const double from = memory ? fmax(level->flat_from, middle / ALMOST) : level->flat_from;
    size_t best = 0;
    double least = INFINITY;
    *steepness = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes < from || bytes > level->flat_to || bytes <= beyond)
            continue;
        const double changes = change_at(walk, bytes);
        const double off = changes + ALIKE * fabs(log2(bytes / middle));
        if (off < least) {
            least = off;
            *steepness = changes;
            best = walk->points[i].bytes;
        }
    }
    return best;
}

/* The first footprint of memory's that is past all levels which counters know; 0: none is. */
static size_t first_past(const struct fm_lab *lab, const struct fm_known_level *memory)
{
    double past = fm_lab_past_counted(lab);
    /* What the last of them still serves of it is counted, too. */
    if (fm_levels_are_fairly_counted(lab))
        past = fmin(past, MOSTLY * fm_lab_last_counted(lab)->high);
    for (size_t i = 0; i < lab->walk.count; i++) {
        const double bytes = (double)lab->walk.points[i].bytes;
        if (bytes >= fmax(past, memory->flat_from))
            return lab->walk.points[i].bytes;
    }
    return 0;
}

/* The walk described with the flattest place of a plateau taken at its word. Knees with long tails
   can make any place seem lower than its level, whose neighbours inside would still serve a part;
   where others say the same without that, within the errors of readings, they are believed. */
static bool take_at_its_word(struct fm_lab *lab, const struct fm_known_level *level, size_t index)
{
    const struct fm_known was = lab->known;
    lab->known.given_ns[index] = level->height_ns;
    return fm_refit_walk(lab, &was, WELL_DESCRIBED);
}

static double least_width(size_t index)
{
    return LEAST_WIDTH * (double)(1 + index);
}

/* A plateau that its neighbours blur stands higher or lower than it would by itself. */
static void unblur(struct fm_lab *lab, struct fm_known_level *level, size_t index)
{
    struct fm_fitted fitted;
    double ns, low, high;
    fm_lab_fitted(lab, &fitted);
    if (!fm_fitted_height(&fitted, index, &ns, &low, &high))
        return;
    /* Memory takes no less than what it serves together with caches, if nothing else was at work.
     */
    const double least = index + 1 < lab->known.count ? 0 : level->height_low * (1 - MOVED);
    level->height_low = fmax(fmin(level->height_low, low * (1 - least_width(index))), least);
    level->height_high = fmax(level->height_high, high * (1 + least_width(index)));
    if (fabs(ns / level->height_ns - 1) < BLURRED)
        return;
    level->blurred = true;
    if (ns < level->height_ns || !take_at_its_word(lab, level, index))
        level->height_ns = ns;
    fm_lab_fitted(lab, &fitted);
    level->hidden = fm_fitted_blur(&fitted, index);
}

/* A second level needs no plateau where lines can be steered past the first. */
static bool measure_second(struct fm_lab *lab, struct fm_known_level *level, struct fm_error *err)
{
    double ns;
    if (!fm_second_latency(lab, &ns, err))
        return false;
    if (ns == 0 || (level->inferred ? fm_second_is_third(lab, ns) : ns >= level[1].height_ns)) {
        unblur(lab, level, 1);
        return true;
    }
    level->height_ns = lab->known.given_ns[1] = ns;
    level->height_low = ns * (1 - STEERED);
    level->height_high = ns * (1 + STEERED);
    level->blurred = true;
    level->inferred = false;
    fm_fit_walk(lab);
    return true;
}

/* Placements to measure a plateau on. Pages that lie well differ from others by what falls into a
   cache, which is little of a large footprint, and nothing of memory's past all levels that were
   counted, nor of what fits into a level wherever it lies. */
static unsigned placements_of(const struct fm_lab *lab, size_t index, size_t bytes, bool past)
{
    const bool memory = index + 1 == lab->known.count;
    const struct fm_counted *own = memory ? NULL : fm_lab_counted(lab, (unsigned)index);
    if (own && (double)bytes < (own->sharp ? own->bytes : own->low / 2))
        return 1;
    return bytes > LARGE || past ? 1 : PLACEMENTS;
}

/* What one place of a plateau took, on one placement after another. */
struct readings {
    double of[PLACEMENTS], low, high, sum;
    unsigned count;
    double walk; /* and in the walk */
};

static bool read_place(struct fm_lab *lab, size_t index, size_t bytes, unsigned placements,
                       struct fm_mixtures *mixtures, struct readings *readings,
                       struct fm_error *err)
{
    *readings = (struct readings){.low = INFINITY, .walk = fm_walk_at(&lab->walk, (double)bytes)};
    while (readings->count < placements) {
        double *ns = &readings->of[readings->count++];
        if (!fm_lab_place(lab, bytes, err) || !fm_walk_measure_well(lab, bytes, ns, err))
            return false;
        /* Others serve a part, which is another for each placement. */
        if (index > 0 && !fm_mixtures_take(lab, index, bytes, *ns, mixtures, err))
            return false;
        if (mixtures->has[index])
            return true;
        readings->sum += *ns;
        readings->low = fmin(readings->low, *ns);
        readings->high = fmax(readings->high, *ns);
        /* One alone must be what the walk had there. */
        if (fabs(*ns / readings->walk - 1) > MOVED)
            placements = PLACEMENTS;
    }
    return true;
}

/* The levels inside serve a part on most of these pages, though not on those of the walk: where a
   hash chooses sets, lines of longer units may leave some of them to few. */
static bool are_low(struct readings *readings)
{
    return fm_median(readings->of, readings->count) < readings->walk * (1 - MOVED);
}

/* Without a flat plateau it is told by counts, if there are any. */
static bool measure(struct fm_lab *lab, size_t index, struct fm_mixtures *mixtures,
                    struct fm_error *err)
{
    struct fm_known_level *level = &lab->known.levels[index];
    double steepness = 0, further;
    const bool memory = index + 1 == lab->known.count;
    const size_t past = memory ? first_past(lab, level) : 0;
    size_t bytes = past ? past : flattest(&lab->walk, level, memory, 0, &steepness);
    const bool flat = bytes && steepness <= FLAT;
    if (!flat && !fm_mixtures_add(lab, index, mixtures, err))
        return false;
    if (mixtures->has[index])
        return true;
    if (!bytes)
        return index != 1 || measure_second(lab, level, err);
    struct readings readings = {.count = 0};
    for (int places = 0; bytes && places < MOST_PLACES; places++) {
        const unsigned placements = placements_of(lab, index, bytes, past > 0);
        if (!read_place(lab, index, bytes, placements, mixtures, &readings, err))
            return false;
        if (mixtures->has[index])
            return true;
        if (index == 0 || !flat || !are_low(&readings))
            break;
        bytes = flattest(&lab->walk, level, memory, (double)bytes, &further);
    }
    const double low = readings.low, high = readings.high;
    const double height = index == 0                 ? low
                          : high > low * (1 + MOVED) ? fm_median(readings.of, readings.count)
                                                     : readings.sum / readings.count;
    /* The walk came there at another time, and found it as it was then. */
    const double then = flat && index > 0 ? readings.walk : height;
    level->height_ns = height;
    level->height_low = fmin(low, fmin(height, then)) * (1 - least_width(index));
    level->height_high = fmax(high, fmax(height, then)) * (1 + least_width(index));
    if (flat)
        return true;
    if (index == 1)
        return measure_second(lab, level, err);
    unblur(lab, level, index);
    return true;
}

/* A core changes its clock within a survey, and more so at its beginning: the first level and the
   cycle are measured side by side, until neither has changed meanwhile. */
static bool measure_first(struct fm_lab *lab, struct fm_mixtures *mixtures, struct fm_error *err)
{
    bool changed;
    if (!fm_cycle_keep_up(lab, &changed, err))
        return false;
    for (int i = 0; i < MOST_CHANGES; i++) {
        if (!measure(lab, 0, mixtures, err) || !fm_cycle_keep_up(lab, &changed, err))
            return false;
        if (!changed)
            break;
    }
    return true;
}

/* Under heavy interference what was taken out for the TLB may be more than was there. */
static const char disturbed[] = "readings contradict each other: other work disturbed them";

static const char hidden[] =
    "at no footprint do the levels around it leave enough of it to be seen";

static bool is_possible(const struct fm_known *known, size_t index)
{
    const struct fm_known_level *level = &known->levels[index];
    return level->height_ns > (index ? level[-1].height_ns : 0);
}

static void report(struct fm_lab *lab, size_t index)
{
    const struct fm_known *known = &lab->known;
    const struct fm_known_level *level = &known->levels[index];
    struct fm_finding *ns = fm_lab_finding(lab, index, "latency", "ns");
    if (!ns)
        return;
    if (index + 1 == known->count && !known->memory_seen) {
        fm_undetermined(ns, "latency still rises at the largest footprint measured");
    } else if (!is_possible(known, index)) {
        fm_undetermined(ns, disturbed);
    } else if (fm_level_is_hidden(level)) {
        fm_undetermined(ns, hidden);
    } else {
        fm_measured(ns, level->height_ns, level->height_low, level->height_high,
                    0.9 * level->certainty + 0.09, "swept", "curve:cache-only");
    }
    const struct fm_finding same = *ns;
    struct fm_finding *cycles = fm_lab_finding(lab, index, "latency_cycles", "cycles");
    if (!cycles)
        return;
    if (known->cycle_ns <= 0)
        fm_undetermined(cycles, "the cycle time is not known");
    else if (same.status != FM_MEASURED)
        fm_undetermined(cycles, same.note);
    else
        fm_measured(cycles, level->height_ns / known->cycle_ns,
                    level->height_low / known->cycle_high, level->height_high / known->cycle_low,
                    same.confidence, "swept", "curve:cache-only");
}

static void report_miss(struct fm_lab *lab, size_t index)
{
    const struct fm_known *known = &lab->known;
    const struct fm_known_level *here = &known->levels[index], *next = here + 1;
    struct fm_finding *miss = fm_lab_finding(lab, index, "miss_latency", "ns");
    if (!miss)
        return;
    if (index + 2 == known->count && !known->memory_seen)
        fm_undetermined(miss, "latency still rises at the largest footprint measured");
    else if (!is_possible(known, index) || !is_possible(known, index + 1))
        fm_undetermined(miss, disturbed);
    else if (fm_level_is_hidden(here) || fm_level_is_hidden(next))
        fm_undetermined(miss, hidden);
    else
        fm_measured(miss, next->height_ns - here->height_ns, next->height_low - here->height_high,
                    next->height_high - here->height_low, 0.9 * next->certainty + 0.09, "swept",
                    "curve:cache-only");
}

/* A level that was faster than the next when the walk came there, and is not now: others have
   driven out what it held, and what was read is of the next. */
static void doubt_alike(struct fm_known *known)
{
    for (size_t i = 1; i + 1 < known->count; i++)
        if (known->levels[i].height_ns * LEAST_STEP > known->levels[i + 1].height_ns)
            known->levels[i].hidden = 1;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const size_t count = lab->known.count;
    struct fm_mixtures mixtures = {.has = {false}};
    if (count < 2)
        return true;
    if (!measure_first(lab, &mixtures, err))
        return false;
    for (size_t i = 1; i < count; i++)
        if (!fm_lab_go_on(lab, (double)i / (double)count, err) || !measure(lab, i, &mixtures, err))
            return false;
    fm_mixtures_solve(lab, &mixtures);
    doubt_alike(&lab->known);
    for (size_t i = 0; i < count; i++)
        report(lab, i);
    for (size_t i = 0; i + 1 < count; i++)
        report_miss(lab, i);
    return true;
}

static const char *const properties[] = {"l1d.latency",           "l1d.latency_cycles",
                                         "l1d.miss_latency",      "memory.latency",
                                         "memory.latency_cycles", NULL};
static const char *const outer_attributes[] = {"latency", NULL};

const struct fm_probe fm_probe_latency = {
    .name = "latency",
    .finds = "load-to-use latency of every level and of memory",
    .needs = "cycle,levels,gap",
    .share = 0.1,
    .vital = true,
    .run = run,
    .properties = properties,
    .outer = outer_attributes,
};
