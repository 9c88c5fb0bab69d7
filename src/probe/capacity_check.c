/* Capacities by the shape of knees, held against readings: where a sharp rise is taken for a soft
 * one, knees have it begin too early, and a height that a blurred plateau leaves open is made up
 * for by a knee elsewhere. */
#include <math.h>

#include "analysis/isotonic.h"
#include "probe/capacity.h"
#include "probe/lab.h"

/* Standard errors to be sure, placements that tell them, and what a clock is off by. */
#define SURE        3
#define ENOUGH      4
#define CLOCK_ERROR 0.008
/* What a capacity that stands beside a reading is off by at the least. */
#define BESIDE 1.01
/* Of pages that fall into two colours at random, 32 to each, 17% miss where a tenth fewer of them
   make one in twenty; of fewer ways or more colours fewer miss. */
#define STEEP 4
#define STEP  1.1
/* Placements of which the mean alone tells where misses begin; the part of the way from one reading
   to the next that it is off by, since between them it may rise soon or late; and standard errors
   that the bounds of a capacity are apart from it. */
#define MANY   6
#define UNSEEN 0.15
#define BOUNDS 2.6

/* How far what a hit takes may be off: a standard error. */
static double hit_error(const struct fm_known_level *known)
{
    return (known->height_high - known->height_low) / (2 * BOUNDS);
}

/* The part that misses a level at a point of the walk, and how far that may be off. */
static double misses_at(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                        size_t i, double *off)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    const double step = known[1].height_ns - known->height_ns;
    const double ns = fitted->latency[i] - fm_fit_beside(lab, level, fitted->bytes[i]);
    const struct fm_walk_point *point = &fitted->walk->points[i];
    const double n = point->placements;
    /* Of few placements the variance is not well known either: Student's. */
    const double luck = fm_walk_error(point) * sqrt(n > 3 ? (n - 1) / (n - 3) : 1);
    const double error = hypot(CLOCK_ERROR, hypot(luck, fm_walk_tlb_error(point)));
    *off =
        n < ENOUGH ? INFINITY : SURE * hypot(error * fitted->latency[i], hit_error(known)) / step;
    return (ns - known->height_ns) / step;
}

/* Between two points, one on either side of so many misses. */
static double between(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                      size_t before)
{
    double off;
    const double a = misses_at(lab, fitted, level, before, &off);
    const double b = misses_at(lab, fitted, level, before + 1, &off);
    const double part = b > a ? fmin(fmax((FM_CAPACITY_MISSES - a) / (b - a), 0), 1) : 0.5;
    return fitted->bytes[before] * pow(fitted->bytes[before + 1] / fitted->bytes[before], part);
}

bool fm_seems_steep(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level)
{
    const double from = lab->known.levels[level].flat_from;
    for (size_t i = 0; i + 1 < fitted->curve.n; i++) {
        double off, off_after;
        const double misses = misses_at(lab, fitted, level, i, &off);
        const double after = misses_at(lab, fitted, level, i + 1, &off_after);
        if (fitted->bytes[i] >= from && fitted->bytes[i + 1] <= STEP * fitted->bytes[i] &&
            isfinite(off + off_after) && misses < FM_CAPACITY_MISSES &&
            after > STEEP * FM_CAPACITY_MISSES)
            return true;
    }
    return false;
}

/* Where readings that are means of many placements pass so many misses, and the standard error of
   its logarithm; false: there are no such, or they pass it more than once. */
static bool crossing_by_means(const struct fm_lab *lab, const struct fm_fitted *fitted,
                              size_t level, double *at, double *error)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    const struct fm_walk_point *points = fitted->walk->points;
    size_t before = SIZE_MAX, times = 0;
    for (size_t i = 0; i + 1 < fitted->curve.n; i++) {
        double off;
        if (fitted->bytes[i] >= known->flat_from && fitted->bytes[i] < known[1].flat_from &&
            misses_at(lab, fitted, level, i, &off) <= FM_CAPACITY_MISSES &&
            misses_at(lab, fitted, level, i + 1, &off) > FM_CAPACITY_MISSES) {
            before = i;
            times++;
        }
    }
    if (times != 1 || points[before].placements < MANY || points[before + 1].placements < MANY)
        return false;
    double off[2];
    const double a = misses_at(lab, fitted, level, before, &off[0]);
    const double b = misses_at(lab, fitted, level, before + 1, &off[1]);
    const double apart = log(fitted->bytes[before + 1] / fitted->bytes[before]);
    *at = between(lab, fitted, level, before);
    *error = apart * hypot(fmax(off[0], off[1]) / SURE / (b - a), UNSEEN);
    return true;
}

/* What neither can be surer of: luck with pages, which is that of all readings alike, and how long
   a hit takes, from which misses are told. */
static double least_error(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                          double at)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    const double steep = fm_steepness(fitted, level, at, FM_CAPACITY_MISSES);
    const double missed =
        hit_error(known) / (known[1].height_ns - known->height_ns) / FM_CAPACITY_MISSES;
    return hypot(fm_luck(fitted, level, at, FM_CAPACITY_MISSES), missed / steep);
}

/* What knees and means tell, each by how sure it is. They come of the same readings, so that both
   are no surer than the better one; and less sure where they differ by more than that. */
static void weigh(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                  double interval[3])
{
    double at, error;
    if (!crossing_by_means(lab, fitted, level, &at, &error))
        return;
    const double other = log(interval[2] / interval[1]) / (2 * BOUNDS);
    const double least = least_error(lab, fitted, level, interval[0]);
    const double apart = log(at / interval[0]);
    const double share = other * other / (error * error + other * other);
    const double off = fmax(fmin(error, other) * fmax(1, fabs(apart) / hypot(error, other)), least);
    interval[0] *= exp(share * apart);
    interval[1] = interval[0] * exp(-BOUNDS * off);
    interval[2] = interval[0] * exp(BOUNDS * off);
}

void fm_hold_to_readings(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                         double interval[3])
{
    const double from = lab->known.levels[level].flat_from;
    weigh(lab, fitted, level, interval);
    size_t inside = SIZE_MAX, outside = SIZE_MAX;
    for (size_t i = 0; i + 1 < fitted->curve.n && outside == SIZE_MAX; i++) {
        double off;
        const double misses = misses_at(lab, fitted, level, i, &off);
        if (fitted->bytes[i] < from)
            continue;
        if (misses + off < FM_CAPACITY_MISSES)
            inside = i;
        else if (misses - off > FM_CAPACITY_MISSES && inside != SIZE_MAX)
            outside = i;
    }
    if (outside == SIZE_MAX || outside == 0)
        return;
    const double low = fitted->bytes[inside], high = fitted->bytes[outside];
    if (interval[0] >= low && interval[0] <= high)
        return;
    interval[0] = between(lab, fitted, level, interval[0] < low ? inside : outside - 1);
    interval[1] = fmin(low, interval[0] / BESIDE);
    interval[2] = fmax(high, interval[0] * BESIDE);
}

/* Luck that all readings share. */
#define SHARED_LUCK 1.05
/* Neighbours on either side that tell how far placements lie apart, where each has few. */
#define NEIGHBOURS 1

/* The variance of single readings about a point, and how many it is of. */
static double spread_about(const struct fm_walk *walk, size_t i, double *freedom)
{
    const size_t from = i < NEIGHBOURS ? 0 : i - NEIGHBOURS;
    double squares = 0;
    *freedom = 0;
    for (size_t j = from; j <= i + NEIGHBOURS && j < walk->count; j++) {
        const struct fm_walk_point *point = &walk->points[j];
        const double n = point->placements, mean = point->sum / n;
        squares += fmax(0, point->sum_of_squares - n * mean * mean);
        *freedom += n - 1;
    }
    return *freedom > 0 ? squares / *freedom : 0;
}

/* How far what a point misses may be off, by its own readings and its neighbours'. */
static double surely_off(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                         size_t i)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    const struct fm_walk_point *point = &fitted->walk->points[i];
    double freedom;
    const double variance = spread_about(fitted->walk, i, &freedom);
    if (freedom < ENOUGH)
        return INFINITY;
    const double luck = sqrt(variance / point->placements * freedom / (freedom - 2));
    const double read = hypot(CLOCK_ERROR, fm_walk_tlb_error(point)) * fitted->latency[i];
    return BOUNDS * hypot(luck, hypot(read, hit_error(known))) /
           (known[1].height_ns - known->height_ns);
}

/* Part of a rise's points: those from its plateau to the next. */
struct stretch {
    double bytes[FM_WALK_POINTS], misses[FM_WALK_POINTS], weight[FM_WALK_POINTS];
    double off[FM_WALK_POINTS];
    size_t n;
};

static void read_stretch(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                         struct stretch *stretch)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    stretch->n = 0;
    for (size_t i = 0; i < fitted->curve.n; i++) {
        const size_t n = stretch->n;
        double own;
        if (fitted->bytes[i] < known->flat_from || fitted->bytes[i] > known[1].flat_from)
            continue;
        stretch->bytes[n] = fitted->bytes[i];
        stretch->misses[n] = misses_at(lab, fitted, level, i, &own);
        stretch->weight[n] = fitted->walk->points[i].placements;
        stretch->off[n] = surely_off(lab, fitted, level, i);
        stretch->n++;
    }
}

bool fm_crossing_by_readings(const struct fm_lab *lab, const struct fm_fitted *fitted, size_t level,
                             double interval[3])
{
    struct stretch stretch;
    size_t inside = SIZE_MAX, outside = SIZE_MAX, after = 0;
    read_stretch(lab, fitted, level, &stretch);
    for (size_t i = 0; i < stretch.n && outside == SIZE_MAX; i++) {
        if (stretch.misses[i] + stretch.off[i] < FM_CAPACITY_MISSES)
            inside = i;
        else if (stretch.misses[i] - stretch.off[i] > FM_CAPACITY_MISSES)
            outside = i;
    }
    if (inside == SIZE_MAX || outside == SIZE_MAX ||
        !fm_isotonic(stretch.misses, stretch.weight, stretch.n, stretch.misses))
        return false;
    while (after + 1 < stretch.n && stretch.misses[after] <= FM_CAPACITY_MISSES)
        after++;
    if (after == 0)
        return false;
    const double a = stretch.misses[after - 1], b = stretch.misses[after];
    const double part = b > a ? (FM_CAPACITY_MISSES - a) / (b - a) : 0.5;
    const double low = stretch.bytes[inside], high = stretch.bytes[outside];
    const double at =
        stretch.bytes[after - 1] * pow(stretch.bytes[after] / stretch.bytes[after - 1], part);
    interval[0] = fmin(fmax(at, low), high);
    interval[1] = low / SHARED_LUCK;
    interval[2] = high * SHARED_LUCK;
    return true;
}
