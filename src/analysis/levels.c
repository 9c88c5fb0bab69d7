#include "analysis/levels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isotonic.h"
#include "analysis/outliers.h"
#include "analysis/tautstring.h"

/* Half the width of the tube the string is pulled through, in standard errors: of some hundred
   points one or two leave it, and the median fit has already dealt with those. */
#define TUBE 2.5
/* Nobody needs levels told apart by less than this relative error, and rounding makes as much. */
#define FINEST_ERROR 0.001
/* A level that is not at least this much slower than the one before is taken for part of it.
   (Published analyses ask for 1.25.) */
#define LEAST_CONTRAST 1.15
/* A plateau's slope must be below this part of the slopes on both sides. */
#define FLATNESS 0.8

struct curve {
    size_t n;
    double *u, *v;      /* log2 of footprint, ln of latency */
    double *error;      /* standard error of v */
    double *fit;        /* v made non-decreasing */
    double *low, *high; /* the tube */
    struct fm_knot *knots;
    size_t knot_count;
};

/* A candidate: the string's flattest stretch between two rises. */
struct plateau {
    size_t from, to; /* points */
    double slope;    /* of the string, per octave */
    double height;   /* ln of latency */
    double peak;     /* steepest slope of the rise after it */
};

static bool is_sane(const double *bytes, const double *latency, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(bytes[i]) || !isfinite(latency[i]) || latency[i] <= 0 || bytes[i] <= 0 ||
            (i > 0 && bytes[i] <= bytes[i - 1]))
            return false;
    return n > 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The noise that the curve itself shows: how far points lie from the line through their two
   neighbours, by the median, which outliers do not move. Three points in ascending order may just
   as well be a bend of the true curve and say nothing; on a noisy plateau five in six triples are
   not in order, and where fewer than one in five are out of order, those are outliers. */
static double roughness(const struct curve *curve, double *scratch)
{
    size_t count = 0;
    for (size_t i = 1; i + 1 < curve->n; i++) {
        const double *u = curve->u + i, *v = curve->v + i;
        if (v[-1] <= v[0] && v[0] <= v[1])
            continue;
        double t = (u[0] - u[-1]) / (u[1] - u[-1]);
        double line = (1 - t) * v[-1] + t * v[1];
        scratch[count++] = fabs(v[0] - line) / sqrt(1 + t * t + (1 - t) * (1 - t));
    }
    return 5 * count < curve->n ? 0 : 1.4826 * median(scratch, count);
}

static void load(struct curve *curve, const double *bytes, const double *latency,
                 const double *relative_error)
{
    for (size_t i = 0; i < curve->n; i++) {
        curve->u[i] = log2(bytes[i]);
        curve->v[i] = log(latency[i]);
    }
    double floor = fmax(roughness(curve, curve->fit), FINEST_ERROR);
    for (size_t i = 0; i < curve->n; i++) {
        double given = relative_error && isfinite(relative_error[i]) ? relative_error[i] : 0;
        curve->error[i] = fmax(given, floor);
    }
}

/* Leaves only the points that a curve which never falls can have. */
static bool drop_outliers(struct curve *curve)
{
    bool *keep = malloc(curve->n * sizeof *keep);
    size_t kept = keep ? fm_monotone_subset(curve->v, curve->error, curve->n, TUBE, keep) : 0;
    for (size_t i = 0, to = 0; kept > 0 && i < curve->n; i++) {
        if (!keep[i])
            continue;
        curve->u[to] = curve->u[i];
        curve->v[to] = curve->v[i];
        curve->error[to++] = curve->error[i];
    }
    curve->n = kept;
    free(keep);
    return kept > 0;
}

/* A tube around the fit in which only non-decreasing curves fit. */
static void lay_tube(struct curve *curve)
{
    size_t n = curve->n;
    for (size_t i = 0; i < n; i++) {
        curve->low[i] = curve->fit[i] - TUBE * curve->error[i];
        curve->high[i] = curve->fit[i] + TUBE * curve->error[i];
    }
    for (size_t i = 1; i < n; i++)
        curve->low[i] = fmax(curve->low[i], curve->low[i - 1]);
    for (size_t i = n - 1; i-- > 0;)
        curve->high[i] = fmin(curve->high[i], curve->high[i + 1]);
}

static double slope_of(const struct curve *curve, size_t segment)
{
    const struct fm_knot *a = &curve->knots[segment], *b = a + 1;
    return (b->y - a->y) / (curve->u[b->index] - curve->u[a->index]);
}

static double height_of(const struct curve *curve, size_t from, size_t to, double *scratch)
{
    memcpy(scratch, curve->v + from, (to - from + 1) * sizeof *scratch);
    return median(scratch, to - from + 1);
}

/* The minima of the string's slope, and the maxima between them. */
static size_t find_plateaus(const struct curve *curve, struct plateau *plateaus, double *scratch)
{
    size_t count = 0, segments = curve->knot_count - 1;
    double peak = 0;
    for (size_t s = 0; s < segments; s++) {
        double slope = slope_of(curve, s);
        bool down = s == 0 || slope_of(curve, s - 1) > slope;
        bool up = s + 1 == segments || slope_of(curve, s + 1) >= slope;
        if (down && up) {
            if (count > 0)
                plateaus[count - 1].peak = peak;
            size_t from = curve->knots[s].index, to = curve->knots[s + 1].index;
            plateaus[count++] = (struct plateau){.from = from,
                                                 .to = to,
                                                 .slope = slope,
                                                 .height = height_of(curve, from, to, scratch)};
            peak = 0;
        }
        peak = fmax(peak, slope);
    }
    if (count > 0)
        plateaus[count - 1].peak = peak;
    return count;
}

static void drop(struct plateau *plateaus, size_t *count, size_t i)
{
    if (i > 0)
        plateaus[i - 1].peak = fmax(plateaus[i - 1].peak, plateaus[i].peak);
    memmove(plateaus + i, plateaus + i + 1, (*count - i - 1) * sizeof *plateaus);
    --*count;
}

/* How flat plateau i is beside the gentler of the rises around it. */
static double steepness(const struct plateau *plateaus, size_t count, size_t i)
{
    double before = i > 0 ? plateaus[i - 1].peak : INFINITY;
    double after = i + 1 < count ? plateaus[i].peak : INFINITY;
    double rise = fmin(before, after);
    return rise > 0 ? plateaus[i].slope / rise : INFINITY;
}

/* Takes away what is no level, the worst first, so that a judgement is made on what remains. */
static void prune(const struct curve *curve, struct plateau *plateaus, size_t *count,
                  double *scratch)
{
    while (*count > 1) {
        size_t worst = 0, closest = 0;
        double steepest = 0, least = INFINITY;
        for (size_t i = 0; i < *count; i++) {
            double steep = steepness(plateaus, *count, i);
            if (steep > steepest) {
                steepest = steep;
                worst = i;
            }
            double gap = i > 0 ? plateaus[i].height - plateaus[i - 1].height : INFINITY;
            if (gap < least) {
                least = gap;
                closest = i;
            }
        }
        if (least < log(LEAST_CONTRAST)) {
            struct plateau *a = &plateaus[closest - 1], *b = &plateaus[closest];
            a->to = b->to;
            a->slope = (b->height - a->height) / (curve->u[b->to] - curve->u[a->from]);
            a->height = height_of(curve, a->from, a->to, scratch);
            a->peak = 0;
            drop(plateaus, count, closest);
        } else if (steepest > FLATNESS) {
            drop(plateaus, count, worst);
        } else {
            return;
        }
    }
}

static double bytes_at(const struct curve *curve, size_t i)
{
    return exp2(curve->u[i]);
}

static void describe(const struct curve *curve, const struct plateau *plateaus, size_t count,
                     size_t i, struct fm_level *level)
{
    const struct plateau *p = &plateaus[i];
    size_t from = p->from, to = p->to;
    size_t left = i > 0 ? plateaus[i - 1].to + 1 : 0;
    size_t right = i + 1 < count ? plateaus[i + 1].from : curve->n;
    while (to + 1 < right && curve->fit[to + 1] <= p->height + TUBE * curve->error[to + 1])
        to++;
    while (from > left && curve->fit[from - 1] >= p->height - TUBE * curve->error[from - 1])
        from--;
    double spread = 0, error = 0;
    for (size_t j = p->from; j <= p->to; j++) {
        spread = fmax(spread, fabs(curve->fit[j] - p->height));
        error = fmax(error, curve->error[j]);
    }
    *level = (struct fm_level){
        .height = exp(p->height),
        .height_low = exp(p->height - fmax(spread, error)),
        .height_high = exp(p->height + fmax(spread, error)),
        .flat_from = bytes_at(curve, from),
        .flat_to = bytes_at(curve, to),
        .rise_from = i + 1 < count ? bytes_at(curve, to) : NAN,
        .rise_to = NAN,
        .certainty = 1 - fmin(1, steepness(plateaus, count, i)),
    };
}

static size_t read_levels(struct curve *curve, struct plateau *plateaus, double *scratch,
                          struct fm_level *levels, size_t max)
{
    lay_tube(curve);
    curve->knot_count = fm_taut_string(curve->u, curve->low, curve->high, curve->n, curve->knots);
    size_t count;
    if (curve->knot_count < 2) {
        plateaus[0] = (struct plateau){.height = curve->v[0]};
        count = 1;
    } else {
        count = find_plateaus(curve, plateaus, scratch);
        prune(curve, plateaus, &count, scratch);
    }
    size_t written = count < max ? count : max;
    for (size_t i = 0; i < written; i++)
        describe(curve, plateaus, count, i, &levels[i]);
    for (size_t i = 0; i + 1 < written; i++)
        levels[i].rise_to = levels[i + 1].flat_from;
    return written;
}

size_t fm_read_levels(const double *bytes, const double *latency, const double *relative_error,
                      size_t n, struct fm_level *levels, size_t max)
{
    if (max == 0 || !is_sane(bytes, latency, n))
        return 0;
    double *room = malloc(7 * n * sizeof *room);
    struct fm_knot *knots = malloc(n * sizeof *knots);
    struct plateau *plateaus = malloc(n * sizeof *plateaus);
    size_t count = 0;
    if (room && knots && plateaus) {
        struct curve curve = {.n = n,
                              .u = room,
                              .v = room + n,
                              .error = room + 2 * n,
                              .fit = room + 3 * n,
                              .low = room + 4 * n,
                              .high = room + 5 * n,
                              .knots = knots};
        load(&curve, bytes, latency, relative_error);
        if (drop_outliers(&curve) && fm_isotonic_median(curve.v, NULL, curve.n, curve.fit))
            count = read_levels(&curve, plateaus, room + 6 * n, levels, max);
    }
    free(plateaus);
    free(knots);
    free(room);
    return count;
}
