/* The linesize test: a footprint larger than the cache, of which only every other stripe is
 * touched. Stripes narrower than a line touch every line, and the walk misses as if all were
 * touched; stripes of a line or more leave half of the lines alone, and the rest fits. What all
 * lines and what half of them take is timed beside each stripe, on the same placement of pages:
 * luck with pages, and what neighbours on the machine leave of a cache, are then the same for all
 * three.
 *
 * The string is primed by growing it. A prefetcher that fetches a neighbour along with each miss
 * would otherwise keep the cache full of lines nobody asked for, and the line would look twice as
 * long (as it did in Cooper and Sandoval's table). Grown, the wanted lines all stay, nothing
 * misses any more, and the prefetcher has nothing to follow. */
#include "probe/line.h"

#include <math.h>
#include <stdio.h>

#include "refstring/refstring.h"

/* A cache with few ways needs a choice of stripes that happens to load its sets alike. */
#define VARIANTS_SMALL 8
#define VARIANTS_FEW   2
/* … unless, of many pages, these miss in all but so few that each line must have been touched. */
#define VARIANTS_CLEAR  3
#define NEARLY_ALL      0.95
#define LARGE_FOOTPRINT (1u << 21)
#define MANY_PAGES      64

/* Half of a footprint's lines, whichever they are, load some sets more than others: they fit where
   this part of the whole would. */
#define CROWDED 0.7

/* Part of the walk's step from hit to miss that a placement must show, and parts of its misses that
   a stripe keeps: so many or so few leave no doubt, and fewer than half are those of half the
   lines. */
#define MANY       0.25
#define CLEAR_MISS 0.85
#define CLEAR_HIT  0.15
#define HALF       0.5
/* Stripes at the most: each twice the one before, up to the longest line there is. */
#define STRIPES 32
/* Times a footprint that the next one is. */
#define LARGER 1.4

/* What is spent at the most, and what where counters have told the line, or on a large footprint
   where there is no time. */
struct spend {
    unsigned placements;      /* that are asked … */
    unsigned most_placements; /* … of so many, if some make few misses */
    int footprints;           /* each larger than the one before, where one does not decide */
};
static const struct spend usual = {3, 8, 3}, hurried = {1, 2, 1};

/* A footprint this many times another is no longer the same question. */
#define MOVED 4
/* Times what counters saw a level hold from where more than a few miss on any placement. */
#define BEYOND 1.25

/* The point at which touching half makes the greatest difference for its latency, and that
   difference. */
static size_t telling_point(const struct fm_lab *lab, size_t index, double *difference)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_known_level *level = &lab->known.levels[index], *next = level + 1;
    const struct fm_counted *counted = fm_lab_counted(lab, (unsigned)index);
    const double from = fmax(level->rise_from, counted ? BEYOND * counted->effective : 0);
    const double end = fmin(next->flat_to, 8 * fmax(level->rise_to, level->rise_from));
    size_t best = 0;
    double most = 0;
    *difference = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes <= from || bytes > end)
            continue;
        const double here = fm_walk_mean(&walk->points[i]);
        const double contrast = log(here / fm_walk_at(walk, bytes * CROWDED));
        /* Prefer the smaller of two that tell nearly the same: it costs less. */
        if (contrast > most * 1.05) {
            most = contrast;
            *difference = here - fm_walk_at(walk, bytes / 2);
            best = i;
        }
    }
    return best;
}

/* What is asked at one footprint. */
struct question {
    size_t bytes, grain; /* no line of the level is shorter than the grain */
    double step;         /* what a miss adds, by the walk */
    unsigned placements; /* that are asked … */
    unsigned most;       /* … of so many */
    bool thin;           /* counters have shown that one unit of many misses as all do */
    bool counted;        /* the line is known by counters: if time does not tell it, they do */
};

static bool is_large(const struct question *question)
{
    return question->bytes > LARGE_FOOTPRINT;
}

static bool has_many_pages(const struct fm_lab *lab, const struct question *question)
{
    return question->bytes >= MANY_PAGES * lab->machine->info.page_size;
}

static bool time_stripes(struct fm_lab *lab, const struct question *question,
                         struct fm_stripe_plan plan, double *ns, struct fm_error *err)
{
    plan.page = lab->machine->info.page_size;
    plan.seed = fm_lab_seed(lab);
    /* Where all lines are asked for, what comes along with one is no other's; but what a small
       level keeps may depend on how it was filled. */
    const bool all = plan.stripe < question->grain;
    const struct fm_care care = {.repeats = 3, .grow = !all || !is_large(question)};
    struct fm_string string;
    if (!fm_stripe_string(&string, &plan, err))
        return false;
    /* Of each page two pairs of the widest stripes: it is visited once in a sweep all the same. */
    if (question->thin && has_many_pages(lab, question) && plan.page > 4 * FM_LONGEST_LINE)
        fm_string_keep_first(&string, 4 * FM_LONGEST_LINE, plan.page);
    return fm_lab_time(lab, &string, &care, ns, err);
}

/* Which part of the misses of all lines one variant of a stripe keeps; one placement proves a miss,
   a hit may be luck unless pages are many. NAN: no placement made many misses. The stripe comes
   first: a cache that evicts what came first remembers what was before. */
static bool measure_variant(struct fm_lab *lab, const struct question *question, size_t stripe,
                            unsigned variant, double *kept, struct fm_error *err)
{
    const size_t bytes = question->bytes, grain = question->grain;
    const struct fm_stripe_plan some_lines = {.bytes = bytes, .stripe = stripe, .variant = variant};
    const struct fm_stripe_plan all_lines = {.bytes = bytes, .stripe = grain / 2};
    const struct fm_stripe_plan half_of_them = {
        .bytes = bytes, .stripe = grain, .variant = variant, .packed = FM_LONGEST_LINE};
    double misses = 0, rest = 0;
    *kept = NAN;
    for (unsigned i = 0, used = 0; i < question->most && used < question->placements; i++) {
        double some, all, half;
        if (!fm_lab_place(lab, bytes, err) ||
            !time_stripes(lab, question, some_lines, &some, err) ||
            !time_stripes(lab, question, all_lines, &all, err) ||
            !time_stripes(lab, question, half_of_them, &half, err))
            return false;
        if (all - half < MANY * question->step) {
            if (fm_lab_is_late(lab))
                break;
            continue;
        }
        used++;
        misses += all - half;
        rest += some - half;
        *kept = rest / misses;
        if (*kept > CLEAR_MISS || (*kept < CLEAR_HIT && is_large(question)))
            break;
    }
    return true;
}

/* Tries more variants of a stripe. `kept`: the least that one before has kept, or now, as soon as
   one hits, what that one keeps. */
static bool measure_stripe(struct fm_lab *lab, const struct question *question, size_t stripe,
                           unsigned from, unsigned end, double *kept, struct fm_error *err)
{
    for (unsigned v = from; v < end && !(*kept < HALF); v++) {
        double one;
        if (v >= VARIANTS_CLEAR && *kept > NEARLY_ALL && has_many_pages(lab, question))
            break;
        if (!measure_variant(lab, question, stripe, v, &one, err))
            return false;
        *kept = fmin(*kept, one);
    }
    return true;
}

static struct fm_curve *begin_curve(struct fm_lab *lab, size_t index)
{
    char id[48];
    snprintf(id, sizeof id, "linesize-%zu", index + 1);
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (curve) {
        curve->x = (struct fm_axis){"stripe", "B"};
        curve->y = (struct fm_axis){"misses kept", ""};
    }
    return curve;
}

/* Asks one stripe after the other, by one variant each: what hits ends it, and what no placement
   decides. Wider stripes hit where a narrower one does, and narrower ones miss where a wider one
   does, so the other variants have their say from there inward until all of a stripe miss. */
static bool ask(struct fm_lab *lab, const struct question *question, struct fm_known_level *level,
                struct fm_curve *curve, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t widest = page / 2 < FM_LONGEST_LINE ? page / 2 : FM_LONGEST_LINE;
    const unsigned variants =
        is_large(question) || question->counted ? VARIANTS_FEW : VARIANTS_SMALL;
    double kept[STRIPES];
    size_t count = 0, missed;
    level->line_certainty = 1;
    level->line_bytes = (double)question->bytes;
    for (size_t stripe = question->grain; stripe <= widest && stripe * 4 <= question->bytes;
         stripe *= 2) {
        kept[count] = NAN;
        if (!measure_stripe(lab, question, stripe, 0, 1, &kept[count], err))
            return false;
        if (isnan(kept[count])) {
            level->line_certainty = 0;
            return true;
        }
        if (kept[count++] < HALF)
            break;
    }
    for (missed = count; missed > 0; missed--) {
        double *last = &kept[missed - 1];
        if (!measure_stripe(lab, question, question->grain << (missed - 1), 1, variants, last, err))
            return false;
        if (!(*last < HALF))
            break;
    }
    for (size_t i = 0; i < count; i++) {
        fm_curve_add(curve, (struct fm_point){.x = (double)(question->grain << i),
                                              .y = kept[i],
                                              .low = kept[i],
                                              .high = kept[i]});
        if (i < missed)
            level->line_certainty = fmin(level->line_certainty, (kept[i] - HALF) / (1 - HALF));
    }
    if (missed < count)
        level->line = question->grain << missed;
    return true;
}

/* Whether one part of each page shows what all of it does: counters saw so of the level itself, and
   the first one has no more sets for that part than its share, which are those of whole pages. */
static bool shows_thinly(const struct fm_lab *lab, size_t index)
{
    const struct fm_counted *counted = fm_lab_counted(lab, (unsigned)index);
    const struct fm_counted *first = fm_lab_counted(lab, 0);
    if (!counted || !counted->thin || !first || !first->ways)
        return false;
    return (size_t)first->bytes / first->ways % lab->machine->info.page_size == 0;
}

bool fm_find_line(struct fm_lab *lab, size_t index, size_t from, struct fm_error *err)
{
    struct fm_known_level *level = &lab->known.levels[index];
    /* Luck that misleads one placement does not also mislead the counters. */
    const struct fm_counted *counted = fm_lab_counted(lab, (unsigned)index);
    double step;
    const size_t telling = telling_point(lab, index, &step);
    double bytes = (double)lab->walk.points[telling].bytes;
    /* Half of a line that was counted must keep its misses, and the line must not. */
    const size_t half = counted && counted->ways ? counted->line / 2 : 0;
    const size_t grain = half > from ? half : from;
    const bool told = counted && counted->line;
    const bool hurry = lab->options->effort == FM_QUICK && bytes > LARGE_FOOTPRINT;
    const struct spend *spend = told || hurry ? &hurried : &usual;
    level->line = 0;
    level->line_certainty = 0;
    for (int i = 0; telling && level->line_certainty < FM_LINE_CERTAIN && i < spend->footprints &&
                    !(i > 0 && fm_lab_is_late(lab));
         i++) {
        struct fm_curve *curve = begin_curve(lab, index);
        const struct question question = {.bytes = (size_t)bytes,
                                          .grain = grain,
                                          .step = step,
                                          .placements = spend->placements,
                                          .most = spend->most_placements,
                                          .thin = shows_thinly(lab, index),
                                          .counted = told};
        if (!curve)
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
        if (!ask(lab, &question, level, curve, err))
            return false;
        bytes *= LARGER;
    }
    return true;
}

bool fm_line_is_stale(const struct fm_lab *lab, size_t index)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    double difference;
    const size_t telling = telling_point(lab, index, &difference);
    return telling &&
           fabs(log((double)lab->walk.points[telling].bytes / level->line_bytes)) > log(MOVED);
}
