#include "probe/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/served.h"

#define PLACEMENTS  4
#define LEAST_PAGES 2
#define MOST_PAGES  32
/* Times the lines that are touched, that the first level should have room for. */
#define ROOM 6
/* Metered references in all that an alternative gets. */
#define REFERENCES   768
#define LEAST_ROUNDS 12
/* Part of the readings that is believed; and what is no further above these than a clock's step. */
#define BELIEVED 0.75
/* How far into the step from one level to the next a reading may lie to count as the level. */
#define CLEAR 0.35
/* Standard errors that two levels must be apart to be told from each other. */
#define RESOLVED 3
/* Times what clocks and translation make of an error that make it another's: what comes along in
   some rounds and not in others is of no level. */
#define MIXED  3
#define JITTER 0.02
/* Part of the readings that lie below nearly the least. */
#define NEARLY_LEAST 0.1
/* Rounds of counts that are enough if they agree, to within a part. */
#define ENOUGH 2
#define AGREE  0.01

size_t fm_trial_beside(const struct fm_trial *trial)
{
    return trial->rounds / PLACEMENTS * trial->alternatives * trial->group.count *
           trial->group.page;
}

static size_t pages_of_group(const struct fm_lab *lab, size_t touched)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const double bytes = first->capacity > 0 ? first->capacity : first->rise_from;
    const size_t lines = (size_t)bytes / (first->line ? first->line : 64);
    const size_t pages = lines / (ROOM * (touched ? touched : 1));
    return pages < LEAST_PAGES ? LEAST_PAGES : pages > MOST_PAGES ? MOST_PAGES : pages;
}

void fm_trial_plan(const struct fm_lab *lab, struct fm_trial *trial)
{
    const size_t pages = pages_of_group(lab, trial->lines);
    const double step = lab->machine->info.clock.resolution_ns;
    const double each = (double)pages * (lab->fastest_ns > 0 ? lab->fastest_ns : 1);
    /* Where a round is shorter than a step of the clock it takes more of them. */
    const double coarse = fmin(4, fmax(1, step / each));
    const double rounds = fmax(LEAST_ROUNDS, REFERENCES / (double)pages) * coarse;
    trial->rounds = (unsigned)fmin(FM_TRIAL_ROUNDS, rounds) / PLACEMENTS * PLACEMENTS;
    /* What is counted comes out the same in each, or nearly. */
    trial->counted = trial->served && fm_levels_are_fairly_counted(lab);
    if (trial->counted)
        trial->rounds = PLACEMENTS;
    trial->group.count = pages;
    if (trial->group.page == 0)
        trial->group.page = lab->machine->info.page_size;
}

size_t fm_first_line(struct fm_lab *lab)
{
    struct fm_known_level *first = &lab->known.levels[0];
    const struct fm_finding *finding = fm_result_find(lab->result, "l1d.line");
    if (!first->line && finding && finding->status == FM_MEASURED)
        first->line = (size_t)finding->value.number;
    return first->line;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of those readings, from one up to before another, at least of one. */
static double mean_of(const double *ns, size_t from, size_t to)
{
    double sum = 0;
    const size_t end = to > from ? to : from + 1;
    for (size_t i = from; i < end; i++)
        sum += ns[i];
    return sum / (double)(end - from);
}

/* A coarse clock says 0 most of the time and a step now and then of what is shorter than that:
   those are no disturbance, and without them the average would be 0. */
static struct fm_taken conclude(double *ns, size_t count, double step)
{
    double squares = 0;
    qsort(ns, count, sizeof *ns, ascending);
    size_t kept = (size_t)ceil(BELIEVED * (double)count);
    if (kept < 2)
        return (struct fm_taken){.ns = NAN, .error = INFINITY};
    const double highest = ns[kept - 1] + step;
    while (kept < count && ns[kept] <= highest)
        kept++;
    const double mean = mean_of(ns, 0, kept);
    for (size_t i = 0; i < kept; i++)
        squares += (ns[i] - mean) * (ns[i] - mean);
    struct fm_taken taken = {.ns = mean,
                             .error = sqrt(squares / (double)(kept - 1) / (double)kept),
                             .grain = step / 2 / sqrt((double)kept),
                             .least = ns[(size_t)(NEARLY_LEAST * (double)kept)],
                             .most = ns[kept - 1]};
    for (size_t i = 0; i < FM_RANKS; i++)
        taken.ranks[i] = mean_of(ns, i * kept / FM_RANKS, (i + 1) * kept / FM_RANKS);
    return taken;
}

/* *references: how many were timed. */
static bool time_one(struct fm_lab *lab, const struct fm_trial *trial, unsigned alternative,
                     const struct fm_group *group, double *ns, uint64_t *references,
                     struct fm_error *err)
{
    char label[FM_STRING_LABEL];
    struct fm_string string;
    snprintf(label, sizeof label, "%s(way=%u,page=%zu,pages=%zu,seed=%llu)", trial->name,
             alternative, group->first, group->count, (unsigned long long)group->seed);
    fm_string_empty(&string, label, fm_trial_beside(trial) + trial->beside);
    if (!trial->build(trial, alternative, group, &string, err)) {
        fm_string_free(&string);
        return false;
    }
    *references = string.phases[string.phase_count - 1].references;
    return (trial->served ? fm_served_once : fm_lab_once)(lab, &string, ns, err);
}

/* Whether the first two readings of each alternative are the same. */
static bool agree(double ns[][FM_TRIAL_ROUNDS], const size_t *count, unsigned alternatives)
{
    for (unsigned i = 0; i < alternatives; i++)
        if (count[i] < ENOUGH || fabs(ns[i][1] - ns[i][0]) > AGREE * fabs(ns[i][0]))
            return false;
    return true;
}

bool fm_trial_run(struct fm_lab *lab, const struct fm_trial *trial, struct fm_taken *taken,
                  struct fm_error *err)
{
    double ns[FM_ALTERNATIVES][FM_TRIAL_ROUNDS];
    size_t count[FM_ALTERNATIVES] = {0};
    uint64_t references[FM_ALTERNATIVES] = {0};
    struct fm_group group = trial->group;
    for (unsigned round = 0; round < trial->rounds; round++) {
        const unsigned turns = trial->rounds / PLACEMENTS, turn = round % turns;
        const unsigned shift = turn + round / turns;
        if (turn == 0 && !fm_lab_place(lab, fm_trial_beside(trial) + trial->beside, err))
            return false;
        group.seed = fm_lab_seed(lab);
        for (unsigned place = 0; place < trial->alternatives; place++) {
            /* What a page's place costs in a TLB comes round with it, and what is first on fresh
               pages finds that empty: all have each place in turn. */
            const unsigned i = (place + shift) % trial->alternatives;
            double one;
            group.first = (turn * trial->alternatives + place) * group.count;
            if (!time_one(lab, trial, i, &group, &one, &references[i], err))
                return false;
            if (!isnan(one))
                ns[i][count[i]++] = one;
        }
        if (trial->counted && round + 1 == ENOUGH && agree(ns, count, trial->alternatives))
            break;
    }
    const double step = trial->counted ? 0 : lab->machine->info.clock.resolution_ns;
    for (unsigned i = 0; i < trial->alternatives; i++)
        taken[i] = conclude(ns[i], count[i], step / (double)references[i]);
    return true;
}

/* What makes an error of a reading that one level serves: translation, which is as unsteady for
   what hits, and a clock, by its steps and by a part of what it times. */
static double usual_error(struct fm_taken taken, struct fm_taken hit)
{
    return hypot(hypot(taken.grain, JITTER * taken.ns), hit.error);
}

/* The level whose latency is nearest. */
static size_t nearest(const struct fm_known *known, double height)
{
    const struct fm_known_level *levels = known->levels;
    size_t level = 0;
    while (level + 1 < known->count &&
           height > (levels[level].height_ns + levels[level + 1].height_ns) / 2)
        level++;
    return level;
}

/* Whether a reading that is so far off a level may be of the one that is a step away. */
static bool is_astray(double off, double step, double error)
{
    return off >= CLEAR * step || off + error >= step / 2;
}

/* Whether some of what should hit did not: lines that drove each other out. */
static bool hits_miss(const struct fm_known *known, struct fm_taken hit)
{
    return nearest(known, known->levels[0].height_ns + hit.most - hit.least) > 0;
}

/* Whether what takes so long is near enough to a level not to be of two. */
static bool is_near(const struct fm_known *known, size_t level, double height)
{
    const struct fm_known_level *own = &known->levels[level];
    const double off = height - own->height_ns;
    if (off < 0)
        return level == 0 || !is_astray(-off, own->height_ns - own[-1].height_ns, 0);
    return level + 1 == known->count || !is_astray(off, own[1].height_ns - own->height_ns, 0);
}

/* Whether rounds take more than those that hit by as much as one level takes, rank by rank: then
   what makes hits differ, as translation does, makes the others differ just so. Two ranks may be
   off, where rounds of one kind were a few more than of another. */
static bool one_serves_all(const struct fm_known *known, struct fm_taken taken, struct fm_taken hit,
                           size_t *level)
{
    double height[FM_RANKS];
    for (size_t i = 0; i < FM_RANKS; i++)
        height[i] = known->levels[0].height_ns + taken.ranks[i] - hit.ranks[i];
    qsort(height, FM_RANKS, sizeof *height, ascending);
    *level = nearest(known, height[1]);
    return is_near(known, *level, height[1]) && is_near(known, *level, height[FM_RANKS - 2]);
}

struct fm_served fm_trial_served(const struct fm_lab *lab, struct fm_taken taken,
                                 struct fm_taken hit)
{
    const struct fm_known *known = &lab->known;
    const struct fm_known_level *levels = known->levels;
    const double beside = levels[0].height_ns - hit.ns, height = taken.ns + beside;
    const double usual = usual_error(taken, hit);
    const size_t level = nearest(known, height);
    const bool unsure = hits_miss(known, hit);
    size_t one;
    if (unsure && one_serves_all(known, taken, hit, &one))
        return (struct fm_served){.level = one, .low = one, .high = one, .clear = true};
    if (unsure || taken.error > MIXED * usual) {
        const double more = unsure ? hit.ns - hit.least : 0, less = unsure ? hit.most - hit.ns : 0;
        const size_t from = nearest(known, taken.least + beside - less);
        const size_t to = nearest(known, taken.most + beside + more);
        return (struct fm_served){.level = level, .low = from, .high = to, .clear = from == to};
    }
    const double error = RESOLVED * hypot(taken.error, hit.error);
    const double own = levels[level].height_ns;
    size_t low = level, high = level;
    if (level > 0 && is_astray(own - height, own - levels[level - 1].height_ns, error))
        low--;
    if (level + 1 < known->count &&
        is_astray(height - own, levels[level + 1].height_ns - own, error))
        high++;
    while (low > 0 && levels[low].height_ns - levels[low - 1].height_ns < error)
        low--;
    while (high + 1 < known->count && levels[high + 1].height_ns - levels[high].height_ns < error)
        high++;
    return (struct fm_served){.level = level, .low = low, .high = high, .clear = low == high};
}
