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
/* Parts of what a flush costs that are none of it, more than none, and all. */
#define NONE 0.25
#define HALF 0.5
#define ALL  0.75
/* Times where all misses the level inside that drives all out of it, whatever its policy. */
#define BEYOND 1.5

enum { SPOTS, OTHERS, RANGE };
/* Both are loaded, and left; the other is flushed; the spot is flushed itself; and the other, where
   the spot alone was loaded. */
enum { KEPT, SPLIT, GONE, CAME, WAYS };

struct split {
    size_t apart;
    struct fm_range sweep;
};

/* The first order is the one that is timed at last. */
static bool build(const struct fm_trial *trial, unsigned alternative, const struct fm_group *group,
                  struct fm_string *string, struct fm_error *err)
{
    const struct split *split = trial->data;
    const bool came = alternative == CAME;
    const bool swept = split->sweep.lines > 0;
    if (!fm_string_add_spots(string, group, came ? split->apart : 0, err) ||
        !fm_string_add_spots(string, group, came ? 0 : split->apart, err) ||
        (swept && !fm_string_add_range(string, &split->sweep, 0, split->sweep.lines, err)))
        return false;
    /* Their chain was written, which may have brought them in, or not. */
    fm_string_add_pass(string, SPOTS, FM_OP_FLUSH);
    fm_string_add_pass(string, OTHERS, FM_OP_FLUSH);
    fm_string_add_pass(string, OTHERS, FM_OP_LOAD);
    if (!came)
        fm_string_add_pass(string, SPOTS, FM_OP_LOAD);
    if (alternative == SPLIT || alternative == GONE)
        fm_string_add_pass(string, alternative == SPLIT ? OTHERS : SPOTS, FM_OP_FLUSH);
    if (swept)
        fm_string_add_pass(string, RANGE, FM_OP_LOAD);
    fm_string_time(string, group->count);
    return true;
}

static double bytes_of(const struct fm_known_level *level)
{
    return level->capacity > 0 ? level->capacity : level->rise_from;
}

/* What drives lines out of the level inside, but not out of this one; nothing, of a first level. */
static size_t sweep_of(const struct fm_lab *lab, size_t level)
{
    if (level == 0)
        return 0;
    const struct fm_known_level *known = &lab->known.levels[level], *inside = known - 1;
    const double inner = fmax(SWEEP * bytes_of(inside), BEYOND * inside->rise_to);
    /* Few ways begin to miss long before they are full. */
    const double own = ROOM * fmax(bytes_of(known), known->rise_to / 2);
    return (size_t)(inner < own ? inner : own);
}

/* Whether two words are of one line. */
enum lines { UNKNOWN, ONE, TWO, PERHAPS_ONE };

/* What goes with another may do so since it goes from the level behind, whose line is longer and
   which holds all that this one does: then it has not come with it. `unit`: the line of the level
   inside. */
static bool ask(struct fm_lab *lab, size_t level, size_t unit, size_t apart, bool counted,
                enum lines *lines_of, struct fm_error *err)
{
    const struct fm_known_level *known = &lab->known.levels[level];
    struct split split = {.apart = apart,
                          .sweep = {.lines = sweep_of(lab, level) / unit, .unit = unit}};
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
    *lines_of = UNKNOWN;
    if (!lines || split.sweep.from + trial.beside > fm_lab_limit(lab))
        return true;
    if (!fm_trial_run(lab, &trial, taken, err))
        return false;
    const double all = taken[GONE].ns - taken[KEPT].ns;
    const double lost = (taken[SPLIT].ns - taken[KEPT].ns) / all;
    const double step = known[1].height_ns - known->height_ns;
    const double late = (taken[CAME].ns - taken[KEPT].ns) / step;
    if (!(all > step / 2))
        return true;
    if (lost < NONE || (lost > ALL && apart < known[1].line && late > ALL))
        *lines_of = TWO;
    else if (lost > ALL && (apart >= known[1].line || late < NONE))
        *lines_of = ONE;
    else if (lost > HALF)
        *lines_of = PERHAPS_ONE;
    return true;
}

bool fm_split_line(struct fm_lab *lab, size_t level, size_t from, bool counted, size_t *line,
                   struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t widest = page / 2 < FM_LONGEST_LINE ? page / 2 : FM_LONGEST_LINE;
    const size_t end = counted ? *line : widest;
    /* Counters may know a level that the clock does not. */
    if (level + 1 >= lab->known.count || !lab->known.memory_seen || !from || !*line)
        return true;
    for (size_t apart = from; apart < end; apart *= 2) {
        enum lines lines;
        if (!ask(lab, level, from, apart, counted, &lines, err))
            return false;
        if (lines == ONE && apart >= *line)
            *line = 2 * apart;
        if (lines == TWO && apart < *line)
            *line = apart;
        if (lines == PERHAPS_ONE && apart >= *line)
            *line = 0;
        if (lines != ONE)
            break;
    }
    return true;
}
