#include "probe/ways_anywhere.h"

#include <math.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "analysis/occupancy_fit.h"
#include "probe/ways_inside.h"

/* Part of the first level's sets that lines share, so that it holds no more than that part of them.
 */
#define PART 4
/* Lines to choose from, in what begins to miss; how many times those to begin with they must be;
   and the most of them among which a clock can tell one too many. */
#define CROWDED    1.5
#define MANY_TIMES 1.5
#define MOST_LINES 16384
/* Lines of each page to begin with: where some are left out no page is to be left out with them. */
#define PAGEFUL 4
/* Times what may be spent on lines of one place: every trial takes all lines. */
#define DEARER 1.5
/* Classes that will do: all must be alike, and miss as a whole. */
#define FEW_CLASSES 3

/* Lines of a lap in what the level holds, from hardly a miss to hardly a hit. */
static const double loads[] = {0.45, 0.6, 0.75, 0.9, 1.05, 1.2, 1.4, 1.7, 2.1};
#define LOADS        (sizeof loads / sizeof *loads)
#define FEWEST_LOADS 6
/* More than so many lines take too long. */
#define MOST_IN_LAPS 131072
/* How the lines fall into sets is luck: so many sets in all are looked at, in so many rounds. */
#define SETS_IN_ALL 8192
#define FEW_ROUNDS  4
#define MANY_ROUNDS 32
/* … and as many again where these do not decide, so many times in all. */
#define TIMES 4
/* Times the sets that are expected between which they are looked for, at first and then. */
#define WIDE         4
#define NARROW       1.3
#define FIRST_ROUNDS 2
/* Sets for each line of a page that is used: a hash may never have two of them meet. But lines of
   so many pages are translated, the number of which must not depend on that of the lines. */
#define SPREAD       64
#define LEAST_PLACES 4
/* Part of a lap that its time should be known to, as misses. */
#define PRECISE 0.02
/* Standard errors of the number of sets between which the right one must be, and what it is off by
   at the least: a lap is not all that the description knows of. */
#define ERRORS 3
#define LEAST  0.012
/* What may be left of a reference, in misses, where that describes all that laps take. */
#define LEFT 0.005
/* More than this it must not be off: there are other numbers close by. */
#define MOST 0.03

/* Lines that share a part of the sets of the first level; false: its sets are not known. */
static bool share_first(struct fm_lab *lab, size_t line, struct fm_crowd_lines *lines)
{
    lines->period = fm_way_of(lab, 0);
    if (lines->period == 0)
        return false;
    lines->places = lines->period / PART / line;
    if (lines->places == 0)
        lines->places = 1;
    const size_t room = lines->period / line;
    lines->offset = room > lines->places ? fm_lab_seed(lab) % (room - lines->places) * line : 0;
    return lines->period >= line && lines->period % FM_WORD == 0;
}

/* All lines of pages. */
static void take_all(size_t line, struct fm_crowd_lines *lines)
{
    lines->period = lines->page;
    lines->places = lines->page / line;
    lines->offset = 0;
}

/* So many of the lines that were chosen; false: they take more memory than may be touched. */
static bool choose(struct fm_lab *lab, size_t line, double items, struct fm_crowd *crowd,
                   struct fm_crowd_lines *lines)
{
    const double bytes = items / (double)lines->places * (double)lines->period;
    lines->apart = line;
    lines->in_order = true;
    lines->each = 0;
    /* Translation takes the same of all trials once every page has some of the lines. */
    *crowd = (struct fm_crowd){.items = (size_t)items,
                               .most = (size_t)items,
                               .shallow = (size_t)(bytes / (double)lines->page) + 1,
                               .penalty_ns = crowd->penalty_ns,
                               .spend = crowd->spend,
                               .anywhere = true,
                               .classes = FEW_CLASSES};
    return bytes <= (double)fm_lab_limit(lab);
}

bool fm_ways_anywhere(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, struct fm_crowded *shown, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double line = (double)level->line, items = CROWDED * fm_held_of(level) / line;
    *shown = (struct fm_crowded){.few = true};
    lines->turned = false;
    if (!level->line || index == 0 || (index == 1 && !share_first(lab, level->line, lines)))
        return true;
    if (index > 1)
        take_all(level->line, lines);
    if (!choose(lab, level->line, items, crowd, lines))
        return true;
    const double inside =
        index == 1
            ? (double)lines->places * fm_ways_of(lab, 0) * fm_overload(lab, 0, FM_WAYS_RARE) + 1
            : fm_bytes_inside(lab, index - 1) / line * fm_overload(lab, index - 1, FM_WAYS_SELDOM);
    crowd->shallow = (size_t)fmax(inside, PAGEFUL * (double)crowd->shallow);
    crowd->kept = (size_t)(index == 1 ? 2 * inside : inside);
    crowd->spend *= DEARER;
    if (items < MANY_TIMES * (double)crowd->shallow || items > MOST_LINES)
        return true;
    const bool good =
        fm_crowd_lines_open(lab, crowd, lines, err) && fm_crowd_out(lab, crowd, shown, err);
    fm_crowd_lines_close(crowd);
    return good;
}

/* Laps over ever more lines, on pages of its own; adds what they take. */
static bool time_laps(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowd_lines *lines,
                      struct fm_lap_time *laps, size_t count, struct fm_error *err)
{
    bool good = fm_crowd_lines_open(lab, crowd, lines, err);
    for (size_t i = 0; i < count && good; i++) {
        const size_t items = (size_t)laps[i].lines;
        double ns = 0;
        memcpy(crowd->trial, crowd->pool, items * sizeof *crowd->trial);
        crowd->next = items;
        crowd->typical = PRECISE * laps[i].lines;
        good = fm_lab_go_on(lab, 0, err) && crowd->time(lab, crowd, items, &ns, err);
        laps[i].ns += ns * laps[i].lines;
    }
    fm_crowd_lines_close(crowd);
    return good;
}

/* Laps of all lengths, twice: those of every other round by themselves. */
struct laps {
    struct fm_lap_time times[2][LOADS];
    size_t count;
    size_t pages;
};

/* Laps about so many sets; there are none where that cannot be done. */
static void plan_laps(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, double sets, double ways, struct laps *laps)
{
    const double held = sets * ways;
    const size_t line = lab->known.levels[index].line, room = lines->page / line;
    *laps = (struct laps){.count = 0};
    lines->period = lines->page;
    lines->places = (size_t)fmin(fmax(sets / SPREAD, LEAST_PLACES), (double)room);
    lines->offset = 0;
    /* Lines of the same places would be too many for some sets further out. */
    lines->turned = true;
    if (!choose(lab, line, loads[LOADS - 1] * held, crowd, lines))
        return;
    const double inside = fm_bytes_inside(lab, index - 1) / (double)line *
                          fm_overload(lab, index - 1, FM_WAYS_SELDOM);
    for (size_t i = 0; i < LOADS; i++)
        if (loads[i] * held > fmax(inside, (double)crowd->shallow)) {
            const struct fm_lap_time lap = {.lines = floor(loads[i] * held)};
            laps->times[0][laps->count] = laps->times[1][laps->count] = lap;
            laps->count++;
        }
    if (laps->count < FEWEST_LOADS)
        laps->count = 0;
    laps->pages = crowd->items / lines->places;
}

static bool time_rounds(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowd_lines *lines,
                        double rounds, struct laps *laps, struct fm_error *err)
{
    for (size_t i = 0; i < rounds; i++)
        if (!time_laps(lab, crowd, lines, laps->times[i % 2], laps->count, err))
            return false;
    return true;
}

/* Which rounds are looked at, as bits. */
enum { EVEN = 1, ODD = 2, ALL = EVEN | ODD };

/* The sets that make laps of these rounds most likely; lines of a page meet as others do, or never,
   as under many a hash. */
static bool fit(const struct laps *laps, unsigned rounds, bool never, size_t ways, double about,
                double wide, struct fm_sets_fit *found)
{
    struct fm_lap_time some[LOADS];
    for (size_t i = 0; i < laps->count; i++) {
        some[i] = (struct fm_lap_time){.lines = laps->times[0][i].lines, .apart = 1};
        if (never)
            some[i].apart = some[i].lines / (double)laps->pages;
        for (unsigned j = 0; j < 2; j++)
            some[i].ns += rounds & 1u << j ? laps->times[j][i].ns : 0;
    }
    return fm_occupancy_sets(some, laps->count, (uint32_t)ways, about / wide, about * wide, found);
}

/* The one number of sets that all of these leave likely; 0: there is none. */
static double agreed(const struct laps *laps, size_t ways, double about)
{
    struct fm_sets_fit even, odd, all, apart;
    if (!fit(laps, EVEN, false, ways, about, NARROW, &even) ||
        !fit(laps, ODD, false, ways, about, NARROW, &odd) ||
        !fit(laps, ALL, false, ways, about, NARROW, &all) ||
        !fit(laps, ALL, true, ways, about, NARROW, &apart))
        return 0;
    const double sets = (all.sets + apart.sets) / 2;
    const double luck = ERRORS * fabs(even.sets - odd.sets) / 2;
    const double error = fmax(LEAST, (luck + fabs(all.sets - apart.sets) / 2) / sets);
    return error < MOST && fmin(all.left, apart.left) < LEFT
               ? fm_round_sets(sets * (1 - error), sets * (1 + error))
               : 0;
}

bool fm_sets_anywhere(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, size_t ways, double *sets, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double load = fm_occupancy_load(FM_CAPACITY_MISSES, (uint32_t)ways);
    const double each = (double)ways;
    const double guess = fm_held_of(level) / load / (double)level->line / each;
    struct fm_sets_fit first;
    struct laps laps;
    *sets = 0;
    plan_laps(lab, index, crowd, lines, guess, each, &laps);
    if (laps.count == 0 || guess * each > MOST_IN_LAPS)
        return true;
    if (!time_rounds(lab, crowd, lines, FIRST_ROUNDS, &laps, err))
        return false;
    if (!fit(&laps, ALL, false, ways, guess, WIDE, &first))
        return true;
    const double rounds = fmin(fmax(SETS_IN_ALL / first.sets, FEW_ROUNDS), MANY_ROUNDS);
    plan_laps(lab, index, crowd, lines, first.sets, each, &laps);
    for (int i = 0; i < TIMES && *sets == 0 && laps.count && crowd->spent < crowd->spend; i++) {
        if (!time_rounds(lab, crowd, lines, rounds, &laps, err))
            return false;
        *sets = agreed(&laps, ways, first.sets);
    }
    return true;
}
