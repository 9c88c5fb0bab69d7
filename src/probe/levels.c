/* Which data caches there are: the walk over all footprints, read into plateaus, and the line of
 * each level, which the walk needs to know to go on outward. */
#include <math.h>
#include <stdio.h>

#include "analysis/apart.h"
#include "analysis/levels.h"
#include "core/units.h"
#include "probe/doubts.h"
#include "probe/first_level.h"
#include "probe/fit.h"
#include "probe/levels.h"
#include "probe/levels_counted.h"
#include "probe/line.h"
#include "probe/placements.h"
#include "probe/probe.h"
#include "probe/split.h"

/* The smallest footprint; the first level is larger on every machine. */
#define SMALLEST 512
/* No line is shorter than this, so the first walk misses none. */
#define SHORTEST_LINE 16
/* Times a footprint that the next one may be. */
#define FARTHER 1.7
/* The unit of a walk that is as long as can be afforded. */
#define UNIT 64
/* Points in a row, half an octave apart, that make a plateau. */
#define PLATEAU    3
#define LOOK_AHEAD 8
/* … and times a footprint that a look must go further, to be worth it. */
#define LEAST_LOOK 2

/* Part of its misses by which shorter units show that a level is fuller than longer ones made it.
 */
#define OVERFULL 0.1

/* Residuals of knees that describe the walk well. */
#define WELL_DESCRIBED 0.9

/* Times that points which contradict others are measured again, in each effort. */
static const int mendings[] = {[FM_QUICK] = 1, [FM_NORMAL] = 3, [FM_THOROUGH] = 3};

/* The footprint the walk goes to before it believes that what it sees is memory. */
static double far_end(const struct fm_lab *lab)
{
    /* Short lines make long walks; and those machines that have them have no large caches. */
    const double end = fm_lab_far_end(lab), most = end / UNIT * (double)lab->walk.unit;
    return fmin(fmin(end, most), (double)fm_lab_limit(lab));
}

static bool same(double a, double b)
{
    return fabs(log(a / b)) < FM_WORTH_A_LOOK;
}

/* How many points in a row, up to the one measured last, show the same latency. */
static unsigned flat_run(const struct fm_walk *walk, double bytes)
{
    unsigned run = 0;
    for (size_t i = walk->count; i-- > 0 && run < PLATEAU;) {
        const struct fm_walk_point *point = &walk->points[i];
        if ((double)point->bytes > bytes)
            continue;
        if (!same(fm_walk_mean(point), fm_walk_at(walk, bytes)))
            break;
        run++;
    }
    return run;
}

/* Whether a footprint is beyond every level that counters know. */
static bool is_beyond_counted(const struct fm_lab *lab, double bytes)
{
    const struct fm_counted *last = fm_lab_last_counted(lab);
    return last && bytes > 2 * last->high;
}

static bool was_measured(const struct fm_walk *walk, double bytes)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->points[i].bytes == (size_t)bytes / walk->unit * walk->unit)
            return true;
    return false;
}

/* How far a look from a footprint can go that is to find nothing changed: to where the first level
   that counters know, of those that it is not beyond, begins to miss. */
static double before_next(const struct fm_lab *lab, double bytes)
{
    double next = INFINITY;
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS; bit++) {
        const struct fm_counted *found = fm_lab_counted(lab, bit);
        if (found && bytes < 2 * found->high)
            next = fmin(next, found->sharp ? found->bytes : found->low / 2);
    }
    return next;
}

/* From a plateau, a look far ahead: where nothing has changed there, nothing lies between. So large
   footprints, which cost most, are measured only where they tell something. */
static bool look_ahead(struct fm_lab *lab, double *bytes, double to, struct fm_error *err)
{
    bool halfway = false;
    while (*bytes < to) {
        /* Behind all that was counted there is most likely nothing: one look at the end will do,
           and one on the way if the latency of memory is measured at less cost there, or the
           TLB's part. */
        const bool beyond = is_beyond_counted(lab, *bytes);
        const bool enough = halfway || fm_is_past_counted(lab, *bytes);
        const double tlbs = fm_walk_behind_tlbs(lab);
        const double most = fmin(before_next(lab, *bytes), *bytes * LOOK_AHEAD);
        if (!beyond && most < *bytes * LEAST_LOOK)
            return true;
        const double ahead = !beyond                                    ? fmin(to, most)
                             : *bytes < tlbs && tlbs * LOOK_AHEAD <= to ? tlbs
                             : enough                                   ? to
                                                                        : sqrt(*bytes * to);
        halfway = beyond;
        const double here = fm_walk_at(&lab->walk, *bytes);
        if (!was_measured(&lab->walk, ahead) &&
            !(beyond ? fm_walk_look(lab, (size_t)ahead, here, NULL, err)
                     : fm_walk_measure(lab, (size_t)ahead, NULL, err)))
            return false;
        if (!same(here, fm_walk_at(&lab->walk, ahead)))
            return true;
        *bytes = ahead;
    }
    return true;
}

/* Half an octave on, or a little more if that is past all that was counted. */
static double next_footprint(const struct fm_lab *lab, double bytes)
{
    const double next = bytes * M_SQRT2, past = ceil(fm_lab_past_counted(lab) / UNIT + 1) * UNIT;
    return next < past && bytes * FARTHER > past ? past : next;
}

static bool ascend(struct fm_lab *lab, double from, double to, struct fm_error *err)
{
    double bytes = from, looked = 0;
    bool was_flat = false, was_past = false;
    for (;;) {
        const double share = log(bytes / from + 1) / log(to / from + 1);
        if (!fm_lab_go_on(lab, 0.4 * share, err) ||
            (!was_measured(&lab->walk, bytes) && !fm_walk_measure(lab, (size_t)bytes, NULL, err)))
            return false;
        /* Beyond all that was counted a look ahead costs less than a plateau. */
        const unsigned plateau = is_beyond_counted(lab, bytes) ? PLATEAU - 1 : PLATEAU;
        const bool flat = flat_run(&lab->walk, bytes) >= plateau;
        const bool past = fm_is_past_counted(lab, bytes);
        /* What a reading has spoiled is looked at again, further on. */
        const bool again = looked > 0 && bytes >= LOOK_AHEAD * looked;
        const bool look = (flat && (!was_flat || again)) || (past && (!was_past || again));
        if (look)
            looked = bytes;
        if (look && !look_ahead(lab, &bytes, to, err))
            return false;
        was_flat = flat;
        was_past = past;
        if (bytes >= to)
            return true;
        bytes = fmin(to, next_footprint(lab, bytes));
    }
}

/* Measures again, a few times at most, the points that a larger footprint undercuts: latency does
   not fall as footprints grow, so something else was at work there. What is steady is so by its
   policy, which may hit again where there are more lines to a set. Goes on for no longer than what
   began at `since` took: where large footprints contradict each other, that takes very long. */
static bool mend(struct fm_lab *lab, double since, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    const double now = lab->machine->ops->elapsed(lab->machine), end = now + (now - since);
    for (int round = 0; round < mendings[lab->options->effort] && !fm_lab_is_late(lab); round++) {
        double least = INFINITY;
        bool mended = false;
        for (size_t i = walk->count; i-- > 0;) {
            const struct fm_walk_point *point = &walk->points[i];
            if (!point->steady && fm_walk_mean(point) > least * (1 + 2 * FM_WORTH_A_LOOK) &&
                lab->machine->ops->elapsed(lab->machine) < end) {
                if (!fm_lab_go_on(lab, 0.6, err) || !fm_walk_mend(lab, i, err))
                    return false;
                mended |= !point->steady;
            }
            least = fmin(least, fm_walk_mean(point));
        }
        if (!mended)
            break;
    }
    return true;
}

static bool walk_outward(struct fm_lab *lab, size_t unit, double from, struct fm_error *err)
{
    lab->walk.unit = unit;
    const double to = far_end(lab);
    fm_walk_cut(&lab->walk, from * 0.99);
    const double since = lab->machine->ops->elapsed(lab->machine);
    return fm_lab_place(lab, (size_t)to, err) && ascend(lab, from, to, err) &&
           mend(lab, since, err);
}

/* Reads the walk into plateaus; keeps what is known of the lines of the first `keep` levels. */
static void read_walk(struct fm_lab *lab, size_t keep)
{
    const struct fm_walk *walk = &lab->walk;
    double bytes[FM_WALK_POINTS], latency[FM_WALK_POINTS], error[FM_WALK_POINTS];
    const size_t n = fm_walk_unpack(walk, bytes, latency, error);
    struct fm_level read[FM_CACHE_LEVELS + 1];
    struct fm_known *known = &lab->known;
    known->count = fm_read_levels(bytes, latency, error, n, read, FM_CACHE_LEVELS + 1);
    known->count = fm_join_close_levels(bytes, latency, n, read, known->count);
    for (size_t i = 0; i < known->count; i++) {
        struct fm_known_level *level = &known->levels[i];
        const struct fm_known_level before = *level;
        *level = (struct fm_known_level){
            .height_ns = read[i].height,
            .height_low = read[i].height_low,
            .height_high = read[i].height_high,
            .flat_from = read[i].flat_from,
            .flat_to = read[i].flat_to,
            .rise_from = isnan(read[i].rise_from) ? 0 : read[i].rise_from,
            .rise_to = isnan(read[i].rise_to) ? 0 : read[i].rise_to,
            .certainty = read[i].certainty,
            .unit = walk->unit,
        };
        if (i < keep) {
            level->line = before.line;
            level->line_certainty = before.line_certainty;
            level->line_bytes = before.line_bytes;
        }
    }
    known->memory_seen = known->count > 0 && known->levels[known->count - 1].rise_from == 0;
    known->far_bytes = walk->count ? (double)walk->points[walk->count - 1].bytes : 0;
    fm_split_counted(lab);
}

/* The first level alone, with units shorter than any line: enough to find its line. */
static bool find_first_line(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    lab->walk = (struct fm_walk){.unit = SHORTEST_LINE};
    const double limit = fmin(far_end(lab), 0x1p22);
    if (!fm_lab_place(lab, (size_t)limit, err))
        return false;
    unsigned above = 0;
    for (double bytes = SMALLEST; bytes <= limit && above < 4; bytes *= M_SQRT2) {
        double ns;
        if (!fm_walk_measure(lab, (size_t)bytes, &ns, err))
            return false;
        /* A miss costs a good part of a hit on any machine; four points in a row are no noise. */
        above = ns > 1.2 * fm_walk_mean(&walk->points[0]) ? above + 1 : 0;
    }
    if (!fm_walk_refine(lab, SMALLEST, limit, err))
        return false;
    read_walk(lab, 0);
    if (lab->known.count < 2)
        return true;
    return fm_find_line(lab, 0, SHORTEST_LINE, err);
}

/* No line is shorter than that of the level inside. */
static size_t line_inside(const struct fm_known_level *level)
{
    return level[-1].line ? level[-1].line : SHORTEST_LINE;
}

/* Looks again for the lines that were not found, or at the wrong place, while the walk was rough,
   and takes away a level that is little faster than the next and does not care how many lines are
   touched: a cache does, but a prefetcher that brings neighbours along, or a TLB's rest, makes
   ledges that do not. */
static bool recheck_lines(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_known *known = &lab->known;
    for (size_t i = 1; i + 1 < known->count;) {
        struct fm_known_level *level = &known->levels[i];
        const bool again =
            !level->line || level->line_certainty < FM_LINE_CERTAIN || fm_line_is_stale(lab, i);
        if (again && !fm_find_line(lab, i, line_inside(level), err))
            return false;
        const bool step =
            i + 2 == known->count || level[1].height_ns > FM_LEAST_STEP * level->height_ns;
        if (step && (level->line || level[1].height_ns > FM_LEDGE * level->height_ns)) {
            i++;
            continue;
        }
        fm_take_level_away(known, i);
    }
    return true;
}

static void publish_curve(struct fm_lab *lab)
{
    struct fm_curve *curve = fm_result_curve(lab->result, "cache-only");
    if (!curve)
        return;
    curve->x = (struct fm_axis){"footprint", "B"};
    curve->y = (struct fm_axis){"latency", "ns"};
    for (size_t i = 0; i < lab->walk.count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[i];
        fm_curve_add(curve, (struct fm_point){.x = (double)point->bytes,
                                              .y = fm_walk_mean(point),
                                              .low = point->low - point->tlb_ns,
                                              .high = point->high - point->tlb_ns});
    }
    for (size_t i = 0; i < lab->known.count && i < FM_CACHE_LEVELS + 2; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        struct fm_step *step = &curve->steps[curve->step_count++];
        step->x = level->rise_from > 0 ? level->rise_from : lab->known.far_bytes;
        step->y = level->height_ns;
        if (i + 1 == lab->known.count)
            snprintf(step->label, sizeof step->label, "memory");
        else
            snprintf(step->label, sizeof step->label, i == 0 ? "l%zud" : "l%zu", i + 1);
    }
}

/* Where a hash chooses sets, units longer than lines leave room in them: a level seems to hold the
   more. Where the address does, and where lines come in pairs, shorter ones take no longer. */
static bool doubt_units(struct fm_lab *lab, struct fm_known_level *level, size_t unit,
                        struct fm_error *err)
{
    double more_ns;
    if (!fm_walk_shorter_cost(lab, level->rise_from, level->line, unit, &more_ns, err))
        return false;
    level->units_too_long = more_ns > OVERFULL * (level[1].height_ns - level->height_ns);
    return true;
}

/* What lines are for a flush; those of the level behind are to be known before. A first level is
   asked where it is alone: behind another, pairs come into that. */
static bool flush_lines(struct fm_lab *lab, struct fm_error *err)
{
    const size_t innermost = lab->known.count > 2 ? 1 : 0;
    for (size_t i = lab->known.count - 1; i-- > innermost;) {
        struct fm_known_level *level = &lab->known.levels[i];
        const size_t shown = level->line, shortest = i > 0 ? line_inside(level) : shown / 2;
        if (!fm_split_line(lab, i, shortest, false, &level->line, err))
            return false;
        level->flushed = level->line != shown;
        if (i > 0 && level->line && level->line < shown && !doubt_units(lab, level, shown, err))
            return false;
    }
    return true;
}

static void report_line(struct fm_lab *lab, size_t index)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    struct fm_finding *finding = fm_lab_finding(lab, index, "line", "B");
    char evidence[48];
    if (!finding)
        return;
    snprintf(evidence, sizeof evidence, "curve:linesize-%zu", index + 1);
    if (level->line && level->line_certainty < FM_LINE_CERTAIN)
        fm_undetermined(finding,
                        "a stripe missed less than all lines would, and more than half of them");
    else if (level->line)
        fm_measured(finding, (double)level->line, (double)level->line, (double)level->line,
                    0.9 + 0.09 * level->line_certainty, level->flushed ? "flush" : "stripes",
                    evidence);
    else
        fm_undetermined(finding, "no stripe width made the difference between miss and hit, or a "
                                 "flush takes out more than that");
}

/* Tells which levels there are, and their lines from one level on. */
static void report(struct fm_lab *lab, size_t from)
{
    publish_curve(lab);
    for (size_t i = from; i + 1 < lab->known.count; i++)
        report_line(lab, i);
}

/* Reads the whole walk. If it seems to rise still at its end, its last points are measured again
   first, and the least counts: what others do with memory shows most there. */
static bool read_to_memory(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_walk *walk = &lab->walk;
    const size_t known_lines = lab->known.count;
    read_walk(lab, known_lines);
    for (int again = 0;
         again < mendings[lab->options->effort] && walk->count > 3 && !lab->known.memory_seen;
         again++) {
        if (!fm_lab_place(lab, walk->points[walk->count - 1].bytes, err))
            return false;
        for (size_t i = walk->count - 3; i < walk->count; i++)
            if (!fm_lab_go_on(lab, 0.9, err) || !fm_walk_mend(lab, i, err))
                return false;
        read_walk(lab, known_lines);
    }
    return true;
}

/* Whether the points beyond a footprint were measured in units of that many bytes. */
static bool beyond_is_in(const struct fm_lab *lab, double bytes, size_t unit)
{
    const struct fm_walk *walk = &lab->walk;
    for (size_t i = 0; i < walk->count; i++)
        if ((double)walk->points[i].bytes > bytes && walk->points[i].unit < unit)
            return false;
    return true;
}

/* Finds the line of a level and walks on beyond it, with units of that line where it is longer. */
static bool resolve(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_known_level *level = &lab->known.levels[index];
    const size_t unit = lab->walk.unit;
    if (!fm_find_line(lab, index, unit, err))
        return false;
    if (level->line <= unit)
        return true;
    /* Counters may have shown the line before, and the walk gone in units of it. */
    if (beyond_is_in(lab, fmax(level->rise_from, level->flat_from), level->line)) {
        lab->walk.unit = level->line;
        return true;
    }
    double from = fmax(level->rise_from / 2, level->flat_from);
    const size_t line = level->line;
    return fm_walk_longer_from(lab, line, &from, err) && walk_outward(lab, line, from, err);
}

/* More points where latency changes. */
static bool refine(struct fm_lab *lab, struct fm_error *err)
{
    const double since = lab->machine->ops->elapsed(lab->machine);
    return fm_walk_refine(lab, SMALLEST, INFINITY, err) && mend(lab, since, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const double since = lab->machine->ops->elapsed(lab->machine);
    if (!find_first_line(lab, err))
        return false;
    struct fm_known *known = &lab->known;
    /* The first level's line only sets the grain of the walk; without it, the common one. */
    const size_t first = known->levels[0].line ? known->levels[0].line : 64;
    lab->walk.count = 0;
    if (!walk_outward(lab, first, SMALLEST, err))
        return false;
    read_walk(lab, 1);
    /* From the inside out: only with the line of a level known can the walk go beyond it. */
    for (size_t i = 1; i + 1 < known->count; i++) {
        if (!fm_lab_go_on(lab, 0.4, err) || !resolve(lab, i, err))
            return false;
        read_walk(lab, i + 1);
    }
    if (!fm_lab_place(lab, (size_t)known->far_bytes, err) || !mend(lab, since, err) ||
        !refine(lab, err) || !fm_repeat_on_fresh_pages(lab, err))
        return false;
    if (!read_to_memory(lab, err))
        return false;
    fm_fit_levels(lab);
    fm_join_counted(lab);
    fm_split_counted(lab);
    if (!fm_doubt_levels(lab, err) || !recheck_lines(lab, err) ||
        !fm_sample_new_beginnings(lab, err))
        return false;
    fm_fit_walk(lab);
    if (known->count > 1 && !flush_lines(lab, err))
        return false;
    report(lab, 0);
    return true;
}

/* A second level that no plateau shows is asked by lines that are steered past the first. */
static bool doubt_second(struct fm_lab *lab, bool *there, struct fm_error *err)
{
    double ns = 0;
    if (lab->known.levels[1].inferred && !fm_second_latency(lab, &ns, err))
        return false;
    *there = !fm_second_is_third(lab, ns);
    return true;
}

/* Looks for one level more, which must make all the difference. */
static bool find_one_more(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known was = lab->known;
    bool there = false;
    fm_fit_levels(lab);
    if (lab->known.count > was.count && !doubt_second(lab, &there, err))
        return false;
    if (!there) {
        lab->known = was;
        return true;
    }
    if (!fm_doubt_levels(lab, err) || !recheck_lines(lab, err) ||
        !fm_sample_new_beginnings(lab, err))
        return false;
    if (lab->known.count <= was.count || !fm_refit_walk(lab, &was, WELL_DESCRIBED)) {
        lab->known = was;
        return true;
    }
    if (!flush_lines(lab, err))
        return false;
    report(lab, 1);
    return true;
}

bool fm_reread_levels(struct fm_lab *lab, const struct fm_known_ways *first, struct fm_error *err)
{
    const struct fm_known was = lab->known;
    if (!was.fit.count)
        return true;
    fm_know_knee(&lab->known.known_knees[0], first);
    fm_fit_walk(lab);
    if ((!lab->known.fit.count || lab->known.fit.error > WELL_DESCRIBED) &&
        !find_one_more(lab, err))
        return false;
    if (!lab->known.fit.count || lab->known.fit.error > fm_fit_allowed(&was.fit))
        lab->known = was;
    return true;
}

static const char *const properties[] = {"l1d.line", NULL};

const struct fm_probe fm_probe_levels = {
    .name = "levels",
    .finds = "which data caches there are, and the line of each",
    .needs = "",
    .curve = "cache-only",
    .share = 0.42,
    .vital = true,
    .run = run,
    .properties = properties,
};
