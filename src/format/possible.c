#include "format/possible.h"

#include <math.h>
#include <string.h>

#include "format/text.h"

/* A line is never above a page, and pages are up to 1 GiB. */
#define LINE_MOST 0x1p30

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

static bool is_positive(const struct fm_value *value)
{
    return value->kind == FM_VALUE_NUMBER && isfinite(value->number) && value->number > 0;
}

static bool is_line(const struct fm_value *value)
{
    int exponent;
    return is_positive(value) && value->number >= 1 && value->number <= LINE_MOST &&
           frexp(value->number, &exponent) == 0.5;
}

static bool is_ways(const struct fm_value *value)
{
    return is_positive(value) || (value->kind == FM_VALUE_TEXT && strcmp(value->text, "full") == 0);
}

struct demand {
    bool (*holds)(const struct fm_value *value);
    const char *right; /* what the value has to be */
};

/* What the value of a property has to be; none is asked for where `holds` is NULL. */
static struct demand demand_of(const char *property)
{
    static const char *const positive[] = {
        "capacity", "physical_capacity", "sector", "reach", "page_size", "size", "entries", NULL};
    const char *dot = strrchr(property, '.');
    const char *attribute = dot ? dot + 1 : "";
    if (strcmp(attribute, "line") == 0)
        return (struct demand){is_line, "a power of two from 1 to 1073741824"};
    if (strcmp(attribute, "ways") == 0)
        return (struct demand){is_ways, "a number above 0, or full"};
    if (is_one_of(attribute, positive))
        return (struct demand){is_positive, "a number above 0"};
    return (struct demand){NULL, NULL};
}

static bool refuse(const struct fm_json_place *place, const char *key, const char *property,
                   const struct demand *demand)
{
    char shown[FM_PROPERTY_TEXT * 4];
    return fm_json_fail(place, key, "is not what %s can be; it is %s",
                        fm_escape(property, strlen(property), shown, sizeof shown), demand->right);
}

/* An interval may begin at nothing, and where it ends is no line. */
static bool is_bound(const struct fm_value *value, const struct demand *demand)
{
    return value->kind == FM_VALUE_NONE || demand->holds(value) ||
           (value->kind == FM_VALUE_NUMBER && value->number >= 0);
}

bool fm_finding_is_possible(const struct fm_json_place *place, const struct fm_finding *finding)
{
    const struct demand demand = demand_of(finding->property);
    if (!demand.holds || finding->status != FM_MEASURED)
        return true;
    if (!demand.holds(&finding->value))
        return refuse(place, "value", finding->property, &demand);
    if (!is_bound(&finding->low, &demand))
        return refuse(place, "low", finding->property, &demand);
    return is_bound(&finding->high, &demand) || refuse(place, "high", finding->property, &demand);
}
