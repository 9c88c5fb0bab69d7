/* How much code the first cache serves where pages, or a hash, decide which lines share a set: the
 * part of the lines that miss is averaged over placements, and followed to where it is one in
 * twenty. */
#include <math.h>
#include <stdlib.h>

#include "analysis/colours.h"
#include "core/rng.h"
#include "probe/icache.h"
#include "refstring/refstring.h"

/* Footprints to an octave, at the most, and of which a look along the rise takes one in so many. */
#define DENSITY     12
#define MOST_POINTS 96
#define EVERY       3
/* Part of what the curve has fit at which misses may begin on other placements. */
#define FIRST_PART 0.2
/* Placements that show roughly what a line adds; and the part of what lines of a group add that is
   none, and that is well on the way. */
#define FEW      3
#define NONE     0.02
#define HALF_WAY 0.5
/* Part of the code, twice as much as is well on the way, that shows the rise. */
#define PART_OF_ALL 0.75
/* Placements of the first look, and those that show what is rare, as misses are where they begin:
   as many along the rise where references allow, and so many in any case; all that there is room
   for; and by how much they grow from one look around the crossing to the next. */
#define FIRST_LOOK  2
#define LOOKS       24
#define LEAST_LOOKS 16
#define MOST        512
#define GROW        0.5
/* Times the crossing that is around it, and well before it. */
#define AROUND 1.25
#define BEFORE 2
/* An interval that is narrow enough; and references that are enough, of the rise and in all: a few
   tenths of a second of jumps. */
#define NARROW      1.06
#define ENOUGH_RISE 2e7
#define ENOUGH      4e7
#define SURE        0.99
#define RESAMPLE    200
#define DRAWS       24
/* Laps that a reading takes, roughly, in all its repeats and both forms, beside those to settle,
   and how often it takes those. */
#define LAPS_EACH 8
#define RUNS_EACH 6
/* Lines of a page that stand for all of it, where a set is chosen by the address: as many miss, to
   within a part. */
#define OF_A_PAGE 8
#define ALIKE     0.15
/* Steps of the clock that a reading of an average spans, and the most: as one that is believed by
   itself does. */
#define STEPS      64
#define MOST_STEPS 512
/* More code than any first cache holds. */
#define MOST_CODE 0x1p21
/* Laps that lines take to settle, and where they are given up by lot. */
#define FEW_LAPS  2
#define MANY_LAPS 24
/* What colours may be off by where they describe a rise; how few are none; and times that what they
   say may differ from what was seen. */
#define DESCRIBED   0.05
#define FEW_COLOURS 1.75
#define AGREES      1.05
/* … of those that lines of a set have told: what these may be off by, the standard errors that hold
   it, and times that they may differ from what was seen. */
#define NEAR   0.065
#define ERRORS 2
#define ODDS   1.3
/* Points at the end of the rise, and their height, in what lines of a group add, where those of a
   group miss in part. */
#define END     4
#define IN_PART 1.2
/* Part of what a group adds that is its misses, at the least. */
#define LEAST_LEFT 0.5
/* What an answer can be off by, at the least: footprints stand apart, and what a miss costs is not
   known exactly. */
#define LEAST_WIDTH 0.05

struct average {
    double k[MOST_POINTS];
    size_t n;
    double misses[MOST * MOST_POINTS]; /* NAN: not measured */
    size_t placements;
    double miss_ns;
    unsigned laps;  /* to settle */
    unsigned steps; /* of the clock */
    size_t unit;    /* bytes from line to line */
    double noise;   /* what a jump takes in all, in misses: what readings are off by goes with it */
    double references;
};

static void lay_out(struct average *average, size_t line, double from, double to)
{
    const double unit = (double)line;
    double bytes = fmax(from, 2 * unit);
    while (average->n < MOST_POINTS && bytes <= to) {
        average->k[average->n++] = floor(bytes / unit) * unit;
        bytes = fmax(bytes + unit, bytes * exp2(1.0 / DENSITY));
    }
}

static bool read_point(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                       double bytes, double *misses, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 2, .laps = average->laps, .steps = average->steps};
    struct fm_code_fetch found;
    fm_code_lines_fill(&icache->lines, (size_t)bytes, average->unit, lab->machine->info.page_size);
    average->references +=
        2 * (LAPS_EACH + RUNS_EACH * average->laps) * (double)icache->lines.lines;
    if (!fm_lab_go_on(lab, 0, err) || !fm_time_fetch(lab, &icache->lines, &care, &found, err))
        return false;
    *misses = found.miss_ns / average->miss_ns;
    average->noise = found.one_ns / average->miss_ns;
    return true;
}

/* One placement more, of the footprints between two, or of every so manyth. From large to small, so
   that the first finds room for all. */
static bool look(struct fm_lab *lab, struct fm_icache *icache, struct average *average, double from,
                 double to, size_t every, struct fm_error *err)
{
    double *row = average->misses + average->placements++ * average->n;
    bool placed = false;
    for (size_t i = average->n; i-- > 0;) {
        row[i] = NAN;
        if (average->k[i] < from || average->k[i] > to || (average->n - 1 - i) % every)
            continue;
        if (!placed && !fm_lab_place(lab, (size_t)average->k[i] + FM_TURN, err))
            return false;
        placed = true;
        if (!read_point(lab, icache, average, average->k[i], &row[i], err))
            return false;
    }
    return true;
}

/* Whether a few lines of each page say the same as all, on the placement that is there. */
static bool choose_unit(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                        double bytes, struct fm_error *err)
{
    const size_t line = icache->line, page = lab->machine->info.page_size, few = page / OF_A_PAGE;
    const unsigned steps = average->steps;
    unsigned alike = 0;
    if (few <= line)
        return true;
    bytes = fmax(1, floor(bytes / (double)page)) * (double)page;
    average->steps = MOST_STEPS;
    for (int i = 0; i < FEW; i++) {
        double all, some;
        average->unit = line;
        if (!fm_lab_place(lab, (size_t)bytes + FM_TURN, err) ||
            !read_point(lab, icache, average, bytes, &all, err))
            return false;
        average->unit = few;
        if (!read_point(lab, icache, average, bytes, &some, err))
            return false;
        alike += fabs(some - all) < ALIKE * all;
    }
    average->unit = alike + 1 >= FEW ? few : line;
    average->steps = steps;
    return true;
}

/* What a line adds at a footprint, over a few placements. */
static bool read_roughly(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                         double bytes, double *misses, struct fm_error *err)
{
    *misses = 0;
    for (int i = 0; i < FEW; i++) {
        double one;
        if (!fm_lab_place(lab, (size_t)bytes + FM_TURN, err) ||
            !read_point(lab, icache, average, bytes, &one, err))
            return false;
        *misses += one / FEW;
    }
    return true;
}

static void scale(struct average *average, double height)
{
    average->miss_ns *= height;
    for (size_t i = 0; i < average->placements * average->n; i++)
        average->misses[i] /= height;
}

/* What a line adds that misses: one of a group does not always. */
static double of_a_miss(const struct fm_code_groups *groups)
{
    return fmax(groups->miss_ns, groups->all_ns);
}

/* A group is so little code that what holds decoded operations serves it when it hits, and more
   code may be too much for that: a miss then adds less. Slots of a line that are in one of its
   units show its misses too, those half a line apart do not; and those take two units of each line,
   so that it is twice the code which takes as many the other way. */
static bool leave_operations_out(struct fm_lab *lab, struct fm_icache *icache,
                                 struct average *average, const struct fm_code_groups *groups,
                                 double bytes, struct fm_error *err)
{
    double theirs = 0;
    bytes = 2 * fmax(bytes, (double)average->unit);
    for (int i = 0; i < FEW; i++) {
        double close = 0, apart = 0;
        icache->lines.apart = FM_WORD;
        const bool good = fm_lab_place(lab, (size_t)bytes + FM_TURN, err) &&
                          read_point(lab, icache, average, bytes, &close, err);
        icache->lines.apart = icache->line / 2;
        if (!good || !read_point(lab, icache, average, bytes, &apart, err))
            return false;
        theirs += average->miss_ns * (close - apart) / FEW;
    }
    /* Less than a cycle is nothing that holds them. */
    if (theirs < FM_A_CYCLE * lab->known.cycle_ns)
        theirs = 0;
    /* Of some policies a group misses in part, and adds less than they do. */
    const double adds = of_a_miss(groups), left = fmax(adds - theirs, LEAST_LEFT * adds);
    scale(average, left / average->miss_ns);
    return true;
}

/* Where the rise begins, and where it is well under way, in steps of two. */
static bool find_ends(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                      const struct fm_tlb_step *rise, double *from, double *to,
                      struct fm_error *err)
{
    const double limit = fmin(MOST_CODE, (double)fm_lab_limit(lab) / 4);
    double misses = 1;
    for (*from = FIRST_PART * rise->held; *from > 4 * (double)icache->line; *from /= 2) {
        if (!read_roughly(lab, icache, average, *from, &misses, err))
            return false;
        if (misses < NONE)
            break;
    }
    for (*to = *from; *to <= limit && misses < HALF_WAY; *to *= 2)
        if (!read_roughly(lab, icache, average, *to, &misses, err))
            return false;
    average->steps = (unsigned)fmin(fmax(STEPS * average->noise, STEPS), MOST_STEPS);
    /* On other placements it may begin sooner; and it was doubled once more. */
    *from /= 2;
    *to = misses < HALF_WAY ? 0 : *to;
    return true;
}

static bool conclude(struct fm_lab *lab, const struct average *average,
                     struct fm_crossing *crossing, struct fm_error *err)
{
    const struct fm_placements data = {
        .k = average->k, .n = average->n, .misses = average->misses, .count = average->placements};
    return fm_find_crossing(&data, FM_CAPACITY_MISSES, SURE, RESAMPLE, fm_lab_seed(lab),
                            crossing) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for an average over placements");
}

static bool look_along(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                       double from, size_t placements, double references, struct fm_error *err)
{
    while (average->placements < placements &&
           (average->references < references || average->placements < LEAST_LOOKS))
        if (!look(lab, icache, average, from, INFINITY, EVERY, err))
            return false;
    return true;
}

/* The means of a draw of the placements; all of them once, where that is no draw. */
static size_t take_means(const struct average *average, struct fm_rng *rng, double page,
                         double pages[], double means[], double weights[])
{
    size_t n = 0, drawn[MOST];
    for (size_t j = 0; j < average->placements; j++)
        drawn[j] = rng ? fm_rng_below(rng, average->placements) : j;
    for (size_t i = 0; i < average->n; i++) {
        means[n] = weights[n] = 0;
        for (size_t j = 0; j < average->placements; j++) {
            const double misses = average->misses[drawn[j] * average->n + i];
            means[n] += isnan(misses) ? 0 : misses;
            weights[n] += !isnan(misses);
        }
        if (weights[n] <= 0)
            continue;
        means[n] /= weights[n];
        pages[n++] = average->k[i] / page;
    }
    return n;
}

static bool fit_once(const struct average *average, struct fm_rng *rng, double page, uint32_t ways,
                     struct fm_colours *fit)
{
    double pages[MOST_POINTS], means[MOST_POINTS], weights[MOST_POINTS];
    const size_t n = take_means(average, rng, page, pages, means, weights);
    return fm_fit_colours(&(struct fm_colour_points){pages, means, weights, n, ways}, fit);
}

/* How far the answer of colours moves when placements are drawn again. */
static struct fm_crossing with_interval(struct fm_lab *lab, const struct average *average,
                                        double page, uint32_t ways, double at)
{
    struct fm_crossing crossing = {.at = at, .low = at, .high = at, .inside = true};
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    for (int i = 0; i < DRAWS; i++) {
        struct fm_colours again;
        if (!fit_once(average, &rng, page, ways, &again))
            continue;
        const double drawn = page * fm_colour_pages(FM_CAPACITY_MISSES, again.colours, ways);
        crossing.low = fmin(crossing.low, drawn);
        crossing.high = fmax(crossing.high, drawn);
    }
    return crossing;
}

/* Over all readings from one footprint to before another; NAN: there are none. */
static double mean_of(const struct average *average, size_t from, size_t to)
{
    double sum = 0;
    unsigned count = 0;
    for (size_t j = 0; j < average->placements; j++)
        for (size_t i = from; i < to; i++) {
            const double misses = average->misses[j * average->n + i];
            sum += isnan(misses) ? 0 : misses;
            count += !isnan(misses);
        }
    return count ? sum / count : NAN;
}

/* Whether as many pages as there are ways miss: the lines of a page then share sets with each
   other, as by a hash whose way is no multiple of a page, and pages have no colours. */
static bool pages_meet_themselves(const struct average *average, double page, uint32_t ways)
{
    size_t from = 0, to = 0;
    while (to < average->n && average->k[to] <= page * ways)
        from += average->k[to++] <= page * ways / 2;
    return mean_of(average, from, to) > NONE;
}

/* Where lines of a set have told the colours, and neither what was seen where misses begin nor few
   pages that miss are at odds with that. */
static bool are_counted(const struct average *average, const struct fm_code_groups *groups,
                        double page, const struct fm_crossing *crossing)
{
    if (groups->colours < FEW_COLOURS || groups->colours_error > NEAR ||
        pages_meet_themselves(average, page, groups->ways))
        return false;
    const double at = page * fm_colour_pages(FM_CAPACITY_MISSES, groups->colours, groups->ways);
    return !crossing->inside || (at * ODDS > crossing->low && at < ODDS * crossing->high);
}

static struct fm_crossing by_counted(const struct fm_code_groups *groups, double page)
{
    const double off = 1 + ERRORS * groups->colours_error;
    return (struct fm_crossing){
        .at = page * fm_colour_pages(FM_CAPACITY_MISSES, groups->colours, groups->ways),
        .low = page * fm_colour_pages(FM_CAPACITY_MISSES, groups->colours / off, groups->ways),
        .high = page * fm_colour_pages(FM_CAPACITY_MISSES, groups->colours * off, groups->ways),
        .inside = true};
}

/* Where pages fall into colours, and one page too many makes all of its colour miss, as under LRU,
   the rise as a whole tells how many there are; and these, with the ways, where misses begin, which
   is the doing of few placements. */
static bool ask_colours(struct fm_lab *lab, struct average *average,
                        const struct fm_code_groups *groups, struct fm_crossing *crossing,
                        bool *told, struct fm_error *err)
{
    const double page = (double)lab->machine->info.page_size;
    const uint32_t ways = groups->ways;
    struct fm_colours fit;
    *told = false;
    if (!conclude(lab, average, crossing, err))
        return false;
    if (are_counted(average, groups, page, crossing)) {
        *told = true;
        *crossing = by_counted(groups, page);
        return true;
    }
    if (!fit_once(average, NULL, page, ways, &fit) || !crossing->inside)
        return true;
    const double at = page * fm_colour_pages(FM_CAPACITY_MISSES, fit.colours, ways);
    if (fit.residual > DESCRIBED || fit.colours < FEW_COLOURS || at * AGREES < crossing->low ||
        at > AGREES * crossing->high || pages_meet_themselves(average, page, ways))
        return true;
    *told = true;
    *crossing = with_interval(lab, average, page, ways, at);
    return true;
}

/* What a miss costs by the end of the rise, where that is more than groups tell: of some policies
   they miss in part. */
static double height_of_end(const struct average *average)
{
    const size_t n = average->n;
    const double height = mean_of(average, n > END ? n - END : 0, n);
    return height > IN_PART ? height : 1;
}

/* Follows the crossing itself, where nothing else tells. */
static bool follow(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                   struct fm_crossing *crossing, struct fm_error *err)
{
    do {
        const double at = crossing->at;
        const size_t more = (size_t)((double)average->placements * GROW) + 1;
        for (size_t i = 0; i < more && average->placements < MOST && average->references < ENOUGH;
             i++)
            if (!look(lab, icache, average, at / AROUND, at * AROUND, 1, err))
                return false;
        if (!conclude(lab, average, crossing, err))
            return false;
    } while (average->placements < MOST && average->references < ENOUGH &&
             (crossing->high > NARROW * crossing->low || average->placements < LOOKS));
    return true;
}

static bool take_looks(struct fm_lab *lab, struct fm_icache *icache, struct average *average,
                       const struct fm_code_groups *groups, struct fm_code_average *found,
                       struct fm_error *err)
{
    struct fm_crossing *crossing = &found->crossing;
    bool told = false;
    if (!look_along(lab, icache, average, 0, FIRST_LOOK, INFINITY, err) ||
        !conclude(lab, average, crossing, err) ||
        !leave_operations_out(lab, icache, average, groups, crossing->at, err) ||
        !conclude(lab, average, crossing, err) ||
        !look_along(lab, icache, average, crossing->at / BEFORE, LOOKS, ENOUGH_RISE, err))
        return false;
    const double height = height_of_end(average);
    scale(average, height);
    average->laps = height > IN_PART ? MANY_LAPS : FEW_LAPS;
    /* Only where all lines of a group miss do all of a colour; more than that is the level behind
       where lines of a set have shown that they do. */
    const bool coloured = groups->all_ns <= 0 && (height <= IN_PART || groups->colours > 0);
    if (!(coloured ? ask_colours(lab, average, groups, crossing, &told, err)
                   : conclude(lab, average, crossing, err)))
        return false;
    if (!told && !follow(lab, icache, average, crossing, err))
        return false;
    crossing->low *= 1 - LEAST_WIDTH;
    crossing->high *= 1 + LEAST_WIDTH;
    return true;
}

bool fm_average_code_capacity(struct fm_lab *lab, struct fm_icache *icache,
                              const struct fm_tlb_step *rise, const struct fm_code_groups *groups,
                              struct fm_code_average *found, struct fm_error *err)
{
    struct average *average = calloc(1, sizeof *average);
    if (!average)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for an average over placements");
    *found = (struct fm_code_average){0};
    average->miss_ns = of_a_miss(groups);
    average->laps = FEW_LAPS;
    average->steps = STEPS;
    average->unit = icache->line;
    icache->lines.apart = icache->line / 2;
    double from = 0;
    bool good = leave_operations_out(lab, icache, average, groups, rise->held, err) &&
                find_ends(lab, icache, average, rise, &from, &found->all, err);
    const bool seen = good && found->all > 0;
    if (seen && groups->by_address)
        good = choose_unit(lab, icache, average, found->all / 2, err);
    lay_out(average, average->unit, from, PART_OF_ALL * found->all);
    if (seen && good && average->n > 1)
        good = take_looks(lab, icache, average, groups, found, err);
    icache->lines.apart = FM_WORD;
    free(average);
    return good;
}
