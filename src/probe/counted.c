#include "probe/counted.h"

#include <math.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* Laps of the two runs that are held against each other. The longer one has this many references
   where that makes more laps, so that what a meter adds now and then is little in each. */
#define SHORT      1
#define LONG       2
#define MOST_LAPS  8
#define REFERENCES 8192
/* Misses that are few may be others' doing, who only ever add some: then the least of so many tries
   counts. */
#define FEW   0.02
#define TRIES 3
/* A run that misses this often needs no comparison, if it is long: what a meter adds is more than a
   short one has references. What it pushes out of a full structure can make all of the first lap
   miss, but none of the next. */
#define MOST_MISS 0.9
#define LONG_RUN  2048
/* Laps that miss less than this part of what the first one does may miss for what the meter pushed
   out as well: in a single set that is full, the code that a meter runs takes more than a lap to be
   gone. */
#define DYING 0.5
/* Policies other than LRU take a few laps to forget what was there before. */
#define SETTLE      3
#define SETTLE_LONG 2
#define LONG_STRING 8192

/* Stores in the place of loads, where only those are counted rightly. They are not chained: nothing
   is waited for when misses are counted. */
static void store_instead(struct fm_string *string)
{
    for (size_t i = 0; i < string->phase_count; i++)
        if (string->phases[i].op == FM_OP_LOAD) {
            string->phases[i].op = FM_OP_STORE;
            string->phases[i].chained = false;
        }
}

static void add_phases(const struct fm_lab *lab, struct fm_string *string, unsigned laps,
                       const struct fm_count_care *care)
{
    const size_t count = string->orders[0].count;
    string->phase_count = 0;
    /* Pseudo-LRU settles when all of a string comes anew, and may not when half of it is there. */
    fm_string_flush(string);
    /* Jumps know no parts of an order. */
    if (care->warmth == FM_WARM_GROWN && !care->jumps)
        fm_string_grow(string);
    fm_string_prime(string, count <= LONG_STRING ? SETTLE : SETTLE_LONG);
    fm_string_time(string, laps * count);
    if (care->jumps)
        fm_string_jump(string);
    else if (lab->by_stores & 1u << care->bit)
        store_instead(string);
}

static bool count_laps(struct fm_lab *lab, struct fm_string *string,
                       const struct fm_count_care *care, unsigned laps, double *misses,
                       struct fm_error *err)
{
    struct fm_sample sample;
    add_phases(lab, string, laps, care);
    if (!fm_lab_go_on(lab, lab->part, err) ||
        !lab->machine->ops->count(lab->machine, string, 1, &sample, err))
        return false;
    *misses = (double)fm_event_count(&sample.counts, care->bit);
    return true;
}

/* Times that a meter must have added nothing, and never anything. Strings that miss in part fill
   the sets they are in: whatever lines a meter touches push out some of theirs, whether its own
   misses are counted or not. */
#define OFTEN 8

bool fm_counts_are_exact(const struct fm_lab *lab, unsigned bit)
{
    return lab->believed & 1u << bit && !(lab->by_stores & 1u << bit) &&
           !fm_event_is_of_code(bit) && lab->adds_nothing >= OFTEN && lab->adds_something == 0 &&
           !lab->machine->info.counters
                .alone; /* a model that is all there is has no second witness */
}

static unsigned long_laps(size_t count, unsigned least)
{
    const size_t laps = REFERENCES / count;
    return laps < least ? least : laps > MOST_LAPS ? MOST_LAPS : (unsigned)laps;
}

static bool try_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                    double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    const bool exact = fm_counts_are_exact(lab, care->bit);
    const unsigned laps = long_laps(string->orders[0].count, exact ? SHORT : LONG);
    double many, few;
    if (!count_laps(lab, string, care, laps, &many, err))
        return false;
    *misses = many / laps;
    const bool mostly = *misses >= MOST_MISS * lap;
    if (exact || *misses <= care->none || (mostly && laps * lap >= LONG_RUN))
        return true;
    if (!count_laps(lab, string, care, SHORT, &few, err))
        return false;
    *misses = fmax(0, many - few) / (laps - SHORT);
    if (*misses > care->none && *misses < DYING * few) {
        double more;
        if (!count_laps(lab, string, care, 2 * laps, &more, err))
            return false;
        *misses = fmin(*misses, fmax(0, more - many) / laps);
    }
    if (!mostly && many == few * laps)
        lab->adds_nothing++;
    else if (!mostly)
        lab->adds_something++;
    return true;
}

bool fm_count_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                  double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    const int tries = fm_counts_are_exact(lab, care->bit) ? 1 : TRIES;
    bool good = true;
    *misses = INFINITY;
    for (int i = 0; i < tries && good; i++) {
        double each = INFINITY;
        good = try_lap(lab, string, care, &each, err);
        /* What comes out the same twice is nobody else's doing. */
        const bool again = each == *misses;
        *misses = fmin(*misses, each);
        if (again || *misses <= care->none || *misses > FEW * lap)
            break;
    }
    fm_string_free(string);
    return good;
}

/* Units shorter than the line visit a line several times a lap, which blurs the edge of anything
   but LRU: with the line known it is looked at once more. */
static bool look_closer(struct fm_lab *lab, struct fm_counted_plan *plan, struct fm_counted *found,
                        struct fm_error *err)
{
    struct fm_counted closer = *found;
    const size_t page = lab->machine->info.page_size;
    plan->unit = found->line < page ? found->line : page;
    plan->from = fmax(plan->from, found->bytes / 2);
    if (!fm_counted_edge(lab, plan, &closer, err))
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
    struct fm_counted_plan closer = *plan;
    if (!fm_counted_line(lab, plan, found, err))
        return false;
    const size_t page = lab->machine->info.page_size;
    const size_t line = found->line < page ? found->line : page;
    closer.unit = found->grain;
    const bool again = line && (found->sharp ? found->grain > line : found->grain != line);
    if (again && !look_closer(lab, &closer, found, err))
        return false;
    if (!found->sharp)
        return fm_counted_average(lab, &closer, found, err);
    if (found->line && !fm_counted_ways(lab, plan, found, err))
        return false;
    /* Halves of the lines that no set has too many of are such where sets are known. */
    return found->ways || fm_counted_chance_line(lab, plan, found, err);
}
