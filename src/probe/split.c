#include "probe/split.h"

#include <math.h>

#include "probe/trial.h"

/* Times the level inside that drives lines out of it, at most this part of the level itself. */
#define SWEEP 3
#define ROOM  0.6
/* Lines that are tried at once: many, since driving them out is what takes long. At most this part
   of the level. */
#define MOST_LINES 512
#define PART       16
#define ROUNDS     4
/* Part of what a flush costs that is all of it. */
#define AS_GOOD 0.75

enum { SPOTS, OTHERS, RANGE };
/* Loaded, and left; with the other flushed; flushed itself; and the other, left. */
enum { KEPT, SPLIT, GONE, CAME, WAYS };

struct split {
    size_t apart;
    struct fm_range sweep;
};

static struct fm_phase over(unsigned order, enum fm_op op, const struct fm_string *string)
{
    return (struct fm_phase){.op = op, .order = order, .references = string->orders[order].count};
}

/* The first order is the one that is timed at last. */
static bool build(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err)
{
    const struct split *split = trial->data;
    const bool came = alternative == CAME;
    if (!fm_string_add_spots(string, group, came ? split->apart : 0, err) ||
        !fm_string_add_spots(string, group, came ? 0 : split->apart, err) ||
        !fm_string_add_range(string, &split->sweep, 0, split->sweep.lines, err))
        return false;
    fm_string_add_phase(string, over(SPOTS, FM_OP_FLUSH, string));
    fm_string_add_phase(string, over(OTHERS, FM_OP_FLUSH, string));
    fm_string_add_phase(string, over(came ? OTHERS : SPOTS, FM_OP_LOAD, string));
    if (alternative == SPLIT || alternative == GONE)
        fm_string_add_phase(string,
                            over(alternative == SPLIT ? OTHERS : SPOTS, FM_OP_FLUSH, string));
    fm_string_add_phase(string, over(RANGE, FM_OP_LOAD, string));
    fm_string_time(string, group->count);
    return true;
}

static double bytes_of(const struct fm_known_level *level)
{
    return level->capacity > 0 ? level->capacity : level->rise_from;
}

/* Whether two words that far apart lie in different lines, of which the one comes with the other;
   `unit`: the line of the level inside. */
static bool is_split(struct fm_lab *lab, size_t level, size_t unit, size_t apart, bool counted,
                     bool *yes, struct fm_error *err)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    const double inner = SWEEP * bytes_of(known - 1), own = ROOM * bytes_of(known);
    struct split split = {
        .apart = apart,
        .sweep = {.lines = (size_t)(inner < own ? inner : own) / unit, .unit = unit}};
    struct fm_trial trial = {.name = "split",
                             .build = build,
                             .data = &split,
                             .alternatives = WAYS,
                             .group = {.unit = 2 * apart, .span = 2 * apart},
                             .beside = split.sweep.lines * unit,
                             .served = counted};
    struct fm_taken taken[WAYS];
    /* Each way has a page for each of its lines, in half of the memory at the most. */
    const size_t room = fm_lab_limit(lab) / 2 / (WAYS * lab->machine->info.page_size);
    const size_t part = (size_t)bytes_of(known) / apart / PART;
    const size_t lines = part < room ? part : room;
    fm_trial_plan(lab, &trial);
    trial.rounds = ROUNDS;
    trial.group.count = lines < MOST_LINES ? lines : MOST_LINES;
    split.sweep.from = fm_trial_beside(&trial);
    *yes = false;
    if (!lines || split.sweep.from + trial.beside > fm_lab_limit(lab))
        return true;
    if (!fm_trial_run(lab, &trial, taken, err))
        return false;
    /* Half of the way from the level to what is behind it; and what is left of a line whose other
       half is gone is as good as kept: some of it may have stayed in the level inside. */
    const double step = (known[1].height_ns - known->height_ns) / 2;
    const double all = taken[GONE].ns - taken[KEPT].ns;
    *yes = all > step && taken[GONE].ns - taken[CAME].ns > step &&
           taken[GONE].ns - taken[SPLIT].ns > fmax(step, AS_GOOD * all);
    return true;
}

bool fm_split_line(struct fm_lab *lab, size_t level, size_t from, bool counted, size_t *line,
                   struct fm_error *err)
{
    bool yes = false;
    /* Counters may know a level that the clock does not. */
    if (level == 0 || level + 1 >= lab->known.count || !lab->known.memory_seen || !from)
        return true;
    for (size_t apart = from; apart < *line && !yes; apart *= 2) {
        if (!is_split(lab, level, from, apart, counted, &yes, err))
            return false;
        if (yes)
            *line = apart;
    }
    return true;
}
