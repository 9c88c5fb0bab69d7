/* The gap test on the side of code. n lines, k bytes apart, all fall into one set if k is a
 * multiple of the way; one more than there are ways, and they miss on every lap. A second row of
 * lines in the same pages makes pairs, so that a TLB and a branch predictor, which such strides
 * crowd as well, take no part in what is read. */
#include <math.h>

#include "core/rng.h"
#include "probe/icache.h"
#include "refstring/refstring.h"

/* Half a miss in a lap is the least that can be told from none … */
#define A_MISS 0.5
/* … and this part of all that a jump takes is the least that is believed. */
#define GRAIN 0.015
/* The bracket of the curve, widened by what a point can be off. */
#define WIDER_LOW  1.25
#define WIDER_HIGH 1.1
/* References of one line in a trial, roughly, and all that may be spent on one range of ways: where
   pages decide, no distance ever shows anything. */
#define EACH            64
#define MOST_REFERENCES 3e7
/* Fresh placements on which a conflict must show. */
#define CONFIRMATIONS  3
#define MOST_MULTIPLES 4
#define MOST_APART     3
#define MANY_LOOKS     8
/* Looks of those at one set that noise may have spoiled. */
#define SPOILED 1
/* Pages of which lines from anywhere take one, and the part of a miss that says that some do. */
#define SPARSE 4
#define A_FEW  0.05

struct group {
    unsigned count;    /* n */
    size_t stride;     /* k */
    size_t on;         /* lines from the first row to the second; 0: the default */
    size_t moved;      /* bytes that the last of each row stands further on */
    unsigned left_out; /* the number of one that is not there; 0: none is missing */
};

/* Fills in the lines of a group. The second row is further on in the same page, by a quarter of a
   stride or of a page unless the group says how far. Where stride and page do not agree, some of it
   falls into another set than the rest, and does no harm. Lines that stand close are one row alone,
   in pairs. */
static void fill(struct fm_icache *icache, const struct group *group, size_t page)
{
    const size_t line = icache->line;
    const size_t least = group->stride < page ? group->stride : page;
    const size_t on = (group->on ? group->on : least / line / 4) * line;
    fm_code_lines_clear(&icache->lines);
    for (unsigned i = 0; i < group->count; i++) {
        if (i > 0 && i == group->left_out)
            continue;
        const size_t moved = i + 1 == group->count ? group->moved : 0;
        const size_t at = i * group->stride + moved, within = at % page;
        if (on > 0) {
            fm_code_lines_add(&icache->lines, at, within + on < page ? at + on : at - on);
            continue;
        }
        const bool pair =
            i + 1 < group->count && i + 1 != group->left_out && within + group->stride < page;
        fm_code_lines_add(&icache->lines, at, pair ? at + group->stride : FM_NO_LINE);
        i += pair;
    }
}

/* Whether the group conflicts: what fetching adds is more than nothing. */
static bool conflicts(struct fm_lab *lab, struct fm_icache *icache, const struct group *group,
                      double miss_ns, unsigned repeats, bool *yes, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .laps = 4, .steps = 64};
    struct fm_code_fetch found;
    fill(icache, group, lab->machine->info.page_size);
    if (!fm_time_fetch(lab, &icache->lines, &care, &found, err))
        return false;
    *yes = found.miss_ns > fmax(A_MISS * miss_ns / group->count, GRAIN * found.one_ns);
    return true;
}

static size_t arena_of(const struct fm_lab *lab, const struct group *group)
{
    return group->count * group->stride + 2 * lab->machine->info.page_size;
}

/* Whether it does so on fresh pages too, and with a line less never. */
static bool confirm(struct fm_lab *lab, struct fm_icache *icache, const struct group *group,
                    double miss_ns, bool *yes, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t least = group->stride < page ? group->stride : page;
    /* Less than half a stride: at half of it the rows would meet where the way is half as long. */
    const size_t choices = least / icache->line / 3;
    struct group one = *group, fewer;
    *yes = true;
    for (int i = 0; i < CONFIRMATIONS && *yes; i++) {
        bool more, less = false;
        /* Rows that meet each other by their distance do not do so at another. */
        one.on = choices ? 1 + fm_lab_seed(lab) % choices : 0;
        fewer = one;
        fewer.count--;
        if (!fm_lab_place(lab, arena_of(lab, group), err) ||
            !conflicts(lab, icache, &one, miss_ns, 6, &more, err) ||
            (group->count > 2 && !conflicts(lab, icache, &fewer, miss_ns, 6, &less, err)))
            return false;
        *yes = more && !less;
    }
    return true;
}

/* A reading that noise spoiled may have passed over the true stride; half of it conflicts too, at
   twice as many lines. So the multiples of what was found are asked once more. */
static bool look_again(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                       struct fm_error *err)
{
    for (unsigned times = MOST_MULTIPLES; times > 1; times--) {
        const struct group group = {.count = icache->ways / times + 1,
                                    .stride = icache->way_bytes * times};
        bool yes;
        if (icache->ways % times)
            continue;
        if (!confirm(lab, icache, &group, miss_ns, &yes, err))
            return false;
        if (yes) {
            icache->ways /= times;
            icache->way_bytes *= times;
            return true;
        }
    }
    return true;
}

/* Or it may have passed over a shorter stride, of which the one that was found is a multiple: as
   many lines conflict there. What the stride is a multiple of is taken out, a prime at a time. */
static bool look_closer(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                        struct fm_error *err)
{
    size_t rest = icache->way_bytes / icache->line;
    for (size_t prime = 2; rest > 1; prime++) {
        bool yes = true;
        for (; rest % prime == 0; rest /= prime) {
            const struct group group = {.count = icache->ways + 1,
                                        .stride = icache->way_bytes / prime};
            if (yes && !confirm(lab, icache, &group, miss_ns, &yes, err))
                return false;
            if (yes)
                icache->way_bytes /= prime;
        }
    }
    return true;
}

/* All strides of one number of lines that fit the bracket. */
static bool try_count(struct fm_lab *lab, struct fm_icache *icache, unsigned count, double low,
                      double high, double miss_ns, struct fm_error *err)
{
    const double line = (double)icache->line;
    const size_t from = (size_t)ceil(low / (count - 1) / line);
    const size_t to = (size_t)floor(high / (count - 1) / line);
    for (size_t lines = from ? from : 1; lines <= to && !icache->ways; lines++) {
        const struct group group = {.count = count, .stride = lines * icache->line};
        bool yes;
        if (!conflicts(lab, icache, &group, miss_ns, 2, &yes, err))
            return false;
        if (!yes)
            continue;
        if (!confirm(lab, icache, &group, miss_ns, &yes, err))
            return false;
        if (yes) {
            icache->ways = count - 1;
            icache->way_bytes = group.stride;
        } else if (!fm_lab_place(lab, (size_t)(3 * high) + 2 * lab->machine->info.page_size, err)) {
            return false;
        }
    }
    return true;
}

/* One set holds as many lines as fit, wherever they are: the number is halved down to. */
static bool try_one_set(struct fm_lab *lab, struct fm_icache *icache, double low, double high,
                        double miss_ns, struct fm_error *err)
{
    unsigned fit = (unsigned)(low / (double)icache->line);
    unsigned miss = (unsigned)ceil(high / (double)icache->line) + 1;
    bool yes;
    while (miss - fit > 1) {
        const struct group group = {.count = (fit + miss) / 2, .stride = icache->line};
        if (!fm_lab_place(lab, arena_of(lab, &group), err) ||
            !conflicts(lab, icache, &group, miss_ns, 6, &yes, err))
            return false;
        if (yes)
            miss = group.count;
        else
            fit = group.count;
    }
    const struct group group = {.count = miss, .stride = icache->line};
    if (!confirm(lab, icache, &group, miss_ns, &yes, err))
        return false;
    icache->ways = yes ? fit : 0;
    icache->way_bytes = icache->line;
    return true;
}

bool fm_confirm_code_ways(struct fm_lab *lab, struct fm_icache *icache, unsigned ways,
                          size_t way_bytes, double miss_ns, bool *yes, struct fm_error *err)
{
    const struct group group = {.count = ways + 1, .stride = way_bytes};
    icache->lines.apart = icache->line / 2;
    const bool good = confirm(lab, icache, &group, miss_ns, yes, err);
    icache->lines.apart = FM_WORD;
    return good;
}

bool fm_time_code_set(struct fm_lab *lab, struct fm_icache *icache, double *miss_ns,
                      struct fm_error *err)
{
    const struct group group = {.count = icache->ways + 1, .stride = icache->way_bytes};
    const struct fm_care care = {.repeats = 6, .laps = 4, .steps = 64};
    struct fm_code_fetch found = {0};
    fill(icache, &group, lab->machine->info.page_size);
    icache->lines.apart = icache->line / 2;
    const bool good = fm_lab_place(lab, arena_of(lab, &group), err) &&
                      fm_time_fetch(lab, &icache->lines, &care, &found, err);
    icache->lines.apart = FM_WORD;
    *miss_ns = found.miss_ns;
    return good;
}

/* Whether a group that conflicts no longer does so when one line of it is moved on by some bytes:
   it is then another line. Looks that noise spoiled show as some that differ from the rest, and
   more are asked for. */
static bool is_another(struct fm_lab *lab, struct fm_icache *icache, size_t moved, double miss_ns,
                       bool *yes, struct fm_error *err)
{
    const struct group here = {.count = icache->ways + 1, .stride = icache->way_bytes};
    struct group there = here;
    unsigned seen = 0, apart = 0, wanted = CONFIRMATIONS;
    there.moved = moved;
    for (unsigned i = 0; i < 2 * wanted && seen < wanted; i++) {
        bool before, after;
        if (!fm_lab_place(lab, arena_of(lab, &here), err) ||
            !conflicts(lab, icache, &here, miss_ns, 6, &before, err) ||
            !conflicts(lab, icache, &there, miss_ns, 6, &after, err))
            return false;
        seen += before;
        apart += before && !after;
        if (apart > 0 && apart < seen)
            wanted = MANY_LOOKS;
    }
    *yes = seen == wanted && seen - apart <= wanted / CONFIRMATIONS;
    return true;
}

bool fm_refine_code_line(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                         struct fm_error *err)
{
    bool yes = icache->way_bytes > icache->line;
    if (yes && icache->halved) {
        if (!is_another(lab, icache, icache->line, miss_ns, &yes, err))
            return false;
        icache->ways = yes ? icache->ways : 0;
    }
    while (yes && icache->line > FM_SHORTEST_CODE_LINE) {
        /* Both slots of a line lie in its first half, which may be all of it. */
        icache->lines.apart = icache->line / 4;
        const bool good = is_another(lab, icache, icache->line / 2, miss_ns, &yes, err);
        icache->lines.apart = FM_WORD;
        if (!good)
            return false;
        icache->line /= yes ? 2 : 1;
    }
    return true;
}

/* Of one set any lines fit that are no more than its ways. A hashed index, too, has neighbours fill
   its sets alike, and one more of them conflict; but lines drawn from anywhere do so when they are
   fewer. */
static bool fit_from_anywhere(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                              bool *yes, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .laps = 4, .steps = 64};
    const size_t page = lab->machine->info.page_size, line = icache->line;
    const size_t pairs = icache->ways * 7 / 16;
    const size_t room = pairs ? fm_lab_limit(lab) / 4 / page / pairs : SPARSE;
    const size_t sparse = room < SPARSE ? room : SPARSE, pages = sparse * pairs;
    *yes = pairs == 0 || sparse > 0;
    if (pages == 0)
        return true;
    for (int i = 0; i < CONFIRMATIONS && *yes; i++) {
        struct fm_code_fetch found;
        struct fm_rng rng;
        if (!fm_lab_place(lab, pages * page + FM_TURN, err))
            return false;
        fm_rng_seed(&rng, lab->placement_seed);
        fm_code_lines_clear(&icache->lines);
        for (size_t pair = 0; pair < pairs; pair++) {
            const size_t from = (pair * sparse + fm_rng_below(&rng, sparse)) * page;
            const size_t half = page / line / 2;
            fm_code_lines_add(&icache->lines, from + fm_rng_below(&rng, half) * line,
                              from + (half + fm_rng_below(&rng, half)) * line);
        }
        if (!fm_time_fetch(lab, &icache->lines, &care, &found, err))
            return false;
        *yes = found.miss_ns < fmax(A_FEW * miss_ns, GRAIN * found.one_ns);
    }
    return true;
}

/* Whether lines that conflict are of one set: then they no longer do whichever of them is left out,
   as many as there are ways fit at any multiple of the distance, and one more conflicts on whatever
   pages: where an index is physical, and pages have few colours, three placements may be luck. Of a
   hashed index the first and the last of some that stand so far apart may be alone in their set;
   and where a way is no part of a page, lines so far apart may share a few sets that the pages
   choose among. */
static bool are_of_one_set(struct fm_lab *lab, struct fm_icache *icache, double miss_ns, bool *yes,
                           struct fm_error *err)
{
    struct group without = {.count = icache->ways + 1, .stride = icache->way_bytes};
    struct group apart = {.count = icache->ways}, here = without;
    unsigned against = 0, failed = 0;
    for (int i = 0; i < MANY_LOOKS; i++) {
        bool conflict;
        if (!fm_lab_place(lab, arena_of(lab, &here), err) ||
            !conflicts(lab, icache, &here, miss_ns, 4, &conflict, err))
            return false;
        failed += !conflict;
    }
    *yes = failed <= SPOILED;
    if (icache->ways < 2 || !*yes)
        return true;
    for (int i = 0; i < CONFIRMATIONS; i++)
        for (size_t times = 1; times <= MOST_APART; times++) {
            bool still;
            without.left_out = 1 + (unsigned)(fm_lab_seed(lab) % (icache->ways - 1));
            apart.stride = icache->way_bytes * times;
            const struct group *group = times == 1 ? &without : &apart;
            if (!fm_lab_place(lab, arena_of(lab, group), err) ||
                !conflicts(lab, icache, group, miss_ns, 6, &still, err))
                return false;
            against += still;
        }
    *yes = against <= SPOILED;
    return true;
}

bool fm_find_code_ways(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *step,
                       const struct fm_code_ways_range *range, struct fm_error *err)
{
    const double low = step->held / WIDER_LOW, high = step->missed * WIDER_HIGH;
    const double miss_ns = fm_code_miss(icache, step);
    const double all = floor(high / (double)icache->line) + 1;
    const unsigned most = (unsigned)fmin(all, range->most) + 1;
    icache->ways = 0;
    icache->lines.apart = icache->line / 2;
    bool good = fm_lab_place(lab, (size_t)(3 * high) + 2 * lab->machine->info.page_size, err);
    double spent = 0;
    for (unsigned count = range->least + 1;
         count <= most && good && !icache->ways && spent < MOST_REFERENCES; count++) {
        good = fm_lab_go_on(lab, 0, err) && try_count(lab, icache, count, low, high, miss_ns, err);
        spent += (1 + (high - low) / (count - 1) / (double)icache->line) * count * EACH;
    }
    if (good && !icache->ways && range->most > all)
        good = try_one_set(lab, icache, low, high, miss_ns, err);
    good = good && (!icache->ways || (look_again(lab, icache, miss_ns, err) &&
                                      look_closer(lab, icache, miss_ns, err)));
    bool yes = true;
    if (good && icache->ways)
        good = are_of_one_set(lab, icache, miss_ns, &yes, err);
    if (good && yes && icache->ways && icache->way_bytes == icache->line)
        good = fit_from_anywhere(lab, icache, miss_ns, &yes, err);
    if (!yes)
        icache->ways = 0;
    icache->lines.apart = FM_WORD;
    return good;
}
