#include "probe/counted.h"

#include <math.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* Laps of the two runs that are held against each other. The longer one has this many references
   where that makes more laps, so that what a meter adds now and then is little in each. */
#define SHORT      1
#define LONG       2
#define MOST_LAPS  16
#define REFERENCES 16384
/* Misses that are few may be others' doing, who only ever add some: then the least of so many tries
   counts. */
#define FEW   0.02
#define TRIES 3
/* A run that misses this often needs no comparison. What a meter pushes out of a full structure can
   make all of the first lap miss, but none of the next. */
#define MOST_MISS 0.9
/* Policies other than LRU take a few laps to forget what was there before. */
#define SETTLE      3
#define SETTLE_LONG 2
#define LONG_STRING 8192

static void add_phases(struct fm_string *string, unsigned laps, enum fm_warmth warmth)
{
    const size_t count = string->orders[0].count;
    string->phase_count = 0;
    /* Pseudo-LRU settles when all of a string comes anew, and may not when half of it is there. */
    fm_string_flush(string);
    if (warmth == FM_WARM_GROWN)
        fm_string_grow(string);
    fm_string_prime(string, count <= LONG_STRING ? SETTLE : SETTLE_LONG);
    fm_string_time(string, laps * count);
}

static bool count_laps(struct fm_lab *lab, struct fm_string *string, unsigned bit, unsigned laps,
                       enum fm_warmth warmth, double *misses, struct fm_error *err)
{
    struct fm_sample sample;
    add_phases(string, laps, warmth);
    if (!fm_lab_go_on(lab, lab->part, err) ||
        !lab->machine->ops->count(lab->machine, string, 1, &sample, err))
        return false;
    *misses = (double)fm_event_count(&sample.counts, bit);
    return true;
}

static unsigned long_laps(size_t count)
{
    const size_t laps = REFERENCES / count;
    return laps < LONG ? LONG : laps > MOST_LAPS ? MOST_LAPS : (unsigned)laps;
}

static bool try_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                    double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    const unsigned laps = long_laps(string->orders[0].count);
    double many, few;
    if (!count_laps(lab, string, care->bit, laps, care->warmth, &many, err))
        return false;
    *misses = many / laps;
    if (*misses <= care->none || *misses >= MOST_MISS * lap)
        return true;
    if (!count_laps(lab, string, care->bit, SHORT, care->warmth, &few, err))
        return false;
    *misses = fmax(0, many - few) / (laps - SHORT);
    return true;
}

bool fm_count_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                  double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    bool good = true;
    *misses = INFINITY;
    for (int i = 0; i < TRIES && good; i++) {
        double each = INFINITY;
        good = try_lap(lab, string, care, &each, err);
        *misses = fmin(*misses, each);
        if (*misses <= care->none || *misses > FEW * lap)
            break;
    }
    fm_string_free(string);
    return good;
}

/* Units shorter than the line visit a line several times a lap, which blurs the edge of anything
   but LRU: with the line known it is looked at once more. */
static bool look_closer(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    struct fm_counted_plan by_line = *plan;
    struct fm_counted closer = *found;
    const size_t page = lab->machine->info.page_size;
    by_line.unit = found->line < page ? found->line : page;
    by_line.from = fmax(plan->from, found->low / 2);
    if (!fm_counted_edge(lab, &by_line, &closer, err))
        return false;
    if (closer.missed)
        *found = closer;
    return true;
}

bool fm_count_structure(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    *found = (struct fm_counted){0};
    if (!fm_counted_edge(lab, plan, found, err))
        return false;
    if (!found->missed)
        return true;
    if (!fm_counted_line(lab, plan, found, err) ||
        (!found->sharp && found->line > plan->unit && !look_closer(lab, plan, found, err)))
        return false;
    return !found->line || !found->sharp || fm_counted_ways(lab, plan, found, err);
}
