/* Which prefetchers are awake, each by what it alone would bring.
 *
 * - next-line: the line after the one that missed, in another sector than that.
 * - adjacent-line: a sector of more than a line. A miss brings the neighbour, whatever it is
 * called.
 * - stride: a line further along equal steps, which is not there when the same lines were visited
 *   in another order.
 * - region: a line far from six that were visited without any rule, which is not there after one.
 */
#include <stdio.h>

#include "probe/fetch.h"
#include "probe/probe.h"

#define VISITS       6
#define LEAST_VISITS 4
#define PARTS        8 /* of a page */

/* What the questions need to know of the machine. */
struct sight {
    size_t page, line; /* of the first level */
    size_t block;      /* what may come along with a miss anyway */
};

static struct fm_finding *finding_of(struct fm_lab *lab, const char *property)
{
    return fm_result_finding(lab->result, property, "");
}

/* True where the line came from nearer than without the prefetcher, whichever level it was. */
static void report(struct fm_lab *lab, const char *property, struct fm_served with,
                   struct fm_served without)
{
    struct fm_finding *finding = finding_of(lab, property);
    if (!finding)
        return;
    const bool nearer = with.high < without.low;
    if (!nearer && (!with.clear || !without.clear || with.level > without.level))
        fm_undetermined(finding, "a line was served now by one level, now by another");
    else if (without.level == 0)
        fm_undetermined(finding, "the line is in the first level anyway");
    else
        fm_decided(finding, fm_bool(nearer), 0.95, "clock", "prime-then-measure");
}

static bool ask_next_line(struct fm_lab *lab, const struct sight *sight, struct fm_error *err)
{
    enum { HIT, COLD, NEXT, WAYS };
    const size_t last = sight->block - sight->line, next = sight->block;
    const struct fm_fetch fetches[WAYS] = {
        [HIT] = {.primed = {last}, .count = 1, .target = next, .warm = true},
        [COLD] = {.primed = {last}, .count = 1, .target = next, .cold = true},
        [NEXT] = {.primed = {last}, .count = 1, .target = next},
    };
    const struct fm_group group = {.unit = sight->block, .span = 2 * sight->block};
    struct fm_served served[WAYS];
    if (!fm_fetch_run(lab, "next-line", fetches, WAYS, &group, served, err))
        return false;
    report(lab, "prefetch.next_line", served[NEXT], served[COLD]);
    return true;
}

/* A line longer than that of the level inside may be two that come together: then a flush of the
   one leaves the other. *yes: it does; *no: it does not, and the line is one. The second half is
   loaded, since a next-line prefetcher would bring it with the first. */
static bool ask_halves(struct fm_lab *lab, size_t level, bool *yes, bool *no, struct fm_error *err)
{
    enum { HIT, CAME, LEFT, WAYS };
    const size_t line = lab->known.levels[level].line, half = line / 2;
    const struct fm_fetch fetches[WAYS] = {
        [HIT] = {.primed = {half}, .count = 1, .target = 0, .warm = true},
        [CAME] = {.primed = {half}, .count = 1, .target = 0},
        [LEFT] = {.primed = {half}, .count = 1, .target = 0, .flushed = true},
    };
    const struct fm_group group = {.unit = line, .span = line};
    struct fm_served served[WAYS];
    if (!fm_fetch_run(lab, "halves", fetches, WAYS, &group, served, err))
        return false;
    const bool came = served[CAME].clear && served[CAME].level <= level && served[LEFT].clear;
    *yes = came && served[LEFT].level <= level;
    *no = came && served[LEFT].level > level;
    return true;
}

static bool ask_adjacent(struct fm_lab *lab, struct fm_error *err)
{
    bool adjacent = false, known = true;
    for (size_t i = 0; i + 1 < lab->known.count; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        known &= level->line && level->sector;
        adjacent |= level->line && level->sector > level->line;
        if (i == 0 || level->line <= level[-1].line)
            continue;
        bool yes, no;
        if (!ask_halves(lab, i, &yes, &no, err))
            return false;
        adjacent |= yes;
        known &= no;
    }
    struct fm_finding *finding = finding_of(lab, "prefetch.adjacent_line");
    if (!finding)
        return true;
    if (adjacent || known)
        fm_decided(finding, fm_bool(adjacent), 0.95, "clock", "neighbours");
    else
        fm_undetermined(finding, "cannot tell one long line from two short ones fetched together");
    return true;
}

static bool ask_region(struct fm_lab *lab, const struct sight *sight, struct fm_error *err)
{
    /* No step twice, and the target two parts away from all. */
    static const size_t parts[VISITS] = {2, 5, 0, 4, 1, 3};
    enum { HIT, ONE, MANY, WAYS };
    const size_t part = sight->page / PARTS, target = 7 * part;
    struct fm_fetch fetches[WAYS] = {
        [HIT] = {.count = 1, .target = target, .warm = true},
        [ONE] = {.count = 1, .target = target},
        [MANY] = {.count = VISITS, .target = target},
    };
    for (size_t i = 0; i < VISITS; i++) {
        fetches[MANY].primed[i] = parts[i] * part;
        if (i == 0)
            fetches[HIT].primed[i] = fetches[ONE].primed[i] = parts[i] * part;
    }
    /* Moved on by some lines, so that not all pages use the same sets. */
    const struct fm_group group = {.unit = sight->line, .span = sight->page - part + sight->line};
    struct fm_served served[WAYS];
    if (!fm_fetch_run(lab, "region", fetches, WAYS, &group, served, err))
        return false;
    report(lab, "prefetch.region", served[MANY], served[ONE]);
    return true;
}

/* The same lines, without two equal steps in a row. */
static void without_rule(const size_t *even, size_t count, size_t *mixed)
{
    static const unsigned char orders[][VISITS] = {
        [4] = {1, 3, 0, 2}, [5] = {2, 0, 4, 1, 3}, [6] = {2, 0, 4, 1, 5, 3}};
    for (size_t i = 0; i < count; i++)
        mixed[i] = even[orders[count][i]];
}

/* A run of equal steps, and where in a page it may begin. */
struct steps {
    size_t step, count;
    struct fm_group group;
    size_t first; /* bytes from the spot to the first visit */
};

/* Whether what lies `ahead` steps beyond the last is there. */
static bool ask_steps(struct fm_lab *lab, const struct steps *steps, size_t ahead,
                      struct fm_served *with, struct fm_served *without, struct fm_error *err)
{
    enum { HIT, MIXED, EVEN, WAYS };
    const size_t target = steps->first + (steps->count - 1 + ahead) * steps->step;
    struct fm_fetch fetches[WAYS] = {
        [HIT] = {.count = steps->count, .target = target, .warm = true},
        [MIXED] = {.count = steps->count, .target = target},
        [EVEN] = {.count = steps->count, .target = target},
    };
    for (size_t i = 0; i < steps->count; i++)
        fetches[EVEN].primed[i] = steps->first + i * steps->step;
    without_rule(fetches[EVEN].primed, steps->count, fetches[MIXED].primed);
    without_rule(fetches[EVEN].primed, steps->count, fetches[HIT].primed);
    struct fm_served served[WAYS];
    if (!fm_fetch_run(lab, "steps", fetches, WAYS, &steps->group, served, err))
        return false;
    *with = served[EVEN];
    *without = served[MIXED];
    return true;
}

/* Steps of a size within a page, as many as fit with one more to be timed; count 0: too few. */
static struct steps steps_of(const struct sight *sight, size_t step)
{
    struct steps steps = {.step = step, .count = VISITS};
    while (steps.count >= LEAST_VISITS && steps.count * step + sight->block > sight->page)
        steps.count--;
    if (steps.count < LEAST_VISITS)
        steps.count = 0;
    steps.group =
        (struct fm_group){.unit = sight->block, .span = steps.count * step + sight->block};
    return steps;
}

/* How many steps ahead of the last it runs, within what a page has room for. */
static bool ask_ahead(struct fm_lab *lab, const struct sight *sight, struct steps steps,
                      struct fm_error *err)
{
    size_t ahead = 1;
    struct fm_served with = {.clear = true}, without = {.clear = true};
    steps.count = LEAST_VISITS;
    for (; (steps.count + ahead) * steps.step + sight->block <= sight->page; ahead++) {
        steps.group.span = (steps.count + ahead) * steps.step + sight->block;
        if (!fm_lab_go_on(lab, 0.8, err) ||
            !ask_steps(lab, &steps, ahead + 1, &with, &without, err))
            return false;
        if (!with.clear || !without.clear || with.level >= without.level)
            break;
    }
    struct fm_finding *finding = finding_of(lab, "prefetch.stride_ahead");
    if (!finding)
        return true;
    if (with.clear && without.clear && with.level == without.level)
        fm_measured(finding, (double)ahead, (double)ahead, (double)ahead, 0.9, "prime-then-measure",
                    NULL);
    else
        fm_undetermined(finding, "it runs now so far ahead, now further");
    return true;
}

/* The last step of the run leaves the page. */
static bool ask_boundary(struct fm_lab *lab, const struct sight *sight, struct steps steps,
                         struct fm_error *err)
{
    struct fm_served with, without;
    steps.first = sight->page - steps.count * steps.step;
    steps.group = (struct fm_group){.page = 2 * sight->page,
                                    .unit = sight->line,
                                    .span = 2 * sight->page - steps.step + sight->line};
    if (!ask_steps(lab, &steps, 1, &with, &without, err))
        return false;
    report(lab, "prefetch.crosses_page", with, without);
    return true;
}

static bool ask_stride(struct fm_lab *lab, const struct sight *sight, struct fm_error *err)
{
    /* First a step that leaves out what would come along anyway, then from line to line. */
    const size_t steps[] = {2 * sight->block + sight->line, sight->line};
    struct fm_served with = {0}, without = {0};
    for (size_t i = 0; i < 2; i++) {
        const struct steps run = steps_of(sight, steps[i]);
        if (run.count == 0)
            continue;
        if (!ask_steps(lab, &run, 1, &with, &without, err))
            return false;
        report(lab, "prefetch.stride", with, without);
        if (with.clear && without.clear && with.level < without.level)
            return ask_ahead(lab, sight, run, err) && ask_boundary(lab, sight, run, err);
        if (!with.clear || !without.clear)
            return true;
    }
    return true;
}

/* What may come along with any miss: the widest sector, or line where sectors are not known. */
static size_t block_of(const struct fm_lab *lab)
{
    size_t block = 0;
    for (size_t i = 0; i + 1 < lab->known.count; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        block = level->sector > block ? level->sector : block;
        block = level->line > block ? level->line : block;
    }
    return block;
}

static const char *const properties[] = {"prefetch.next_line", "prefetch.adjacent_line",
                                         "prefetch.stride", "prefetch.region", NULL};

static void all_undetermined(struct fm_lab *lab, const char *reason)
{
    for (const char *const *property = properties; *property; property++) {
        struct fm_finding *finding = finding_of(lab, *property);
        if (finding)
            fm_undetermined(finding, reason);
    }
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known *known = &lab->known;
    const struct sight sight = {.page = lab->machine->info.page_size,
                                .line = fm_first_line(lab),
                                .block = known->count ? block_of(lab) : 0};
    if (known->count < 2 || !sight.line) {
        all_undetermined(lab, "the line of the first level is not known");
        return true;
    }
    if (sight.block * PARTS > sight.page) {
        all_undetermined(lab, "a page has too few lines to tell");
        return true;
    }
    return ask_next_line(lab, &sight, err) && ask_adjacent(lab, err) &&
           fm_lab_go_on(lab, 0.3, err) && ask_region(lab, &sight, err) &&
           fm_lab_go_on(lab, 0.6, err) && ask_stride(lab, &sight, err);
}

const struct fm_probe fm_probe_prefetch = {
    .name = "prefetch",
    .finds = "which prefetchers are awake",
    .needs = "levels,gap,fetch",
    .share = 0.05,
    .detail = true,
    .run = run,
    .properties = properties,
};
