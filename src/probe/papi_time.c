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

static bool time_at(struct fm_lab *lab, struct fm_curve *curve, double bytes, double *ns,
                    struct fm_error *err)
{
    const struct fm_spot_plan plan = {.count = (size_t)bytes / FM_WORD, .stride = FM_WORD};
    struct fm_string string;
    if (!fm_lab_place(lab, (size_t)bytes + FM_WORD, err) || !fm_spot_string(&string, &plan, err) ||
        !fm_lab_time(lab, &string, &care, ns, err))
        return false;
    return fm_curve_add(curve, (struct fm_point){bytes, *ns, *ns, *ns}) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
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
