#include "report/scale.h"

#include <math.h>
#include <stddef.h>

/* A logarithmic axis has no place for nothing. Where a curve comes down to it, as the cost of
   translation does, the axis ends at this part of the highest reading, and nothing is there. */
#define NEXT_TO_NOTHING 0.005

bool fm_point_drawable(const struct fm_point *point)
{
    return point->x > 0 && isfinite(point->x) && isfinite(point->y);
}

/* Noise about zero is no reading: on a logarithmic axis it would fill the picture. */
static bool is_nothing(const struct fm_point *point)
{
    return !(point->y > 0 && point->low > 0);
}

double fm_scale_fraction(const struct fm_scale *scale, double value)
{
    return log(value / scale->low) / log(scale->high / scale->low);
}

double fm_scale_height(const struct fm_scale *y, const struct fm_point *point)
{
    return is_nothing(point) ? 0 : fmax(0, fm_scale_fraction(y, point->y));
}

static void stretch(struct fm_scale *scale, double value)
{
    scale->low = scale->low > 0 ? fmin(scale->low, value) : value;
    scale->high = fmax(scale->high, value);
}

/* Gives the most that could have been there and gone unnoticed, where points are nothing. */
static double stretch_to_points(const struct fm_curve *curve, struct fm_scale *x,
                                struct fm_scale *y)
{
    double unnoticed = 0;
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct fm_point *point = &curve->points[i];
        if (!fm_point_drawable(point))
            continue;
        stretch(x, point->x);
        if (!is_nothing(point)) {
            stretch(y, point->y);
            continue;
        }
        y->from_nothing = true;
        if (isfinite(point->high))
            unnoticed = fmax(unnoticed, point->high);
    }
    return unnoticed;
}

bool fm_find_scales(const struct fm_curve *curve, struct fm_scale *x, struct fm_scale *y)
{
    *x = *y = (struct fm_scale){0};
    const double unnoticed = stretch_to_points(curve, x, y);
    if (y->from_nothing) {
        y->high = y->high > 0 ? y->high : unnoticed;
        y->low = y->high * NEXT_TO_NOTHING;
    }
    if (!(x->low > 0 && y->low > 0))
        return false;
    /* A flat curve is drawn as one: without this its noise would fill the picture. */
    if (y->high < y->low * 2)
        *y = (struct fm_scale){.low = y->low / 1.4, .high = y->high * 1.4};
    if (x->high <= x->low)
        *x = (struct fm_scale){.low = x->low / 2, .high = x->high * 2};
    return true;
}
