#include "core/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fm_value fm_number(double number)
{
    return (struct fm_value){.kind = FM_VALUE_NUMBER, .number = number};
}

struct fm_value fm_bool(bool truth)
{
    return (struct fm_value){.kind = FM_VALUE_BOOL, .truth = truth};
}

struct fm_value fm_text(const char *text)
{
    struct fm_value value = {.kind = FM_VALUE_TEXT};
    snprintf(value.text, sizeof value.text, "%s", text);
    return value;
}

bool fm_value_equal(const struct fm_value *a, const struct fm_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case FM_VALUE_NONE:
        return true;
    case FM_VALUE_NUMBER:
        return a->number == b->number;
    case FM_VALUE_BOOL:
        return a->truth == b->truth;
    case FM_VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    }
    return false;
}

const char *fm_status_name(enum fm_status status)
{
    static const char *const names[] = {
        [FM_MEASURED] = "measured",
        [FM_UNDETERMINED] = "undetermined",
        [FM_UNSUPPORTED] = "unsupported",
        [FM_ABSENT] = "absent",
    };
    return names[status];
}

const char *fm_verdict_name(enum fm_verdict verdict)
{
    static const char *const names[] = {
        [FM_AGREES] = "agrees", [FM_DIFFERS] = "differs", [FM_OPEN] = "open"};
    return names[verdict];
}

void fm_result_init(struct fm_result *result)
{
    *result = (struct fm_result){.complete = true};
}

void fm_result_free(struct fm_result *result)
{
    for (size_t i = 0; i < result->curve_count; i++)
        free(result->curves[i].points);
    free(result->curves);
    free(result->findings);
    free(result->warnings);
    free(result->entries);
    fm_result_init(result);
}

/* Room for one more element of an array that doubles as it grows; NULL when memory is out. */
static void *grow(void **items, size_t *count, size_t *space, size_t size)
{
    if (*count == *space) {
        const size_t larger = *space ? *space * 2 : 16;
        void *moved = realloc(*items, larger * size);
        if (!moved)
            return NULL;
        *items = moved;
        *space = larger;
    }
    void *fresh = (char *)*items + (*count)++ * size;
    memset(fresh, 0, size);
    return fresh;
}

const struct fm_finding *fm_result_find(const struct fm_result *result, const char *property)
{
    for (size_t i = 0; i < result->finding_count; i++)
        if (strcmp(result->findings[i].property, property) == 0)
            return &result->findings[i];
    return NULL;
}

struct fm_finding *fm_result_finding(struct fm_result *result, const char *property,
                                     const char *unit)
{
    const struct fm_finding *known = fm_result_find(result, property);
    if (known)
        return &result->findings[known - result->findings];
    struct fm_finding *finding = grow((void **)&result->findings, &result->finding_count,
                                      &result->finding_space, sizeof *finding);
    if (!finding)
        return NULL;
    snprintf(finding->property, sizeof finding->property, "%s", property);
    snprintf(finding->unit, sizeof finding->unit, "%s", unit);
    finding->status = FM_UNDETERMINED;
    return finding;
}

const struct fm_curve *fm_result_find_curve(const struct fm_result *result, const char *id)
{
    for (size_t i = 0; i < result->curve_count; i++)
        if (strcmp(result->curves[i].id, id) == 0)
            return &result->curves[i];
    return NULL;
}

struct fm_curve *fm_result_curve(struct fm_result *result, const char *id)
{
    const struct fm_curve *known = fm_result_find_curve(result, id);
    if (known) {
        struct fm_curve *curve = &result->curves[known - result->curves];
        curve->point_count = 0;
        curve->step_count = 0;
        return curve;
    }
    struct fm_curve *curve =
        grow((void **)&result->curves, &result->curve_count, &result->curve_space, sizeof *curve);
    if (curve)
        snprintf(curve->id, sizeof curve->id, "%s", id);
    return curve;
}

bool fm_curve_add(struct fm_curve *curve, struct fm_point point)
{
    struct fm_point *slot =
        grow((void **)&curve->points, &curve->point_count, &curve->point_space, sizeof *slot);
    if (slot)
        *slot = point;
    return slot != NULL;
}

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct fm_point *)a)->x, y = ((const struct fm_point *)b)->x;
    return (x > y) - (x < y);
}

void fm_curve_sort(struct fm_curve *curve)
{
    size_t kept = 0;
    if (curve->point_count)
        qsort(curve->points, curve->point_count, sizeof *curve->points, by_x);
    for (size_t i = 0; i < curve->point_count; i++) {
        struct fm_point *into = kept ? &curve->points[kept - 1] : NULL;
        const struct fm_point *from = &curve->points[i];
        if (into && into->x == from->x) {
            into->low = fmin(into->low, from->low);
            into->high = fmax(into->high, from->high);
            into->y = (into->low + into->high) / 2;
        } else {
            curve->points[kept++] = *from;
        }
    }
    curve->point_count = kept;
}

void fm_result_warn(struct fm_result *result, const char *id, const char *remedy,
                    const char *format, ...)
{
    struct fm_warning *warning = NULL;
    for (size_t i = 0; i < result->warning_count && !warning; i++)
        if (strcmp(result->warnings[i].id, id) == 0)
            warning = &result->warnings[i];
    if (!warning)
        warning = grow((void **)&result->warnings, &result->warning_count, &result->warning_space,
                       sizeof *warning);
    if (!warning)
        return;
    va_list args;
    va_start(args, format);
    snprintf(warning->id, sizeof warning->id, "%s", id);
    vsnprintf(warning->text, sizeof warning->text, format, args);
    snprintf(warning->remedy, sizeof warning->remedy, "%s", remedy);
    va_end(args);
}

bool fm_result_enter(struct fm_result *result, const struct fm_entry *entry)
{
    struct fm_entry *slot =
        grow((void **)&result->entries, &result->entry_count, &result->entry_space, sizeof *slot);
    if (slot)
        *slot = *entry;
    return slot != NULL;
}

void fm_environment_set(struct fm_environment *environment, const char *key, struct fm_value value)
{
    const size_t slots = sizeof environment->facts / sizeof environment->facts[0];
    size_t i = 0;
    while (i < environment->count && strcmp(environment->facts[i].key, key) != 0)
        i++;
    if (i == slots)
        return;
    if (i == environment->count)
        environment->count++;
    snprintf(environment->facts[i].key, sizeof environment->facts[i].key, "%s", key);
    environment->facts[i].value = value;
}

const struct fm_value *fm_environment_get(const struct fm_environment *environment, const char *key)
{
    for (size_t i = 0; i < environment->count; i++)
        if (strcmp(environment->facts[i].key, key) == 0)
            return &environment->facts[i].value;
    return NULL;
}

void fm_list_add(char *list, size_t width, size_t slots, const char *text)
{
    for (size_t i = 0; i < slots; i++) {
        char *slot = list + i * width;
        if (!*slot)
            snprintf(slot, width, "%s", text);
        if (strcmp(slot, text) == 0)
            return;
    }
}
