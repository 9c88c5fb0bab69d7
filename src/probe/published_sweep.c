/* The cache-only sweep as published: C(k) over footprints four to an octave; all of them before any
 * is tried again; the least time of each kept, until it has not been lowered for some trials.
 *
 * The paper asks for a hundred trials in a row. Here it is a few, each on fresh pages: every trial
 * is the least of several runs already, and of a large footprint one run sees so many pages that
 * the next tells nothing new. */
#include <math.h>

#include "probe/lab.h"
#include "probe/published.h"
#include "refstring/refstring.h"

#define MOST_TRIALS 12
/* A least time that is lowered by no more than this is not lowered. */
#define LOWERED 0.005
/* Two footprints whose times differ by no more than this are served alike. */
#define EQUAL 0.01

static size_t largest(const struct fm_lab *lab)
{
    static const size_t ends[] = {[FM_QUICK] = (size_t)1 << 25,
                                  [FM_NORMAL] = (size_t)1 << 26,
                                  [FM_THOROUGH] = (size_t)1 << 28};
    const size_t end = ends[lab->options->effort], limit = fm_lab_limit(lab);
    return end < limit ? end : limit;
}

/* Trials in a row without a lower time that end a point. */
static unsigned trials_for(const struct fm_lab *lab, double bytes)
{
    static const unsigned small[] = {[FM_QUICK] = 1, [FM_NORMAL] = 3, [FM_THOROUGH] = 10};
    if (bytes > 0x1p23)
        return lab->options->effort == FM_THOROUGH ? 1 : 0;
    return bytes > 0x1p20 ? 1 : small[lab->options->effort];
}

static bool is_stable(const struct fm_lab *lab, const struct fm_published_curve *curve, size_t i)
{
    return curve->unchanged[i] >= trials_for(lab, curve->bytes[i]);
}

static bool time_point(struct fm_lab *lab, size_t unit, struct fm_published_curve *curve, size_t i,
                       struct fm_error *err)
{
    const struct fm_swept_plan plan = {.bytes = (size_t)curve->bytes[i],
                                       .unit = unit,
                                       .page = lab->machine->info.page_size,
                                       .seed = fm_lab_seed(lab)};
    const struct fm_care care = {.repeats = 3};
    struct fm_string string;
    double ns;
    if (!fm_cache_only_string(&string, &plan, err) || !fm_lab_time(lab, &string, &care, &ns, err))
        return false;
    const bool first = isinf(curve->least[i]);
    curve->unchanged[i] =
        first || ns < curve->least[i] * (1 - LOWERED) ? 0 : curve->unchanged[i] + 1;
    curve->least[i] = fmin(curve->least[i], ns);
    curve->most[i] = first ? ns : fmax(curve->most[i], ns);
    return true;
}

/* The first trial begins with the largest footprint and ends where the rest is as slow: latency
   never falls as the footprint grows, so nothing lies between two that are equal. */
static bool try_first(struct fm_lab *lab, size_t unit, struct fm_published_curve *curve,
                      struct fm_error *err)
{
    const size_t last = curve->count - 1;
    if (!fm_lab_place(lab, (size_t)curve->bytes[last], err) ||
        !time_point(lab, unit, curve, last, err))
        return false;
    for (size_t i = 0; i < last; i++) {
        if (!fm_lab_go_on(lab, 0.3 + 0.3 * (double)i / (double)last, err) ||
            !time_point(lab, unit, curve, i, err))
            return false;
        if (curve->least[i] < curve->least[last] * (1 - EQUAL))
            continue;
        curve->bytes[i + 1] = curve->bytes[last];
        curve->least[i + 1] = curve->least[last];
        curve->most[i + 1] = curve->most[last];
        curve->count = i + 2;
        return true;
    }
    return true;
}

/* One trial of every point that is not stable yet. */
static bool try_again(struct fm_lab *lab, size_t unit, struct fm_published_curve *curve,
                      struct fm_error *err)
{
    size_t end = curve->count;
    while (end > 0 && is_stable(lab, curve, end - 1))
        end--;
    if (end > 0 && !fm_lab_place(lab, (size_t)curve->bytes[end - 1], err))
        return false;
    for (size_t i = 0; i < end; i++)
        if (!is_stable(lab, curve, i) &&
            (!fm_lab_go_on(lab, 0.6, err) || !time_point(lab, unit, curve, i, err)))
            return false;
    return true;
}

bool fm_published_sweep(struct fm_lab *lab, size_t unit, struct fm_published_curve *curve,
                        struct fm_error *err)
{
    const size_t end = largest(lab);
    curve->count = 0;
    for (size_t k = FM_PUBLISHED_SMALLEST; k <= end && curve->count < FM_PUBLISHED_POINTS;
         k = fm_published_next(k)) {
        curve->bytes[curve->count] = (double)k;
        curve->least[curve->count] = INFINITY;
        curve->unchanged[curve->count++] = 0;
    }
    if (curve->count == 0)
        return fm_fail(err, FM_ERR_NO_MEMORY, "less memory than the smallest footprint");
    bool good = try_first(lab, unit, curve, err);
    for (unsigned trial = 1; trial < MOST_TRIALS && good; trial++)
        good = try_again(lab, unit, curve, err);
    return good;
}
