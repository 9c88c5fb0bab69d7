#include "probe/fit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "probe/lab.h"
#include "probe/placements.h"

/* Residuals, in standard errors, above which knees do not describe the walk. */
#define POOR_FIT 2.5
/* Relative error of any reading. */
#define CLOCK_ERROR 0.008
/* What a knee is made of: capacity, ways, height. */
#define PARAMETERS 3
/* A level whose plateau is longer than this is one beyond doubt. */
#define SHORT 2
/* Residuals above which knees may describe the walk better, and above which they do so badly; and
   how much better they must do then to be believed to be one more, and how much otherwise. */
#define GOOD_FIT       0.9
#define BAD_FIT        1.2
#define MUCH_BETTER    1.5
#define FAR_BETTER     2
#define ALL_THE_BETTER 3
/* … what free knees may follow of luck with pages that others do not, unless it is badly … */
#define MUCH_WORSE   2
#define LITTLE_WORSE 1.1
/* … how much slower than the one before, and how many times as large: of two that lie closer
   together than levels do, one makes up for the other's shape. */
#define STEP        1.3
#define LARGER_THAN 2.5

/* How much better a knee of contiguous pages must do where placements seem to move it. */
#define CLEARLY 1.1

/* Around a crossing, and standard errors to be sure. */
#define NEAR 1.25
#define SURE 1.5
/* Times a miss ratio, to see how steep it is there. */
#define DOUBLE 2
/* What the shapes of knees can be off by. */
#define SHAPES 0.12
/* … and where sets and ways are known. */
#define KNOWN_SHAPES 1.05
/* Times what the level inside holds that this keeps nothing of. */
#define BEYOND 1.5

/* How steep the walk is from one point to the next. */
static double slope_after(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *a = &walk->points[i], *b = a + 1;
    return fabs(log(fm_walk_mean(b) / fm_walk_mean(a))) / log((double)b->bytes / (double)a->bytes);
}

/* The relative standard error of a point. Luck with pages moves a knee: by about the root of the
   number of pages, which moves latency by as much as the walk is steep around there. */
static double error_of(const struct fm_walk *walk, size_t i, double page)
{
    const struct fm_walk_point *point = &walk->points[i];
    double slope = 0;
    for (size_t j = i > 1 ? i - 2 : 0; j < i + 2 && j + 1 < walk->count; j++)
        slope = fmax(slope, slope_after(walk, j));
    const double pages = fmax(1, (double)point->bytes / page);
    return hypot(hypot(CLOCK_ERROR, fm_walk_tlb_error(point)),
                 slope / sqrt(pages * point->placements));
}

void fm_fitted_load(struct fm_fitted *fitted, const struct fm_walk *walk,
                    const struct fm_knee_fit *fit, size_t page)
{
    *fitted = (struct fm_fitted){.walk = walk, .fit = fit};
    const size_t n = fm_walk_unpack(walk, fitted->bytes, fitted->latency, NULL);
    for (size_t i = 0; i < n; i++)
        fitted->error[i] = error_of(walk, i, (double)page);
    fitted->curve = (struct fm_knee_curve){.bytes = fitted->bytes,
                                           .latency = fitted->latency,
                                           .error = fitted->error,
                                           .n = n,
                                           .page = (double)page};
}

void fm_lab_fitted(const struct fm_lab *lab, struct fm_fitted *fitted)
{
    fm_fitted_load(fitted, &lab->walk, &lab->known.fit, lab->machine->info.page_size);
    memcpy(fitted->curve.given, lab->known.given_ns, sizeof lab->known.given_ns);
    memcpy(fitted->curve.known, lab->known.known_knees, sizeof lab->known.known_knees);
}

/* Half way up the rise after a level. */
static double middle_of_rise(const struct fm_walk *walk, const struct fm_known_level *level)
{
    const double half = (level->height_ns + (level + 1)->height_ns) / 2;
    for (size_t i = 0; i < walk->count; i++)
        if ((double)walk->points[i].bytes > level->flat_from &&
            fm_walk_mean(&walk->points[i]) >= half)
            return (double)walk->points[i].bytes;
    return level->rise_to;
}

/* Rough places of the knees; returns how many there are. */
static size_t find_places(const struct fm_lab *lab, struct fm_knee_place places[FM_KNEES])
{
    const struct fm_known *known = &lab->known;
    if (!known->scattered || known->count < 2 || !known->memory_seen)
        return 0;
    /* Placements rarely move a first level; what shows in its rise may be the second's. */
    for (size_t i = 0; i + 1 < known->count; i++)
        places[i] = (struct fm_knee_place){middle_of_rise(&lab->walk, &known->levels[i]),
                                           i > 0 && fm_rise_is_soft(lab, i)};
    return known->count - 1;
}

/* Placements that move the next level may seem to move this one, where that begins to miss before
   this one does. A sharp knee is believed where it describes the walk clearly better. */
static void doubt_softness(const struct fm_fitted *data, struct fm_knee_place *places, size_t count,
                           struct fm_knee_fit *fit)
{
    for (size_t i = 1; i + 1 < count; i++) {
        struct fm_knee_fit sharp;
        if (!places[i].soft)
            continue;
        places[i].soft = false;
        const bool good = fm_fit_knees(&data->curve, places, count, &sharp);
        if (good && sharp.error * CLEARLY < fit->error)
            *fit = sharp;
        else
            places[i].soft = true;
    }
}

void fm_fit_walk(struct fm_lab *lab)
{
    struct fm_knee_fit *fit = &lab->known.fit;
    struct fm_knee_place places[FM_KNEES];
    struct fm_fitted data;
    const size_t count = find_places(lab, places);
    fm_lab_fitted(lab, &data);
    if (!fm_fit_knees(&data.curve, places, count, fit)) {
        fit->count = 0;
        return;
    }
    doubt_softness(&data, places, count, fit);
    if (fit->error > POOR_FIT)
        fit->count = 0;
}

bool fm_refit_walk(struct fm_lab *lab, const struct fm_known *was, double worst)
{
    fm_fit_walk(lab);
    if (lab->known.fit.count && lab->known.fit.error < worst)
        return true;
    lab->known = *was;
    return false;
}

double fm_fit_allowed(const struct fm_knee_fit *before)
{
    return fmax(LITTLE_WORSE * before->error, fmin(BAD_FIT, MUCH_WORSE * before->error));
}

/* How much better a fit must be than one that is no bad one, to be believed to have found a level
   more. Before memory none is: who shares the last level with us gives its rise a shape that is no
   knee's. */
static double better_than(const struct fm_knee_fit *fit, double if_bad, bool last)
{
    return fit->error > BAD_FIT ? if_bad : last ? INFINITY : FAR_BETTER;
}

/* Whether more knees describe a curve better than chance would have it (the Bayesian information
   criterion). Where fewer describe it as well as its errors allow, more may follow the errors,
   which neighbours share, unless they do far better. */
static bool is_worth_it(const struct fm_knee_fit *more, const struct fm_knee_fit *fewer, size_t n,
                        bool last)
{
    return fewer->error > better_than(fewer, 1, last) * more->error &&
           2 * (double)n * log(fewer->error / more->error) > PARAMETERS * log((double)n);
}

/* Whether a level may be a ledge on a rise that placements move. Where nearly all misses already
   they move it no more: its upper half alone can look sharp. */
static bool is_on_a_soft_rise(const struct fm_lab *lab, size_t level)
{
    return fm_rise_is_soft(lab, level) || fm_rise_is_soft(lab, level - 1);
}

/* Takes one level away if the walk is described as well without it. The first and memory stay. */
static bool try_one_less(struct fm_lab *lab, const struct fm_fitted *data,
                         const struct fm_knee_place *places, size_t count, struct fm_knee_fit *fit)
{
    struct fm_knee_fit best = {.error = INFINITY};
    size_t least = 0;
    for (size_t i = 1; i < count; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        if (level[1].height_ns > FM_LEDGE * level->height_ns ||
            level->flat_to > SHORT * level->flat_from || !is_on_a_soft_rise(lab, i))
            continue;
        struct fm_knee_place rest[FM_KNEES];
        struct fm_knee_fit one;
        memcpy(rest, places, i * sizeof rest[0]);
        memcpy(rest + i, places + i + 1, (count - i - 1) * sizeof rest[0]);
        if (fm_fit_knees(&data->curve, rest, count - 1, &one) && one.error < best.error) {
            best = one;
            least = i;
        }
    }
    if (least == 0 || is_worth_it(fit, &best, data->curve.n, least + 1 == count))
        return false;
    fm_take_level_away(&lab->known, least);
    *fit = best;
    return true;
}

/* A rise taken for two: the places of all knees then, and roughly how well they fit. */
struct split {
    struct fm_knee_place places[FM_KNEES];
    size_t index;
    double error;
};

/* Keeps the better of what it is given and the best way to take the rise at `index` for two. */
static void split_rise(const struct fm_fitted *data, const struct fm_knee_place *places,
                       size_t count, size_t index, struct split *best)
{
    static const double apart[][2] = {{8, 1}, {4, 1}, {2, 1}, {8, 1.5}, {4, 1.5}, {2, 1.5}};
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        struct split one = {.index = index};
        struct fm_knee_fit fit;
        memcpy(one.places, places, index * sizeof one.places[0]);
        /* A first level is rarely one that placements move. */
        one.places[index] = (struct fm_knee_place){places[index].bytes / apart[i][0], index > 0};
        one.places[index + 1] = (struct fm_knee_place){places[index].bytes * apart[i][1], true};
        memcpy(one.places + index + 2, places + index + 1,
               (count - index - 1) * sizeof one.places[0]);
        if (!fm_fit_knees_roughly(&data->curve, one.places, count + 1, &fit))
            continue;
        one.error = fit.error;
        if (one.error < best->error)
            *best = one;
    }
}

/* Whether a level lies so far behind the one inside that it is another. Where it makes all the
   difference it is enough that its misses begin far behind. */
static bool is_far_behind(const struct fm_knee_fit *more, size_t inside,
                          const struct fm_knee_fit *fewer)
{
    if (more->knees[inside + 1].capacity >= LARGER_THAN * more->knees[inside].capacity)
        return true;
    return more->error * ALL_THE_BETTER < fewer->error &&
           fm_fit_crossing(more, inside + 1, FM_CAPACITY_MISSES) >=
               LARGER_THAN * fm_fit_crossing(more, inside, FM_CAPACITY_MISSES);
}

/* Adds a level if the walk is badly described without, and well with it. */
static bool try_one_more(struct fm_lab *lab, const struct fm_fitted *data,
                         const struct fm_knee_place *places, size_t count, struct fm_knee_fit *fit)
{
    struct split best = {.error = INFINITY};
    struct fm_knee_fit more;
    if (fit->error < GOOD_FIT || count + 1 > FM_KNEES || lab->known.count > FM_CACHE_LEVELS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (fm_rise_is_soft(lab, i))
            split_rise(data, places, count, i, &best);
    if (isinf(best.error) || !fm_fit_knees(&data->curve, best.places, count + 1, &more) ||
        more.error * better_than(fit, MUCH_BETTER, best.index + 1 == count) > fit->error ||
        !is_far_behind(&more, best.index, fit) ||
        more.heights[best.index + 1] < more.heights[best.index] * STEP ||
        more.heights[best.index + 2] < more.heights[best.index + 1] * STEP)
        return false;
    const struct fm_knee *knees = &more.knees[best.index];
    fm_add_level(&lab->known, best.index + 1, sqrt(knees[0].capacity * knees[1].capacity),
                 more.heights[best.index + 1]);
    *fit = more;
    return true;
}

void fm_fit_levels(struct fm_lab *lab)
{
    struct fm_knee_place places[FM_KNEES];
    struct fm_fitted data;
    struct fm_knee_fit fit;
    size_t count = find_places(lab, places);
    fm_lab_fitted(lab, &data);
    if (!fm_fit_knees(&data.curve, places, count, &fit))
        return;
    while (try_one_less(lab, &data, places, count, &fit))
        count = find_places(lab, places);
    while (try_one_more(lab, &data, places, count, &fit))
        count = find_places(lab, places);
}

double fm_steepness(const struct fm_fitted *fitted, size_t level, double at, double misses)
{
    const struct fm_knee_fit *fit = fitted->fit;
    const struct fm_knee *knee = &fit->knees[level];
    const double here =
        log(fm_fit_misses(fit, level, at * NEAR) / fm_fit_misses(fit, level, at / NEAR)) /
        (2 * log(NEAR));
    /* Of many colours, or sets: few pages may be lucky on all placements that were tried, and then
       seem to begin to miss all at once. */
    const double by_chance =
        log(DOUBLE * DOUBLE) / log(fm_occupancy_load(misses * DOUBLE, knee->ways) /
                                   fm_occupancy_load(misses / DOUBLE, knee->ways));
    const bool moves = fit->soft[level] || knee->shape == FM_KNEE_PAGES;
    return moves ? fmin(here, by_chance) : here;
}

/* Misses come in groups, a set's worth of lines or a colour's worth of pages at a time, so that few
   groups were seen where few references miss. And neighbours on the machine come and go: that shows
   in how much readings differ. */
double fm_luck(const struct fm_fitted *fitted, size_t level, double at, double misses)
{
    const struct fm_walk *walk = fitted->walk;
    const struct fm_knee *knee = &fitted->fit->knees[level];
    const double *heights = fitted->fit->heights;
    double drawn = 1, error = 0, count = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        const double bytes = (double)point->bytes;
        const double piece =
            knee->shape == FM_KNEE_PAGES ? fitted->curve.page : (double)point->unit;
        if (bytes < at / NEAR || bytes > at * NEAR)
            continue;
        drawn = fmax(drawn, point->placements * bytes / piece);
        error += fm_walk_error(point) * fm_walk_mean(point);
        count++;
    }
    const double groups = sqrt(knee->ways / (misses * drawn));
    const double seen = error / fmax(count, 1) / ((heights[level + 1] - heights[level]) * misses);
    return fmax(groups, seen) / fm_steepness(fitted, level, at, misses);
}

bool fm_fitted_is_sized(const struct fm_fitted *fitted, size_t level)
{
    const struct fm_knee_fit *fit = fitted->fit;
    const struct fm_known_knee *known = &fitted->curve.known[level];
    return fit->count && level > 0 && known->capacity > 0 &&
           fm_fit_crossing(fit, level, FM_CAPACITY_MISSES) >
               BEYOND * fit->knees[level - 1].capacity;
}

/* What sets and ways say of a footprint is no matter of luck; but of which policy a level is, and
   whether it is inclusive, may not show. */
static void range_of_choices(const struct fm_fitted *fitted, size_t level, double misses,
                             double *low, double *high)
{
    const struct fm_known_knee *known = &fitted->curve.known[level];
    struct fm_knee_fit other = *fitted->fit;
    for (size_t i = 0; i < 2 * known->count; i++) {
        const struct fm_knee *choice = &known->choices[i / 2];
        if (choice->shape != fitted->fit->knees[level].shape)
            continue;
        other.knees[level] = *choice;
        other.knees[level].capacity = known->capacity;
        other.inclusive[level] = i % 2;
        const double at = fm_fit_crossing(&other, level, misses);
        *low = fmin(*low, at / KNOWN_SHAPES);
        *high = fmax(*high, at * KNOWN_SHAPES);
    }
}

bool fm_fitted_crossing(const struct fm_fitted *fitted, size_t level, double misses, double *at,
                        double *low, double *high)
{
    if (fitted->fit->count == 0)
        return false;
    *at = fm_fit_crossing(fitted->fit, level, misses);
    if (!fm_knee_crossing_range(&fitted->curve, fitted->fit, level, misses, low, high))
        return false;
    if (fm_fitted_is_sized(fitted, level)) {
        range_of_choices(fitted, level, misses, low, high);
        return true;
    }
    const double wide = exp(SURE * fm_luck(fitted, level, *at, misses) + SHAPES);
    *low = fmin(*low, *at / wide);
    *high = fmax(*high, *at * wide);
    return true;
}

bool fm_fitted_height(const struct fm_fitted *fitted, size_t level, double *ns, double *low,
                      double *high)
{
    if (fitted->fit->count == 0)
        return false;
    *ns = fitted->fit->heights[level];
    return fm_knee_height_range(&fitted->curve, fitted->fit, level, low, high);
}

double fm_fitted_blur(const struct fm_fitted *fitted, size_t level)
{
    const struct fm_knee_fit *fit = fitted->fit;
    const struct fm_walk *walk = fitted->walk;
    double least = fit->count ? INFINITY : 0;
    for (size_t i = 0; i < walk->count && fit->count; i++) {
        double comes = 1, sum = 0;
        for (size_t other = 0; other <= fit->count; other++) {
            const double passes =
                other < fit->count ? fm_fit_misses(fit, other, (double)walk->points[i].bytes) : 0;
            sum += fmax(0, comes - passes) * fabs(fit->heights[other] - fit->heights[level]);
            comes = passes;
        }
        least = fmin(least, sum / fit->heights[level]);
    }
    return least;
}

double fm_fit_beside(const struct fm_lab *lab, size_t level, double bytes)
{
    const struct fm_knee_fit *fit = &lab->known.fit;
    double sum = 0;
    for (size_t i = 0; lab->known.levels[level].blurred && i < fit->count; i++) {
        const double misses = fm_fit_misses(fit, i, bytes);
        const double step = fit->heights[i + 1] - fit->heights[i];
        if (i < level)
            sum -= (1 - misses) * step;
        else if (i > level)
            sum += misses * step;
    }
    return sum;
}
