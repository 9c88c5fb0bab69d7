/* What comes in with a miss: the sector of each level, and which prefetchers are awake.
 *
 * One word of a page that is in no cache is loaded, or a few of them in a certain order; then
 * another word of the page is timed. Which level serves it says whether it came along, and how far.
 * One page tells little, so many are primed before all are timed; each page is used once. */
#include "probe/fetch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"

bool fm_fetch_build(const struct fm_trial *trial, unsigned alternative,
                    const struct fm_group *group, struct fm_string *string, struct fm_error *err)
{
    const struct fm_fetch *fetch = (const struct fm_fetch *)trial->data + alternative;
    enum { TARGET, PRIMED };
    if (!fm_string_add_spots(string, group, fetch->target, err) ||
        !fm_string_add_visits(string, group, fetch->primed, fetch->count, err))
        return false;
    const uint64_t all = group->count, each = all * fetch->count;
    fm_string_add_phase(string, (struct fm_phase){.op = FM_OP_FLUSH, .references = all});
    fm_string_add_phase(string,
                        (struct fm_phase){.op = FM_OP_FLUSH, .order = PRIMED, .references = each});
    if (!fetch->cold)
        fm_string_add_phase(
            string, (struct fm_phase){.order = PRIMED, .references = each, .chained = true});
    if (fetch->flushed)
        fm_string_add_phase(
            string, (struct fm_phase){.op = FM_OP_FLUSH, .order = PRIMED, .references = each});
    if (fetch->warm)
        fm_string_add_phase(string, (struct fm_phase){.references = all});
    fm_string_time(string, all);
    return true;
}

static bool look(struct fm_lab *lab, const struct fm_trial *trial, struct fm_served *served,
                 struct fm_error *err)
{
    struct fm_taken taken[FM_ALTERNATIVES];
    if (!fm_trial_run(lab, trial, taken, err))
        return false;
    for (unsigned i = 0; i < trial->alternatives; i++)
        served[i] = fm_trial_served(lab, taken[i], taken[0]);
    return true;
}

static bool alike(struct fm_served a, struct fm_served b)
{
    return a.low == b.low && a.high == b.high;
}

/* Whatever it was in any of three looks. */
static struct fm_served any_of(struct fm_served a, struct fm_served b, struct fm_served c)
{
    const size_t low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
    return (struct fm_served){
        .level = a.level, .low = low < c.low ? low : c.low, .high = high > c.high ? high : c.high};
}

/* Whether what one look has shown may be what another has. */
static bool within(struct fm_served one, struct fm_served other)
{
    return one.low >= other.low && one.high <= other.high;
}

/* What a third look, in as many rounds as can be, makes of two that differ or are not clear: it
   decides where it is clear and neither of them speaks against it. */
static struct fm_served settle(struct fm_served first, struct fm_served second,
                               struct fm_served third)
{
    if (third.clear && within(third, first) && within(third, second))
        return third;
    if (alike(first, second))
        return first;
    return alike(third, first) || alike(third, second) ? third : any_of(first, second, third);
}

bool fm_fetch_run(struct fm_lab *lab, const char *name, const struct fm_fetch *fetches,
                  unsigned count, const struct fm_group *group, struct fm_served *served,
                  struct fm_error *err)
{
    struct fm_served first[FM_ALTERNATIVES], second[FM_ALTERNATIVES];
    struct fm_trial trial = {.name = name,
                             .build = fm_fetch_build,
                             .data = fetches,
                             .alternatives = count,
                             .group = *group,
                             .lines = fetches[count - 1].count + 1};
    bool all = true;
    fm_trial_plan(lab, &trial);
    if (!look(lab, &trial, first, err) || !look(lab, &trial, second, err))
        return false;
    for (unsigned i = 0; i < count; i++) {
        served[i] = first[i];
        all &= first[i].clear && alike(first[i], second[i]);
    }
    if (all)
        return true;
    trial.rounds = trial.counted ? trial.rounds : FM_TRIAL_ROUNDS;
    if (!look(lab, &trial, served, err))
        return false;
    for (unsigned i = 0; i < count; i++)
        served[i] = settle(first[i], second[i], served[i]);
    return true;
}

/* The widest block that is asked for, and the narrowest. */
#define WIDEST    512
#define NARROWEST 8

/* What a neighbour at a distance is served by when the word was just brought in. */
struct neighbour {
    size_t distance;
    struct fm_served up, down, cold; /* the one above, the one below; and when nothing was loaded */
};

static bool ask_neighbour(struct fm_lab *lab, size_t distance, struct neighbour *answer,
                          struct fm_error *err)
{
    enum { HIT, COLD, UP, DOWN, WAYS };
    const struct fm_fetch fetches[WAYS] = {
        [HIT] = {.primed = {0}, .count = 1, .target = distance, .warm = true},
        [COLD] = {.primed = {0}, .count = 1, .target = distance, .cold = true},
        [UP] = {.primed = {0}, .count = 1, .target = distance},
        [DOWN] = {.primed = {distance}, .count = 1, .target = 0},
    };
    const struct fm_group group = {.unit = 2 * distance, .span = 2 * distance};
    struct fm_served served[WAYS];
    if (!fm_fetch_run(lab, "neighbour", fetches, WAYS, &group, served, err))
        return false;
    *answer = (struct neighbour){distance, served[UP], served[DOWN], served[COLD]};
    return true;
}

/* Whether the neighbour came along to a level, and whether that is clear: which of the levels
   inside or beyond it served it does not matter. */
static bool came(const struct fm_served *served, size_t level, bool *clear)
{
    *clear &= served->high <= level || served->low > level;
    return served->high <= level;
}

/* Whether a neighbour further away surely comes along, on both sides. */
static bool comes_from_further(const struct neighbour *neighbours, size_t count, size_t level)
{
    for (size_t i = 0; i < count; i++) {
        bool clear = true;
        if (neighbours[i].cold.low > level && came(&neighbours[i].up, level, &clear) &&
            came(&neighbours[i].down, level, &clear) && clear)
            return true;
    }
    return false;
}

static void report_sector(struct fm_lab *lab, size_t level, const struct neighbour *neighbours,
                          size_t count)
{
    struct fm_finding *finding = fm_lab_finding(lab, level, "sector", "B");
    if (!finding)
        return;
    /* The nearest lie anywhere in their pages, where lines do not drive each other out. */
    if (neighbours[0].cold.low <= level) {
        fm_undetermined(finding, "what is flushed stays in this level, or beyond it");
        return;
    }
    bool clear = true;
    for (size_t i = 0; i < count; i++) {
        const struct neighbour *one = &neighbours[i];
        if (came(&one->up, level, &clear) && came(&one->down, level, &clear) && clear)
            continue;
        if (!clear)
            break;
        if (comes_from_further(one + 1, count - i - 1, level)) {
            fm_undetermined(finding, "a line comes along, but not all that lies before it");
            return;
        }
        lab->known.levels[level].sector = one->distance;
        fm_measured(finding, (double)one->distance, (double)one->distance, (double)one->distance,
                    0.99, "neighbours", NULL);
        return;
    }
    fm_undetermined(finding, clear ? "neighbours as far as 512 bytes come along"
                                   : "a neighbour was served now by one level, now by another");
}

static bool find_sectors(struct fm_lab *lab, struct neighbour *neighbours, size_t *count,
                         struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    *count = 0;
    for (size_t d = NARROWEST; d <= WIDEST && 2 * d <= page; d *= 2) {
        if (!fm_lab_go_on(lab, 0.1 * (double)*count, err) ||
            !ask_neighbour(lab, d, &neighbours[*count], err))
            return false;
        (*count)++;
    }
    for (size_t level = 0; level + 1 < lab->known.count; level++)
        report_sector(lab, level, neighbours, *count);
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct neighbour neighbours[16];
    size_t count;
    if (lab->known.count < 2 || !lab->known.memory_seen)
        return true;
    fm_first_line(lab);
    return find_sectors(lab, neighbours, &count, err);
}

static const char *const properties[] = {"l1d.sector", NULL};
static const char *const outer_attributes[] = {"sector", NULL};

const struct fm_probe fm_probe_fetch = {
    .name = "fetch",
    .finds = "what comes in with a miss: sectors and prefetchers",
    .needs = "levels,gap",
    .share = 0.05,
    .detail = true,
    .run = run,
    .properties = properties,
    .outer = outer_attributes,
};
