#include "analysis/levels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/isotonic.h"
#include "analysis/median.h"
#include "analysis/noise.h"
#include "analysis/outliers.h"
#include "analysis/plateaus.h"

/* Half the width of the tube that holds the curve, in standard errors. */
#define TUBE 2.0
/* Relative error that no measurement is believed to be below: rounding alone makes as much. */
#define FINEST_ERROR 0.001
/* A point further than this many standard errors below an earlier one marks one of them as wrong.
 */
#define OUTLIER 2.5
/* References that miss on a plateau: within the contract's 5% with room for the noise. */
#define FLAT_MISSES 0.02
/* ... but a plateau is not called flat beyond this relative change. */
#define FLAT_CHANGE 0.05

struct curve {
    size_t n;
    double *bytes;      /* footprints, exactly as given */
    double *x, *y;      /* log2 of footprint, ln of latency */
    double *error;      /* standard error of y */
    double *fit;        /* y made non-decreasing */
    double *low, *high; /* the tube, as latencies */
    double *scratch;
};

static bool is_sane(const double *bytes, const double *latency, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(bytes[i]) || !isfinite(latency[i]) || latency[i] <= 0 || bytes[i] <= 0 ||
            (i > 0 && bytes[i] <= bytes[i - 1]))
            return false;
    return n > 0;
}

static bool load(struct curve *curve, const double *bytes, const double *latency,
                 const double *relative_error)
{
    for (size_t i = 0; i < curve->n; i++) {
        curve->bytes[i] = bytes[i];
        curve->x[i] = log2(bytes[i]);
        curve->y[i] = log(latency[i]);
    }
    if (!fm_isotonic_median(curve->y, NULL, curve->n, curve->fit) ||
        !fm_curve_noise(curve->x, curve->y, curve->fit, curve->n, curve->error))
        return false;
    for (size_t i = 0; i < curve->n; i++) {
        double given = relative_error && isfinite(relative_error[i]) ? relative_error[i] : 0;
        curve->error[i] = fmax(fmax(given, curve->error[i]), FINEST_ERROR);
    }
    return true;
}

/* Leaves only the points that a curve which never falls can have. */
static bool drop_outliers(struct curve *curve)
{
    bool *keep = malloc(curve->n * sizeof *keep);
    size_t kept = keep ? fm_monotone_subset(curve->y, curve->error, curve->n, OUTLIER, keep) : 0;
    for (size_t i = 0, to = 0; kept > 0 && i < curve->n; i++) {
        if (!keep[i])
            continue;
        curve->bytes[to] = curve->bytes[i];
        curve->x[to] = curve->x[i];
        curve->y[to] = curve->y[i];
        curve->error[to++] = curve->error[i];
    }
    curve->n = kept;
    free(keep);
    return kept > 0;
}

/* A tube around the fit, as latencies, in which only non-decreasing curves fit. */
static void lay_tube(struct curve *curve, double width)
{
    size_t n = curve->n;
    for (size_t i = 0; i < n; i++) {
        curve->low[i] = exp(curve->fit[i] - width * curve->error[i]);
        curve->high[i] = exp(curve->fit[i] + width * curve->error[i]);
    }
    for (size_t i = 1; i < n; i++)
        curve->low[i] = fmax(curve->low[i], curve->low[i - 1]);
    for (size_t i = n - 1; i-- > 0;)
        curve->high[i] = fmin(curve->high[i], curve->high[i + 1]);
}

static bool is_apart(const struct fm_plateau *a, const struct fm_plateau *b)
{
    return b->height >= FM_LEAST_CONTRAST * a->height;
}

/* Looks between plateau i and the next for one more, under slopes that favour the left or the
   right of the two. Inserts it if there is one. */
static bool look_between(const struct curve *curve, struct fm_plateau *plateaus, size_t *count,
                         size_t i, struct fm_plateau *found)
{
    static const double tilts[] = {-0.25, 0.25, -0.5, 0.5, -1};
    size_t first = plateaus[i].from, end = plateaus[i + 1].to + 1;
    for (size_t t = 0; t < sizeof tilts / sizeof *tilts; t++) {
        size_t more = fm_find_plateaus(curve->x + first, curve->low + first, curve->high + first,
                                       end - first, tilts[t], found);
        for (size_t j = 1; j + 1 < more; j++) {
            found[j].from += first;
            found[j].to += first;
            found[j].core += first;
            if (!is_apart(&plateaus[i], &found[j]) || !is_apart(&found[j], &plateaus[i + 1]))
                continue;
            memmove(plateaus + i + 2, plateaus + i + 1, (*count - i - 1) * sizeof *plateaus);
            plateaus[i + 1] = found[j];
            ++*count;
            return true;
        }
    }
    return false;
}

static size_t find_plateaus(struct curve *curve, double width, struct fm_plateau *plateaus,
                            struct fm_plateau *found)
{
    lay_tube(curve, width);
    size_t count = fm_find_plateaus(curve->x, curve->low, curve->high, curve->n, 0, plateaus);
    for (size_t i = 0; i + 1 < count;)
        i += !look_between(curve, plateaus, &count, i, found);
    return count;
}

/* The flat stretch around a plateau's core and its height, found together. */
struct flat {
    size_t from, to;
    size_t sure;   /* last point at which nothing speaks for misses yet */
    double height; /* ln of latency */
};

static double room_for(double misses_cost, double height)
{
    double change = FLAT_MISSES * misses_cost / height;
    return log1p(fmin(change, FLAT_CHANGE));
}

static struct flat flatten(const struct curve *curve, const struct fm_plateau *plateaus,
                           size_t count, size_t i)
{
    const struct fm_plateau *p = &plateaus[i];
    struct flat flat = {p->core, p->core, p->core, log(p->height)};
    double up = i + 1 < count ? room_for(plateaus[i + 1].height - p->height, p->height) : 0;
    double down = i > 0 ? room_for(p->height - plateaus[i - 1].height, p->height) : 0;
    size_t left = i > 0 ? plateaus[i - 1].to + 1 : 0;
    size_t right = i + 1 < count ? plateaus[i + 1].from : curve->n;
    /* Nothing comes after the last one, so all that follows is more of it: a policy may keep a part
       of what is a little too large, and only what is far larger shows it whole. */
    const bool ends = i + 1 == count && !(p->peak > 0);
    for (int pass = 0; pass < 4; pass++) {
        size_t from = p->core, to = from;
        while (to + 1 < right &&
               (ends || curve->fit[to + 1] <= flat.height + up + TUBE * curve->error[to + 1]))
            to++;
        while (from > left &&
               curve->fit[from - 1] >= flat.height - down - TUBE * curve->error[from - 1])
            from--;
        memcpy(curve->scratch, curve->y + from, (to - from + 1) * sizeof *curve->scratch);
        flat = (struct flat){from, to, to, fm_median(curve->scratch, to - from + 1)};
    }
    while (flat.sure > p->core &&
           curve->fit[flat.sure] > flat.height + up / 2 + curve->error[flat.sure])
        flat.sure--;
    return flat;
}

static void describe(const struct curve *curve, const struct fm_plateau *plateaus, size_t count,
                     size_t i, struct fm_level *level)
{
    const struct fm_plateau *p = &plateaus[i];
    struct flat flat = flatten(curve, plateaus, count, i);
    /* A plateau that is still sloping is not quite reached, or already left: by about what it
       changes in an octave, when the knees beside it are soft. */
    double octaves = curve->x[flat.to] - curve->x[flat.from];
    double creep = (curve->fit[flat.to] - curve->fit[flat.from]) / fmax(octaves, 1e-9);
    double spread = fmax(fmin(creep, 1), curve->error[p->core]);
    bool rises = i + 1 < count || plateaus[i].peak > 0;
    *level = (struct fm_level){
        .height = exp(flat.height),
        .height_low = exp(flat.height - spread),
        .height_high = exp(flat.height + spread),
        .flat_from = curve->bytes[flat.from],
        .flat_to = curve->bytes[flat.to],
        .rise_from = rises ? curve->bytes[flat.sure] : NAN,
        .rise_to = NAN,
        .certainty = 1,
    };
}

static bool is_among(size_t core, const struct fm_plateau *plateaus, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (plateaus[i].from <= core && core <= plateaus[i].to)
            return true;
    return false;
}

/* How sure a plateau is that is still seen in a tube so many standard errors wide: measured on
   some thousand synthetic curves with and without noise, waves and scatter in the knees. */
static const struct {
    double width, certainty;
} trials[] = {{TUBE, 0.55}, {3, 0.9}, {4.5, 0.96}, {7, 0.99}, {12, 0.999}};

static void doubt(struct curve *curve, const struct fm_plateau *plateaus, size_t count,
                  struct fm_plateau *found, double *certainty)
{
    for (size_t t = 0; t < sizeof trials / sizeof *trials; t++) {
        size_t still = find_plateaus(curve, trials[t].width, found, found + curve->n);
        for (size_t i = 0; i < count; i++)
            if (t == 0 || is_among(plateaus[i].core, found, still))
                certainty[i] = trials[t].certainty;
    }
}

static size_t read_levels(struct curve *curve, struct fm_plateau *plateaus,
                          struct fm_plateau *found, struct fm_level *levels, size_t max)
{
    size_t count = find_plateaus(curve, TUBE, plateaus, found);
    size_t written = count < max ? count : max;
    for (size_t i = 0; i < written; i++)
        describe(curve, plateaus, count, i, &levels[i]);
    for (size_t i = 0; i + 1 < written; i++)
        levels[i].rise_to = fmax(levels[i].rise_from, levels[i + 1].flat_from);
    doubt(curve, plateaus, written, found, curve->scratch);
    for (size_t i = 0; i < written; i++)
        levels[i].certainty = curve->scratch[i];
    return written;
}

size_t fm_read_levels(const double *bytes, const double *latency, const double *relative_error,
                      size_t n, struct fm_level *levels, size_t max)
{
    if (max == 0 || !is_sane(bytes, latency, n))
        return 0;
    double *room = malloc(8 * n * sizeof *room);
    struct fm_plateau *plateaus = malloc(3 * (n + 1) * sizeof *plateaus);
    size_t count = 0;
    if (room && plateaus) {
        struct curve curve = {.n = n,
                              .bytes = room,
                              .x = room + n,
                              .y = room + 2 * n,
                              .error = room + 3 * n,
                              .fit = room + 4 * n,
                              .low = room + 5 * n,
                              .high = room + 6 * n,
                              .scratch = room + 7 * n};
        if (load(&curve, bytes, latency, relative_error) && drop_outliers(&curve) &&
            fm_isotonic_median(curve.y, NULL, curve.n, curve.fit))
            count = read_levels(&curve, plateaus, plateaus + n + 1, levels, max);
    }
    free(plateaus);
    free(room);
    return count;
}
