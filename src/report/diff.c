#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

static size_t structure_length(const char *property)
{
    return strcspn(property, ".");
}

static bool same_structure(const char *a, const char *b)
{
    const size_t length = structure_length(a);
    return length == structure_length(b) && strncmp(a, b, length) == 0;
}

/* A data cache: l1d, l2, l3d; not l1i, and not what is asked of a single core (l2@core=4). */
static bool of_data_cache(const char *property)
{
    const size_t digits = strspn(property + 1, "0123456789");
    const char *rest = property + 1 + digits;
    return property[0] == 'l' && digits && (*rest == '.' || (*rest == 'd' && rest[1] == '.'));
}

/* A survey that came as far as memory met every data cache before it: one of which it says nothing
   is not there. Nothing of the kind can be said of other structures. */
static bool says_absent(const struct fm_result *result, const char *property)
{
    const struct fm_finding *memory = fm_result_find(result, "memory.latency");
    if (!memory || memory->status != FM_MEASURED || !result->complete || !of_data_cache(property))
        return false;
    for (size_t i = 0; i < result->finding_count; i++)
        if (same_structure(result->findings[i].property, property))
            return false;
    return true;
}

static struct fm_side side_of(const struct fm_result *result, const char *property)
{
    struct fm_side side = {.finding = fm_result_find(result, property)};
    side.absent = side.finding ? side.finding->status == FM_ABSENT : says_absent(result, property);
    return side;
}

bool fm_side_answers(const struct fm_side *side)
{
    return side->absent || (side->finding && side->finding->status == FM_MEASURED);
}

static void bounds(const struct fm_finding *finding, double *low, double *high)
{
    *low = *high = finding->value.number;
    if (finding->low.kind == FM_VALUE_NUMBER && finding->low.number < *low)
        *low = finding->low.number;
    if (finding->high.kind == FM_VALUE_NUMBER && finding->high.number > *high)
        *high = finding->high.number;
}

bool fm_sides_agree(const struct fm_side *a, const struct fm_side *b)
{
    double low[2], high[2];
    if (!fm_side_answers(a) || !fm_side_answers(b))
        return true; /* nothing speaks against it */
    if (a->absent || b->absent)
        return a->absent && b->absent;
    if (a->finding->value.kind != FM_VALUE_NUMBER || b->finding->value.kind != FM_VALUE_NUMBER)
        return fm_value_equal(&a->finding->value, &b->finding->value);
    bounds(a->finding, &low[0], &high[0]);
    bounds(b->finding, &low[1], &high[1]);
    return low[0] <= high[1] && low[1] <= high[0];
}

/* How many of the others that answer agree with this one. */
static size_t friends(const struct fm_side *sides, size_t count, size_t which)
{
    size_t agreeing = 0;
    for (size_t i = 0; i < count; i++)
        agreeing +=
            i != which && fm_side_answers(&sides[i]) && fm_sides_agree(&sides[i], &sides[which]);
    return agreeing;
}

/* Where more than half of those that answer agree with one of them, the rest are odd. */
static void mark_odd(struct fm_side *sides, size_t count)
{
    size_t best = 0, most = 0, answers = 0;
    for (size_t i = 0; i < count; i++) {
        if (!fm_side_answers(&sides[i]))
            continue;
        const size_t agreeing = friends(sides, count, i) + 1;
        answers++;
        if (agreeing > most) {
            most = agreeing;
            best = i;
        }
    }
    for (size_t i = 0; answers > 2 && most * 2 > answers && i < count; i++)
        sides[i].odd = fm_side_answers(&sides[i]) && !fm_sides_agree(&sides[i], &sides[best]);
}

static bool all_agree(const struct fm_side *sides, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (!fm_sides_agree(&sides[i], &sides[j]))
                return false;
    return true;
}

static bool compare_property(struct fm_diff *diff, const struct fm_finding *finding)
{
    struct fm_side *sides = calloc(diff->result_count, sizeof *sides);
    size_t answers = 0;
    if (!sides)
        return false;
    for (size_t i = 0; i < diff->result_count; i++) {
        sides[i] = side_of(diff->results[i], finding->property);
        answers += fm_side_answers(&sides[i]);
    }
    diff->compared += answers >= 2;
    diff->missing += answers < 2;
    if (all_agree(sides, diff->result_count)) {
        free(sides);
        return true;
    }
    mark_odd(sides, diff->result_count);
    diff->items[diff->count++] = (struct fm_difference){
        .property = finding->property, .unit = finding->unit, .sides = sides};
    return true;
}

/* Whether the property stands in an earlier result, or earlier in this one. */
static bool seen(const struct fm_diff *diff, size_t result, size_t index)
{
    const char *property = diff->results[result]->findings[index].property;
    for (size_t i = 0; i < result; i++)
        if (fm_result_find(diff->results[i], property))
            return true;
    return false;
}

/* Where a structure first appears in the results, whether it differs there or not. */
static size_t place_of(const struct fm_diff *diff, const char *property)
{
    size_t place = 0;
    for (size_t i = 0; i < diff->result_count; i++)
        for (size_t j = 0; j < diff->results[i]->finding_count; j++, place++)
            if (same_structure(diff->results[i]->findings[j].property, property))
                return place;
    return place;
}

/* Properties of a structure are brought together, in the order in which structures appear. */
static void group(struct fm_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        size_t at = i;
        diff->items[i].place = place_of(diff, diff->items[i].property);
        while (at > 0 && diff->items[at - 1].place > diff->items[i].place)
            at--;
        const struct fm_difference item = diff->items[i];
        memmove(&diff->items[at + 1], &diff->items[at], (i - at) * sizeof item);
        diff->items[at] = item;
    }
}

static bool compare_all(struct fm_diff *diff)
{
    diff->count = 0;
    for (size_t i = 0; i < diff->result_count; i++)
        for (size_t j = 0; j < diff->results[i]->finding_count; j++)
            if (!seen(diff, i, j) && !compare_property(diff, &diff->results[i]->findings[j]))
                return false;
    return true;
}

bool fm_diff_make(struct fm_diff *diff, const struct fm_result *const *results,
                  const char *const *names, size_t count)
{
    size_t most = 0;
    *diff = (struct fm_diff){.results = results, .names = names, .result_count = count};
    for (size_t i = 0; i < count; i++)
        most += results[i]->finding_count;
    diff->items = calloc(most + 1, sizeof *diff->items);
    if (!diff->items)
        return false;
    const bool done = compare_all(diff);
    if (done)
        group(diff);
    else
        fm_diff_free(diff);
    return done;
}

void fm_diff_free(struct fm_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        free(diff->items[i].sides);
    free(diff->items);
    *diff = (struct fm_diff){0};
}

size_t fm_diff_odd_count(const struct fm_diff *diff, size_t result)
{
    size_t odd = 0;
    for (size_t i = 0; i < diff->count; i++)
        odd += diff->items[i].sides[result].odd;
    return odd;
}
