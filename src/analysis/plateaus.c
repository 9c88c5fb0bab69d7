#include "analysis/plateaus.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tautstring.h"

/* Between two rises, a plateau's slope must be below this part of the gentler rise's. The bounds
   already say that the difference is real; this is to be worth a name. */
#define FLATNESS 0.9
/* At either end of the curve only one rise is seen, and a curve that merely begins to level off
   must not pass for one that has. */
#define FLATNESS_AT_END 0.5
/* One bad point beside a steep rise looks like a plateau of two. */
#define LEAST_POINTS 3

struct string {
    const struct fm_knot *knots;
    const double *x; /* tilted */
    const double *low, *high;
    size_t segments;
};

/* A minimum of the slope; between two of them lies a rise. */
struct valley {
    size_t first, last; /* segments */
    double slope, peak; /* as in struct fm_plateau */
};

static double slope_of(const struct string *string, size_t segment)
{
    const struct fm_knot *a = &string->knots[segment], *b = a + 1;
    return (b->y - a->y) / (string->x[b->index] - string->x[a->index]);
}

/* Whether the curve leaves its last valley again: not if it only creeps on. */
static bool ends_rising(const struct string *string, const struct valley *last, double peak)
{
    double height = string->knots[last->last].y, end = string->knots[string->segments].y;
    return last->slope < FLATNESS_AT_END * peak && end > FM_LEAST_CONTRAST * height;
}

static size_t find_valleys(const struct string *string, struct valley *valleys)
{
    size_t count = 0;
    double peak = 0;
    for (size_t s = 0; s < string->segments; s++) {
        double slope = slope_of(string, s);
        bool down = s == 0 || slope_of(string, s - 1) > slope;
        bool up = s + 1 == string->segments || slope_of(string, s + 1) >= slope;
        if (down && up) {
            if (count > 0)
                valleys[count - 1].peak = peak;
            valleys[count++] = (struct valley){s, s, slope, 0};
            peak = 0;
        }
        peak = fmax(peak, slope);
    }
    if (count > 0 && ends_rising(string, &valleys[count - 1], peak))
        valleys[count - 1].peak = peak;
    return count;
}

static double rise_beside(const struct valley *valleys, size_t count, size_t i)
{
    double before = i > 0 ? valleys[i - 1].peak : INFINITY;
    double after = i + 1 < count || valleys[i].peak > 0 ? valleys[i].peak : INFINITY;
    return fmin(before, after);
}

/* The plateau around a valley: as far as the slope is nearer to its least than to the gentler
   rise's. */
static struct fm_plateau widen(const struct string *string, const struct valley *valleys,
                               size_t count, size_t i)
{
    const struct valley *valley = &valleys[i];
    double rise = rise_beside(valleys, count, i);
    double limit = isfinite(rise) ? (valley->slope + rise) / 2 : INFINITY;
    size_t first = valley->first, last = valley->last;
    while (first > 0 && slope_of(string, first - 1) <= limit)
        first--;
    while (last + 1 < string->segments && slope_of(string, last + 1) <= limit)
        last++;
    size_t core = (string->knots[valley->first].index + string->knots[valley->last + 1].index) / 2;
    return (struct fm_plateau){
        .from = string->knots[first].index,
        .to = string->knots[last + 1].index,
        .core = core,
        .slope = valley->slope,
        .peak = valley->peak,
        .height = (string->low[core] + string->high[core]) / 2,
    };
}

/* How far valley i is from being a plateau: above 1, it is none. */
static double defect(const struct string *string, const struct valley *valleys, size_t count,
                     size_t i)
{
    struct fm_plateau plateau = widen(string, valleys, count, i);
    bool inside = i > 0 && (i + 1 < count || valleys[i].peak > 0);
    if (inside && plateau.to - plateau.from + 1 < LEAST_POINTS)
        return INFINITY;
    double rise = rise_beside(valleys, count, i);
    return valleys[i].slope / rise / (inside ? FLATNESS : FLATNESS_AT_END);
}

static void drop(struct valley *valleys, size_t *count, size_t i)
{
    if (i > 0)
        valleys[i - 1].peak = fmax(valleys[i - 1].peak, valleys[i].peak);
    memmove(valleys + i, valleys + i + 1, (*count - i - 1) * sizeof *valleys);
    --*count;
}

/* Takes the worst valley away if it is no plateau. */
static bool drop_steepest(const struct string *string, struct valley *valleys, size_t *count)
{
    size_t worst = 0;
    double most = 0;
    for (size_t i = 0; i < *count; i++) {
        double now = defect(string, valleys, *count, i);
        if (now > most) {
            most = now;
            worst = i;
        }
    }
    if (most <= 1)
        return false;
    drop(valleys, count, worst);
    return true;
}

/* Joins the two neighbours that differ least if that is too little for two levels. */
static bool join_closest(const struct string *string, struct valley *valleys, size_t *count)
{
    size_t closest = 0;
    double least = INFINITY;
    for (size_t i = 1; i < *count; i++) {
        double ratio =
            widen(string, valleys, *count, i).height / widen(string, valleys, *count, i - 1).height;
        if (ratio < least) {
            least = ratio;
            closest = i;
        }
    }
    if (least >= FM_LEAST_CONTRAST)
        return false;
    struct valley *a = &valleys[closest - 1], *b = &valleys[closest];
    a->last = b->last;
    a->slope = fmin(a->slope, b->slope);
    a->peak = b->peak;
    drop(valleys, count, closest);
    return true;
}

static size_t read_string(const struct string *string, struct valley *valleys,
                          struct fm_plateau *plateaus)
{
    size_t count = find_valleys(string, valleys);
    while (count > 1 &&
           (drop_steepest(string, valleys, &count) || join_closest(string, valleys, &count)))
        ;
    for (size_t i = 0; i < count; i++)
        plateaus[i] = widen(string, valleys, count, i);
    return count;
}

/* Slopes over this are slopes over log2 of the footprint times the footprint to the power tilt. */
static double tilted(double x, double tilt)
{
    return tilt == 0 ? x : -exp2(-tilt * x) / (tilt * log(2));
}

size_t fm_find_plateaus(const double *x, const double *low, const double *high, size_t n,
                        double tilt, struct fm_plateau *plateaus)
{
    double *bent = malloc((n + 1) * sizeof *bent);
    struct fm_knot *knots = malloc((n + 1) * sizeof *knots);
    struct valley *valleys = malloc((n + 1) * sizeof *valleys);
    size_t count = 0;
    if (bent && knots && valleys && n > 0) {
        for (size_t i = 0; i < n; i++)
            bent[i] = tilted(x[i] - x[0], tilt);
        size_t knot_count = fm_taut_string(bent, low, high, n, knots);
        struct string string = {knots, bent, low, high, knot_count - 1};
        plateaus[0] = (struct fm_plateau){.height = (low[0] + high[0]) / 2};
        count = n == 1 ? 1 : read_string(&string, valleys, plateaus);
    }
    free(valleys);
    free(knots);
    free(bent);
    return count;
}
