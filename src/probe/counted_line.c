/* The line of a structure, by its counter.
 *
 * Twice the capacity is spanned and every other stripe of it touched: of the first half the even
 * ones, of the second the odd ones. With stripes of a line or more that is half of all lines, and
 * no set is asked for more than it has ways, whatever its number of ways. Narrower stripes touch
 * every line, more than there is room for. Where the edge is not sharp, since pages lie
 * scattered, sets are not met evenly; there the same is asked of stripes that are chosen by chance,
 * beside all lines and half of them in one run. */
#include <math.h>
#include <stdlib.h>

#include "probe/counted.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* Parts of a lap that miss where everything fits, and where little does. */
#define FEW  0.1
#define MANY 0.3
/* Scattered pages: the footprint beside the capacity, where all lines are too many and half of
   them are not, by at least this part of them; a larger one where that placement was less lucky
   than others. And how near to either a stripe must come. */
#define CONTRAST 0.1
static const double spans[] = {1.5, 2.5};
#define NEAR       0.3
#define FEWEST     2
#define PLACEMENTS 6
#define STRIPES    16
#define PAIRS      2
#define MANY_PAGES 64

/* Of a structure of many pages these bytes of each are enough, where one unit of many misses as all
   do: two pairs of stripes. */
static void shorten(const struct fm_lab *lab, const struct fm_counted *found, size_t stripe,
                    struct fm_string *string)
{
    const size_t page = lab->machine->info.page_size;
    if (found->thin && found->bytes >= MANY_PAGES * (double)page && PAIRS * 2 * stripe < page)
        fm_string_keep_first(string, PAIRS * 2 * stripe, page);
}

/* Eighths of both halves that are touched: not all, so that what a prefetcher brings along finds
   room beside; and fewer where that is not room enough to be rid of it soon. */
#define MOST_EIGHTHS  6
#define FEWER_EIGHTHS 5
#define ALL_EIGHTHS   8

/* `both`: not every other stripe, but all. */
static bool misses_of_halves(struct fm_lab *lab, const struct fm_counted_plan *plan,
                             const struct fm_counted *found, size_t stripe, size_t eighths,
                             bool both, double *part, struct fm_error *err)
{
    const size_t half = (size_t)(found->bytes / (double)stripe);
    const size_t part_of_half = half - half * (8 - eighths) / 8;
    uint32_t *list = malloc(2 * (half + 1) * sizeof *list);
    if (!list)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for %zu stripes", half);
    size_t count = 0;
    for (size_t i = 0; i < part_of_half; i++) {
        list[count++] = (uint32_t)(i % 2 ? half + i : i);
        if (both)
            list[count++] = (uint32_t)(i % 2 ? i : half + i);
    }
    const struct fm_page_plan stripes = {.pages = list,
                                         .count = count,
                                         .page = stripe,
                                         .unit = stripe,
                                         .lines = 1,
                                         .seed = fm_lab_seed(lab)};
    /* What is too much need not be brought in with care. */
    const struct fm_count_care care = {
        .bit = plan->bit, .warmth = both ? FM_WARM_LAPS : FM_WARM_GROWN, .manner = plan->manner};
    struct fm_string string;
    double misses;
    const bool built = fm_page_string(&string, &stripes, err);
    free(list);
    if (!built)
        return false;
    shorten(lab, found, stripe, &string);
    count = string.orders[0].count;
    if (!fm_count_lap(lab, &string, &care, &misses, err))
        return false;
    *part = misses / (double)count;
    return true;
}

/* The narrowest stripe from one on that fits; all wider ones must, and no narrower. */
static bool line_from(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t from,
                      struct fm_counted *found, struct fm_error *err)
{
    const double bytes = found->bytes;
    bool fitted = false;
    found->line = 0;
    for (size_t stripe = from; stripe <= plan->longest_line; stripe *= 2) {
        double part;
        if (fmod(bytes, (double)stripe) != 0)
            break;
        if (!misses_of_halves(lab, plan, found, stripe, MOST_EIGHTHS, false, &part, err) ||
            (part >= FEW && part < MANY &&
             !misses_of_halves(lab, plan, found, stripe, FEWER_EIGHTHS, false, &part, err)))
            return false;
        if (part < FEW) {
            found->line = fitted ? found->line : stripe;
            fitted = true;
        } else if (fitted || part < MANY) {
            found->line = 0;
            return true;
        }
        if (fitted && stripe >= 2 * found->line)
            return true;
    }
    return true;
}

/* Half of what the edge was found by should not fit; if it does, all are asked. */
static bool find_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                      struct fm_counted *found, struct fm_error *err)
{
    const size_t from = found->grain / 2 > plan->unit ? found->grain / 2 : plan->unit;
    if (!line_from(lab, plan, from, found, err))
        return false;
    return from == plan->unit || (found->line && found->line != from) ||
           line_from(lab, plan, plan->unit, found, err);
}

/* Twice as much must miss, line by line, since every set then has twice its ways: where the index
   is hashed a few lines that meet make an edge which is as sharp, but far from full. */
static bool check_sharp(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t line,
                        struct fm_counted *found, struct fm_error *err)
{
    double all = found->crowded;
    if ((line != found->grain || all < MANY) &&
        !misses_of_halves(lab, plan, found, line, ALL_EIGHTHS, true, &all, err))
        return false;
    found->sharp = all >= MANY;
    return true;
}

/* Of a hashed structure it is not known which halves no set has too many of. */
static bool sharp_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                       struct fm_counted *found, struct fm_error *err)
{
    if (!fm_lab_place(lab, (size_t)(2 * found->bytes) + 2 * plan->longest_line, err))
        return false;
    if (found->mixed)
        return check_sharp(lab, plan, found->grain, found, err);
    if (!find_line(lab, plan, found, err))
        return false;
    if (found->line && !check_sharp(lab, plan, found->line, found, err))
        return false;
    found->line = found->sharp ? found->line : 0;
    return true;
}

static bool misses_of_swept(struct fm_lab *lab, const struct fm_counted_plan *plan,
                            const struct fm_counted *found, double bytes, enum fm_warmth warmth,
                            double *part, struct fm_error *err)
{
    const struct fm_swept_plan swept = {.bytes = (size_t)bytes / plan->unit * plan->unit,
                                        .unit = plan->unit,
                                        .page = lab->machine->info.page_size,
                                        .seed = lab->placement_seed};
    const struct fm_count_care care = {.bit = plan->bit, .warmth = warmth, .manner = plan->manner};
    struct fm_string string;
    double misses;
    if (!fm_swept_string(&string, &swept, err))
        return false;
    shorten(lab, found, plan->unit, &string);
    const double count = (double)string.orders[0].count;
    if (!fm_count_lap(lab, &string, &care, &misses, err))
        return false;
    *part = misses / count;
    return true;
}

static bool misses_of_stripes(struct fm_lab *lab, const struct fm_counted_plan *plan,
                              const struct fm_counted *found, struct fm_stripe_plan stripes,
                              double *part, struct fm_error *err)
{
    const struct fm_count_care care = {
        .bit = plan->bit, .warmth = FM_WARM_GROWN, .manner = plan->manner};
    struct fm_string string;
    double misses;
    stripes.page = lab->machine->info.page_size;
    stripes.seed = lab->placement_seed;
    if (!fm_stripe_string(&string, &stripes, err))
        return false;
    shorten(lab, found, stripes.packed ? stripes.packed : stripes.stripe, &string);
    const double count = (double)string.orders[0].count;
    if (!fm_count_lap(lab, &string, &care, &misses, err))
        return false;
    *part = misses / count;
    return true;
}

/* What stripes of each width miss, and all lines and half of them beside: sums over placements. */
struct width {
    double part, all, half;
};

struct scattered {
    struct width widths[STRIPES];
    size_t count; /* of the widths that there may be */
    double all, half;
};

/* Where between half of the lines (0) and all of them (1) a width of stripes lies. */
static double place_of(const struct width *width)
{
    return (width->part - width->half) / (width->all - width->half);
}

/* The first width that does not touch all lines: wider ones tell nothing more. */
static size_t first_below(const struct scattered *sums)
{
    size_t i = 0;
    while (i < sums->count && sums->widths[i].all > 0 && place_of(&sums->widths[i]) > 1 - NEAR)
        i++;
    return i;
}

/* Half of the lines, as stripes choose them, but in whole runs that no line is longer than: they
   load sets as unevenly. Where runs would be pages, half of the pages. */
static bool half_of_lines(struct fm_lab *lab, const struct fm_counted_plan *plan,
                          const struct fm_counted *found, double bytes, unsigned variant,
                          double *part, struct fm_error *err)
{
    const struct fm_stripe_plan half = {.bytes = (size_t)bytes,
                                        .stripe = plan->unit,
                                        .variant = variant,
                                        .packed = plan->longest_line};
    return plan->longest_line > lab->machine->info.page_size / 2
               ? misses_of_swept(lab, plan, found, bytes / 2, FM_WARM_GROWN, part, err)
               : misses_of_stripes(lab, plan, found, half, part, err);
}

static bool add_placement(struct fm_lab *lab, const struct fm_counted_plan *plan,
                          const struct fm_counted *found, double bytes, unsigned variant,
                          struct scattered *sums, struct fm_error *err)
{
    double all, half;
    if (!fm_lab_place(lab, (size_t)bytes + lab->machine->info.page_size, err) ||
        !misses_of_swept(lab, plan, found, bytes, FM_WARM_LAPS, &all, err) ||
        !half_of_lines(lab, plan, found, bytes, variant, &half, err))
        return false;
    sums->all += all;
    sums->half += half;
    for (size_t i = 0; i < sums->count; i++) {
        struct width *width = &sums->widths[i];
        const struct fm_stripe_plan stripes = {
            .bytes = (size_t)bytes, .stripe = plan->unit << i, .variant = variant};
        double part;
        if (!misses_of_stripes(lab, plan, found, stripes, &part, err))
            return false;
        width->part += part;
        width->all += all;
        width->half += half;
        if (place_of(width) <= 1 - NEAR)
            return true;
    }
    return true;
}

static bool is_clear(const struct scattered *sums)
{
    const size_t below = first_below(sums);
    for (size_t i = 0; i <= below && i < sums->count; i++) {
        const double at = place_of(&sums->widths[i]);
        if (!(at < NEAR / 2 || at > 1 - NEAR / 2))
            return false;
    }
    return true;
}

static size_t widths_of(const struct fm_lab *lab, const struct fm_counted_plan *plan)
{
    const size_t page = lab->machine->info.page_size;
    size_t count = 0;
    while (count < STRIPES && plan->unit << count <= plan->longest_line &&
           plan->unit << count <= page / 2)
        count++;
    return count;
}

/* Adds placements until all stripes are clear; *told is false where all lines miss as half do. A
   sharp edge is the same on all of them. */
static bool compare(struct fm_lab *lab, const struct fm_counted_plan *plan,
                    const struct fm_counted *found, double bytes, struct scattered *sums,
                    bool *told, struct fm_error *err)
{
    const unsigned fewest = found->sharp ? 1 : FEWEST;
    *sums = (struct scattered){.count = widths_of(lab, plan)};
    *told = true;
    for (unsigned p = 0; p < (found->sharp ? FEWEST : PLACEMENTS) && *told; p++) {
        if (p >= fewest && is_clear(sums))
            break;
        if (!add_placement(lab, plan, found, bytes, p, sums, err))
            return false;
        *told = p + 1 < fewest || sums->all - sums->half > CONTRAST * (p + 1);
    }
    return true;
}

bool fm_counted_chance_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                            struct fm_counted *found, struct fm_error *err)
{
    struct scattered sums;
    bool told = false;
    found->line = 0;
    for (size_t i = 0; i < sizeof spans / sizeof spans[0] && !told; i++)
        if (!compare(lab, plan, found, spans[i] * found->bytes, &sums, &told, err))
            return false;
    const size_t below = told ? first_below(&sums) : 0;
    if (told && below < sums.count && place_of(&sums.widths[below]) < NEAR)
        found->line = plan->unit << below;
    return true;
}

bool fm_counted_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err)
{
    found->line = 0;
    if (found->sharp && !sharp_line(lab, plan, found, err))
        return false;
    return (found->sharp && !found->mixed) || fm_counted_chance_line(lab, plan, found, err);
}
