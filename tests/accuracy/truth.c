#include "truth.h"

#include <math.h>

#include "machine/simulated/simulated.h"
#include "refstring/refstring.h"

/* A cache of a machine, and how its misses are counted. */
struct count {
    struct fm_machine *machine;
    unsigned level;
    size_t unit;   /* one word is touched in each */
    unsigned laps; /* after which the caches have settled */
    bool jumps;    /* walk over code */
};

/* Placements over which a miss ratio is averaged: as many as it takes to know it this well, between
   the least and the most. Misses come a group of pages at a time, so many bytes: while no group
   was seen, one may just have been missed. */
struct draw {
    unsigned least, most;
    double error, group;
};

static bool miss_once(const struct count *count, size_t bytes, uint64_t seed, double *ratio,
                      struct fm_error *err)
{
    struct fm_machine *machine = count->machine;
    const struct fm_swept_plan plan = {
        .bytes = bytes, .unit = count->unit, .page = machine->info.page_size, .seed = seed};
    struct fm_string string;
    struct fm_sample sample;
    if (!machine->ops->place(machine, bytes + FM_TURN, 0, err) ||
        !fm_swept_string(&string, &plan, err))
        return false;
    fm_string_prime(&string, count->laps);
    fm_string_time(&string, string.orders[0].count);
    if (count->jumps)
        fm_string_jump(&string);
    const bool good = machine->ops->run(machine, &string, 1, &sample, err);
    fm_string_free(&string);
    if (good)
        *ratio = (double)sample.counts.cache_miss[count->level] / (double)sample.references;
    return good;
}

static bool miss_ratio(const struct count *count, size_t bytes, const struct draw *draw,
                       double *ratio, struct fm_error *err)
{
    const double group = fmin(1, draw->group / (double)bytes);
    double sum = 0, squares = 0;
    for (unsigned n = 1; n <= draw->most; n++) {
        double one;
        if (!miss_once(count, bytes, n, &one, err))
            return false;
        sum += one;
        squares += one * one;
        *ratio = sum / n;
        const double variance = fmax(0, (squares + group * group) / n - *ratio * *ratio);
        if (n >= draw->least && variance <= n * draw->error * draw->error)
            break;
    }
    return true;
}

#define MISSES 0.05

/* Halves down to where the ratio is crossed, to within a part of it. */
static bool bracket(const struct count *count, const struct draw *draw, double within, double *low,
                    double *high, struct fm_error *err)
{
    while (*high / fmax(*low, 1) > 1 + within && *high - *low >= 2 * (double)count->unit) {
        const double unit = (double)count->unit;
        const double middle = floor((*low + *high) / 2 / unit) * unit;
        double ratio;
        if (!miss_ratio(count, (size_t)middle, draw, &ratio, err))
            return false;
        if (ratio <= MISSES)
            *low = middle;
        else
            *high = middle;
    }
    return true;
}

/* On scattered pages a few placements say little, and halving by them goes astray: around where
   they lead, ratios are averaged over many and a straight line is put through them. Where they
   rise steeply no line describes them, and it is looked closer. */
#define AROUND     5
#define FARTHER    0.12
#define STEEP      (4 * MISSES)
#define CLOSE      0.004
#define MOST_LOOKS 8

static double on_line(const double x[AROUND], const double y[AROUND])
{
    double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
    for (int i = 0; i < AROUND; i++) {
        mean_x += x[i] / AROUND;
        mean_y += y[i] / AROUND;
    }
    for (int i = 0; i < AROUND; i++) {
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        xx += (x[i] - mean_x) * (x[i] - mean_x);
    }
    /* No further than was looked. */
    const double there = xy > 0 ? mean_x + (MISSES - mean_y) * xx / xy : mean_x;
    return fmin(fmax(there, x[0]), x[AROUND - 1]);
}

static bool average(const struct count *count, const struct draw *draw, double *bytes,
                    struct fm_error *err)
{
    double x[AROUND], y[AROUND], farther = FARTHER;
    for (int looks = 0; looks < MOST_LOOKS && farther >= CLOSE; looks++) {
        for (int i = 0; i < AROUND; i++) {
            const double unit = (double)count->unit;
            const double part = 1 + farther * (2.0 * i / (AROUND - 1) - 1);
            x[i] = fmax(1, round(*bytes * part / unit)) * unit;
            if (!miss_ratio(count, (size_t)x[i], draw, &y[i], err))
                return false;
        }
        *bytes = on_line(x, y);
        const bool steep = y[AROUND - 1] - y[0] >= STEEP;
        if (!steep && *bytes > x[0] && *bytes < x[AROUND - 1])
            break;
        if (!steep)
            continue; /* around where it seems to be */
        int above = 1;
        while (above + 1 < AROUND && y[above] <= MISSES)
            above++;
        *bytes = (x[above - 1] + x[above]) / 2;
        farther = farther / (AROUND - 1);
    }
    return true;
}

/* LRU and FIFO serve every lap after the first alike; others take some laps to settle, unless the
   cache is as small as a first level. */
static bool settles_at_once(const struct fm_cache_description *cache)
{
    return cache->replacement == FM_REPLACE_LRU || cache->replacement == FM_REPLACE_FIFO;
}

static unsigned laps_to_settle(const struct fm_description *machine, unsigned level,
                               const struct fm_cache_description *cache)
{
    /* Lines that would fit push each other out by lot while others are still there. */
    if (cache->replacement == FM_REPLACE_RANDOM)
        return 24;
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].level > 1 && machine->caches[i].level <= level + 1 &&
            !settles_at_once(&machine->caches[i]))
            return 12;
    return 3;
}

/* The cache that serves loads, or jumps, at a level. */
static const struct fm_cache_description *cache_at(const struct fm_description *machine,
                                                   unsigned level, bool jumps)
{
    const enum fm_holds other = jumps ? FM_HOLDS_DATA : FM_HOLDS_INSTRUCTIONS;
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].level == level + 1 && machine->caches[i].holds != other)
            return &machine->caches[i];
    return NULL;
}

/* Lines a power of two apart use as much of their sets as all lines use of all sets, while they
   are no further apart than each cache has sets, and unless a hash spreads them. What page a line
   is in decides where it goes, so a few of each page will do; but the units must be small beside
   the cache. */
#define OF_A_PAGE  4
#define OF_A_CACHE 256

static size_t widest_unit(const struct fm_description *machine,
                          const struct fm_cache_description *of)
{
    size_t unit = of->line;
    size_t most = machine->page_size / OF_A_PAGE;
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct fm_cache_description *cache = &machine->caches[i];
        const size_t way = cache->capacity / cache->ways, power = way & -way;
        if (cache->index == FM_INDEX_HASHED)
            return unit;
        most = most < power ? most : power;
    }
    while (2 * unit <= most && 2 * unit * OF_A_CACHE <= of->capacity)
        unit *= 2;
    return unit;
}

/* Known this well the ratio is off by a few percent of itself, and where it is crossed by one. */
#define ERROR      0.004
#define LEAST      5
#define MOST       2000
#define REFERENCES 6e6 /* at most, of a footprint */

static bool find_capacity(const struct fm_description *description, unsigned level, bool jumps,
                          double *bytes, struct fm_error *err)
{
    /* Noise of the clock has no part in the truth; the pages do. */
    struct fm_description quiet = *description;
    quiet.noise = (struct fm_noise_description){.pollution = description->noise.pollution};
    const struct fm_cache_description *cache = cache_at(description, level, jumps);
    struct count count = {fm_simulated_open(&quiet, 99, err), level, cache->line,
                          laps_to_settle(description, level, cache), jumps};
    if (!count.machine)
        return false;
    fm_simulated_count(count.machine, true);
    const bool moves =
        description->page_mapping == FM_MAPPING_RANDOM && cache->index != FM_INDEX_VIRTUAL;
    double low = 0, high = 2 * (double)cache->capacity;
    bool good;
    if (!moves) {
        good = bracket(&count, &(struct draw){1, 1, 1, 0}, 0.004, &low, &high, err);
        *bytes = low;
    } else {
        count.unit = widest_unit(description, cache);
        const double lap = (double)cache->capacity / (double)count.unit * (count.laps + 1);
        const double most = fmin(fmax(REFERENCES / lap, LEAST), MOST);
        const double group = (double)description->page_size * (cache->ways + 1);
        const struct draw draw = {LEAST, (unsigned)most, ERROR, group};
        good = bracket(&count, &(struct draw){2, 40, 0.02, group}, 0.05, &low, &high, err);
        *bytes = (low + high) / 2;
        good = good && average(&count, &draw, bytes, err);
    }
    count.machine->ops->close(count.machine);
    return good;
}

bool fm_true_capacity(const struct fm_description *machine, unsigned level, double *bytes,
                      struct fm_error *err)
{
    return find_capacity(machine, level, false, bytes, err);
}

bool fm_true_code_capacity(const struct fm_description *machine, unsigned level, double *bytes,
                           struct fm_error *err)
{
    return find_capacity(machine, level, true, bytes, err);
}
