#include "probe/papi_sweep.h"

#include <stdio.h>

#include "probe/lab.h"
#include "probe/published_counts.h"

static const struct fm_sweep_point *find(const struct fm_sweep *sweep, size_t x)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->points[i].x == x)
            return &sweep->points[i];
    return NULL;
}

static bool count(struct fm_lab *lab, struct fm_sweep *sweep, size_t x, struct fm_error *err)
{
    const size_t bytes = sweep->bytes ? sweep->bytes : x;
    const size_t stride = sweep->bytes ? x : FM_WORD;
    const struct fm_spots spots = {.count = bytes / stride, .stride = stride, .real = sweep->real};
    struct fm_sweep_point *point = &sweep->points[sweep->count];
    if (sweep->count == FM_SWEEP_POINTS)
        return fm_fail(err, FM_ERR_INTERNAL, "a sweep has too many points");
    if (!fm_count_lap_of_spots(lab, &spots, &point->counts, err))
        return false;
    point->x = x;
    point->spots = (double)spots.count;
    sweep->count++;
    return true;
}

bool fm_sweep_at(struct fm_lab *lab, struct fm_sweep *sweep, size_t x, unsigned bit, double *each,
                 struct fm_error *err)
{
    if (!find(sweep, x) && !count(lab, sweep, x, err))
        return false;
    const struct fm_sweep_point *point = find(sweep, x);
    *each = (double)fm_event_count(&point->counts, bit) / point->spots;
    return true;
}

static bool counted_anything(const struct fm_sweep *sweep, unsigned bit)
{
    bool some = false;
    for (size_t i = 0; i < sweep->count; i++)
        some |= fm_event_count(&sweep->points[i].counts, bit) > 0;
    return some;
}

static void name_curve(const struct fm_sweep *sweep, unsigned made_for, unsigned bit, char *id,
                       size_t size)
{
    const char *kind = sweep->real ? "-double" : "", *structure = fm_event_structure(bit);
    if (!sweep->bytes)
        snprintf(id, size, "misses-%s%s", structure, kind);
    else if (made_for == bit)
        snprintf(id, size, "strided-%s%s", structure, kind);
    else
        snprintf(id, size, "strided-%s-%s%s", fm_event_structure(made_for), structure, kind);
}

static bool draw_one(struct fm_lab *lab, const struct fm_sweep *sweep, const char *id, unsigned bit)
{
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    bool good = curve != NULL;
    for (size_t i = 0; i < sweep->count && good; i++) {
        const struct fm_sweep_point *point = &sweep->points[i];
        const double each = (double)fm_event_count(&point->counts, bit) / point->spots;
        good = fm_curve_add(curve, (struct fm_point){(double)point->x, each, each, each});
    }
    if (!good)
        return false;
    curve->y = (struct fm_axis){"misses", "per reference"};
    snprintf(curve->x.name, sizeof curve->x.name, "%s", sweep->bytes ? "stride" : "footprint");
    snprintf(curve->x.unit, sizeof curve->x.unit, "B");
    fm_curve_sort(curve);
    return true;
}

bool fm_sweep_draw(struct fm_lab *lab, const struct fm_sweep *sweep, unsigned made_for,
                   struct fm_error *err)
{
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        char id[64];
        const bool own = sweep->bytes && bit == made_for;
        if (!(lab->believed & 1u << bit) || !(own || counted_anything(sweep, bit)))
            continue;
        name_curve(sweep, made_for, bit, id, sizeof id);
        if (!draw_one(lab, sweep, id, bit))
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    }
    return true;
}
