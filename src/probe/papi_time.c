/* What the paper plans for processors that lack an event: the loop that is counted is timed as
 * well, and sizes are read off the times. */
#include <math.h>
#include <stdio.h>

#include "probe/lab.h"
#include "probe/papi_sweep.h"
#include "refstring/refstring.h"

#define SMALLEST 1024.0
#define LARGEST  0x1p26
/* A size at which the time has risen by so much over that of half of it is beyond something. */
#define RISE 1.1
/* What still fits takes as long as what is much smaller, but for so much. */
#define SAME 1.03
/* Sizes are searched to this part of them. */
#define FINE (1.0 / 64)

static const struct fm_care care = {.repeats = 3};

static bool time_spots(struct fm_lab *lab, struct fm_curve *curve, size_t bytes, size_t stride,
                       double x, double *ns, struct fm_error *err)
{
    const struct fm_spot_plan plan = {.count = bytes / stride, .stride = stride};
    struct fm_string string;
    if (!fm_lab_place(lab, bytes + FM_WORD, err) || !fm_spot_string(&string, &plan, err) ||
        !fm_lab_time(lab, &string, &care, ns, err))
        return false;
    return fm_curve_add(curve, (struct fm_point){x, *ns, *ns, *ns}) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
}

static bool time_at(struct fm_lab *lab, struct fm_curve *curve, double bytes, double *ns,
                    struct fm_error *err)
{
    return time_spots(lab, curve, (size_t)bytes, FM_WORD, bytes, ns, err);
}

/* The largest size between the two that takes as long as the smaller. */
static bool narrow(struct fm_lab *lab, struct fm_curve *curve, double fits, double beyond,
                   double plateau, double *size, struct fm_error *err)
{
    while (beyond - fits > FINE * fits) {
        double ns;
        const double middle = round((fits + beyond) / 2 / FM_WORD) * FM_WORD;
        if (!time_at(lab, curve, middle, &ns, err))
            return false;
        if (ns > SAME * plateau)
            beyond = middle;
        else
            fits = middle;
    }
    *size = fits;
    return true;
}

bool fm_sweep_time(struct fm_lab *lab, double sizes[], size_t most, size_t *count,
                   struct fm_error *err)
{
    const double last = fmin(LARGEST, (double)fm_lab_limit(lab) / 2);
    struct fm_curve *curve = fm_result_curve(lab->result, "papi-time");
    double before;
    bool rising = false;
    *count = 0;
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    snprintf(curve->x.name, sizeof curve->x.name, "footprint");
    snprintf(curve->x.unit, sizeof curve->x.unit, "B");
    curve->y = (struct fm_axis){"latency", "ns"};
    if (!time_at(lab, curve, SMALLEST, &before, err))
        return false;
    for (double size = 2 * SMALLEST; size <= last && *count < most; size *= 2) {
        double ns;
        if (!time_at(lab, curve, size, &ns, err))
            return false;
        /* A rise that goes on is the same one. */
        const bool rises = ns > RISE * before;
        if (rises && !rising &&
            !narrow(lab, curve, size / 2, size, before, &sizes[(*count)++], err))
            return false;
        rising = rises;
        before = ns;
    }
    fm_curve_sort(curve);
    return true;
}

#define MOST_STRIDES 48
/* While strides are shorter than a line each doubles what the one before added, nearly; from the
   line on nothing is added to speak of, and what is left in one set adds nothing at all. */
#define DOUBLES 1.6
#define NOTHING 0.15

/* The last stride whose time is more than the one before, where it has doubled until there; 0: the
   times show no such thing. */
static size_t end_of_rise(const double *ns, size_t count)
{
    for (size_t i = 2; i + 1 < count; i++) {
        const double before = ns[i - 1] - ns[i - 2], here = ns[i] - ns[i - 1];
        if (before <= 0 || here < DOUBLES * before)
            return 0;
        if (fabs(ns[i + 1] - ns[i]) < NOTHING * here)
            return i;
    }
    return 0;
}

/* The stride at which all fits into one set again; `count`: none up to the last. 0: something else
   is in the times. */
static size_t end_of_misses(const double *ns, size_t count, size_t line)
{
    const double miss = 2 * (ns[line] - ns[line - 1]), hit = ns[line] - miss;
    for (size_t i = line + 1; i < count; i++) {
        if (fabs(ns[i] - hit) < NOTHING * miss)
            return i;
        if (fabs(ns[i] - ns[line]) > NOTHING * miss)
            return 0;
    }
    return count;
}

bool fm_stride_time(struct fm_lab *lab, size_t bytes, size_t *line, size_t *ways,
                    struct fm_error *err)
{
    struct fm_curve *curve = fm_result_curve(lab->result, "papi-time-strided");
    double ns[MOST_STRIDES];
    size_t count = 0;
    *line = *ways = 0;
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"stride", "B"};
    curve->y = (struct fm_axis){"latency", "ns"};
    for (size_t stride = FM_WORD; stride <= bytes / 2 && count < MOST_STRIDES; stride *= 2)
        if (!fm_lab_go_on(lab, 0.9, err) ||
            !time_spots(lab, curve, bytes, stride, (double)stride, &ns[count++], err))
            return false;
    const size_t rise = end_of_rise(ns, count);
    if (!rise)
        return true;
    *line = (size_t)FM_WORD << rise;
    const size_t end = end_of_misses(ns, count, rise);
    /* Two elements that still miss share the only way there is. */
    *ways = end ? bytes / ((size_t)FM_WORD << end) : 0;
    return true;
}
