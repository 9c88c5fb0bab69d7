#include "probe/crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

/* Misses of a lap that are some: one item too many makes itself and at least one other miss. */
#define SOME 1.0
/* Times what a reading is off that what was found before can be, which must serve at first. */
#define ROUGH 4
/* Part of what one item too many typically misses, once that has been seen. */
#define TYPICAL 0.5
/* Readings of what is held that are averaged, about. */
#define AVERAGED 4
/* So many times what is some needs no second look. */
#define CLEARLY 2
/* Part of what one item too many misses that is as near to that as to nothing, and looks then. */
#define DOUBT 0.25
#define LOOKS 4
/* No set has more ways. */
#define MOST_MEMBERS 64
/* Parts of the held that are left out at first: the rest must still be too many for the levels
   inside. */
#define PARTS 8
/* Items refused in a row, in numbers of classes, after which no class has room: one that had would
   have been met but once in a thousand times. */
#define REFUSED 7
/* Items refused that turn out to crowd no class before it is given up. */
#define ACCIDENTS 3
/* Chance that of items refused at once two share a class, and one refusal hides the other. */
#define MEET 0.25
/* Part of a class with one item too many that misses where all do. */
#define ALL 0.85

bool fm_crowd_open(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t first, uint32_t step,
                   struct fm_error *err)
{
    struct fm_rng rng;
    const size_t bytes = crowd->items * sizeof *crowd->pool;
    crowd->pool = malloc(bytes);
    crowd->held = malloc(bytes);
    crowd->suspects = malloc(bytes);
    crowd->trial = malloc(2 * bytes);
    if (!crowd->pool || !crowd->held || !crowd->suspects || !crowd->trial)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of items");
    for (size_t i = 0; i < crowd->items; i++)
        crowd->pool[i] = first + (uint32_t)i * step;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    fm_rng_shuffle(&rng, crowd->pool, crowd->items);
    crowd->batch = crowd->shallow + 2;
    return true;
}

void fm_crowd_close(struct fm_crowd *crowd)
{
    free(crowd->pool);
    free(crowd->held);
    free(crowd->suspects);
    free(crowd->trial);
}

/* What a reference takes when nothing misses: as before, with a few items less. Where the levels
   inside still hold a part of that, it says nothing, and what was found before must serve. */
static double without_misses(const struct fm_crowd *crowd)
{
    return crowd->count > crowd->shallow ? crowd->base_ns : fmax(crowd->base_ns, crowd->hit_ns);
}

static double misses_of(const struct fm_crowd *crowd, double ns, size_t count)
{
    return (ns - without_misses(crowd)) * (double)count / crowd->penalty_ns;
}

bool fm_crowd_is_some(const struct fm_crowd *crowd, double misses)
{
    const double rough = crowd->count > crowd->shallow ? 1 : ROUGH;
    const double part = crowd->tell ? 0 : crowd->reading * rough;
    const double error = part * crowd->whole_ns * (double)crowd->count / crowd->penalty_ns;
    return misses > fmax(fmax(SOME, error), TYPICAL * crowd->typical);
}

/* Whether that many are neither none nor what one item too many misses; before that is known:
   whether they are some, but not clearly. */
static bool is_doubtful(const struct fm_crowd *crowd, double misses)
{
    if (crowd->typical > 0)
        return misses > DOUBT * crowd->typical && misses < (1 - DOUBT) * crowd->typical;
    return fm_crowd_is_some(crowd, misses) && !fm_crowd_is_some(crowd, misses / CLEARLY);
}

/* Looks again, and averages, as long as it is doubtful. */
static bool count_misses(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                         double *misses, struct fm_error *err)
{
    double sum = 0;
    *ns = 0;
    if (crowd->tell)
        return crowd->tell(lab, crowd, count, misses, err);
    for (int looks = 1; looks <= LOOKS; looks++) {
        if (!crowd->time(lab, crowd, count, ns, err))
            return false;
        sum += *ns;
        *ns = sum / looks;
        *misses = misses_of(crowd, *ns, count);
        if (!is_doubtful(crowd, *misses))
            break;
    }
    return true;
}

bool fm_crowd_misses(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *items,
                     size_t count, double *misses, struct fm_error *err)
{
    double ns;
    memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
    memcpy(crowd->trial + crowd->count, items, count * sizeof *items);
    return count_misses(lab, crowd, crowd->count + count, &ns, misses, err);
}

/* Takes in a run of the pool if nothing misses then. */
static bool take_in(struct fm_lab *lab, struct fm_crowd *crowd, size_t from, size_t count,
                    double *misses, bool *taken, struct fm_error *err)
{
    double ns;
    const size_t all = crowd->count + count;
    memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
    memcpy(crowd->trial + crowd->count, crowd->pool + from, count * sizeof *crowd->pool);
    if (!count_misses(lab, crowd, all, &ns, misses, err))
        return false;
    *taken = !fm_crowd_is_some(crowd, *misses);
    if (!*taken)
        return true;
    memcpy(crowd->held, crowd->trial, all * sizeof *crowd->held);
    /* An average: were it the last reading alone, it would creep up by what is just not some. But a
       reading below it has no misses, and counts at once. */
    const bool deep = crowd->count > crowd->shallow;
    crowd->base_ns += (ns - crowd->base_ns) / (deep ? AVERAGED : 1);
    crowd->base_ns = fmin(crowd->base_ns, ns);
    crowd->count = all;
    return true;
}

/* Items that may be refused at once: as many as hardly ever meet in a class, of which there are as
   many as the held make where one item too many makes its class miss. */
static size_t at_once(const struct fm_crowd *crowd)
{
    if (!crowd->all_miss)
        return 1;
    const double classes = (double)crowd->count / fmax(1, crowd->typical - 1);
    return (size_t)fmax(1, sqrt(2 * MEET * classes));
}

/* Whether all of a few items would be refused one by one: each makes its own class miss. Where
   noise says so wrongly, items are passed over that would fit, and there are more. */
static bool all_refused(const struct fm_crowd *crowd, size_t count, double misses)
{
    return count == 1 ||
           (count <= at_once(crowd) && misses > ((double)count - 0.5) * crowd->typical);
}

/* Takes items in until some are refused, or the pool or what may be spent is used up. */
static bool fill(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t *refused, bool *found,
                 struct fm_error *err)
{
    *found = false;
    while (crowd->next < crowd->items && crowd->count < crowd->most &&
           crowd->spent < crowd->spend) {
        bool taken;
        double misses;
        const size_t from = crowd->next;
        size_t batch = crowd->batch;
        if (batch > crowd->items - from)
            batch = crowd->items - from;
        crowd->next += batch;
        if (!fm_lab_go_on(lab, (double)from / (double)crowd->items, err) ||
            !take_in(lab, crowd, from, batch, &misses, &taken, err))
            return false;
        if (taken) {
            crowd->batch *= 2;
            continue;
        }
        if (all_refused(crowd, batch, misses)) {
            /* Every single one tells more surely what one too many misses. */
            if (batch == 1 && crowd->typical > 0)
                crowd->typical += (misses - crowd->typical) / ++crowd->singles;
            crowd->refused_count = batch;
            *refused = crowd->pool[from];
            *found = true;
            crowd->batch = 2 * batch < at_once(crowd) ? 2 * batch : at_once(crowd);
            return true;
        }
        crowd->next = from;
        crowd->batch = batch / 2;
    }
    return true;
}

/* Items of which some share the set of one that was refused: suspects first, and behind them others
   that only keep the levels inside busy. */
struct line_up {
    uint32_t refused;
    double misses; /* with it beside all that are held */
    size_t suspects, others;
};

/* Whether the one that was refused is still too many without a run of the suspects: compared with
   the rest alone, of which the levels inside may hold more. */
static bool misses_without(struct fm_lab *lab, struct fm_crowd *crowd, const struct line_up *up,
                           size_t from, size_t count, bool *yes, struct fm_error *err)
{
    const size_t rest = up->suspects + up->others - count;
    /* What the rest takes is timed: it makes no difference how much of it the levels inside hold.
     */
    struct fm_crowd without = *crowd;
    without.count = rest;
    without.shallow = 0;
    without.typical = up->misses;
    double ns, misses;
    memcpy(crowd->trial, crowd->suspects, from * sizeof *crowd->suspects);
    memcpy(crowd->trial + from, crowd->suspects + from + count,
           (rest - from) * sizeof *crowd->suspects);
    crowd->trial[rest] = up->refused;
    *yes = false;
    if (rest == 0)
        return true;
    const bool good = (crowd->tell || crowd->time(lab, &without, rest, &without.base_ns, err)) &&
                      count_misses(lab, &without, rest + 1, &ns, &misses, err);
    *yes = good && fm_crowd_is_some(&without, misses);
    crowd->spent = without.spent;
    return good;
}

/* Clears a run of the suspects; it stays among the others where these would be too few. */
static void clear(struct fm_crowd *crowd, struct line_up *up, size_t from, size_t count)
{
    uint32_t *cleared = crowd->trial;
    const size_t behind = up->suspects + up->others - from - count;
    memcpy(cleared, crowd->suspects + from, count * sizeof *cleared);
    memmove(crowd->suspects + from, crowd->suspects + from + count,
            behind * sizeof *crowd->suspects);
    up->suspects -= count;
    if (up->suspects + up->others < crowd->kept) {
        memcpy(crowd->suspects + up->suspects + up->others, cleared, count * sizeof *cleared);
        up->others += count;
    }
}

/* How many of those that are held share the set of an item that was refused: without any one of
   them nothing misses. Runs that do not matter are cleared, and what is left is looked at in ever
   shorter ones. 0: that does not show. */
static bool count_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused,
                        size_t *members, struct fm_error *err)
{
    struct line_up up = {.refused = refused, .suspects = crowd->count};
    double misses = 0;
    *members = 0;
    for (int i = 0; i < LOOKS; i++) {
        double look;
        if (!fm_crowd_misses(lab, crowd, &refused, 1, &look, err))
            return false;
        misses += look / LOOKS;
    }
    if (!fm_crowd_is_some(crowd, misses))
        return true;
    up.misses = misses;
    memcpy(crowd->suspects, crowd->held, crowd->count * sizeof *crowd->held);
    /* Singly once more: a member may only seem to be one. */
    bool again = true;
    for (size_t run = crowd->count / PARTS + 1; run > 0 && crowd->spent < crowd->spend;) {
        for (size_t from = 0; from < up.suspects;) {
            const size_t count = run < up.suspects - from ? run : up.suspects - from;
            bool still;
            if (!fm_lab_go_on(lab, 0, err) ||
                !misses_without(lab, crowd, &up, from, count, &still, err))
                return false;
            if (still)
                clear(crowd, &up, from, count);
            else
                from += count;
            /* Where items share sets in no classes, every one matters. */
            if (from / run > MOST_MEMBERS)
                return true;
        }
        if (run == 1 && again)
            again = false;
        else
            run /= 2;
    }
    if (crowd->spent < crowd->spend)
        *members = up.suspects;
    if (*members && crowd->typical <= 0) {
        crowd->typical = misses;
        crowd->singles = 1;
        crowd->all_miss = misses > ALL * (double)(*members + 1);
    }
    return true;
}

/* What all of the last classes but one have: noise may spoil a count. */
static size_t most_agree(const struct fm_crowded *shown)
{
    for (size_t i = 1; i < shown->classes; i++) {
        size_t alike = 0;
        for (size_t j = 1; j < shown->classes; j++)
            alike += shown->members[j] == shown->members[i];
        if (alike + 2 >= shown->classes && alike > 1)
            return shown->members[i];
    }
    return 0;
}

/* Whether nothing of what is held misses: a lap of all takes no longer than one of a half. Items
   are taken in where they seem to add no misses, and where that is wrong now and then it adds up.
 */
static bool is_sound(struct fm_lab *lab, struct fm_crowd *crowd, bool *yes, struct fm_error *err)
{
    const size_t half = crowd->count / 2;
    double sum = 0;
    *yes = true;
    for (int i = 0; i < LOOKS; i++) {
        double part_ns, ns, misses;
        memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
        if (crowd->tell) {
            if (!crowd->tell(lab, crowd, crowd->count, &misses, err))
                return false;
        } else {
            if (!crowd->time(lab, crowd, half, &part_ns, err) ||
                !crowd->time(lab, crowd, crowd->count, &ns, err))
                return false;
            misses = (ns - part_ns) * (double)crowd->count / crowd->penalty_ns;
        }
        sum += misses / LOOKS;
    }
    /* A half that the levels inside may hold says nothing. */
    *yes = half <= crowd->kept || !fm_crowd_is_some(crowd, sum);
    return true;
}

bool fm_crowd_out(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowded *shown,
                  struct fm_error *err)
{
    uint32_t refused;
    size_t in_a_row = 0, before = 0, accidents = 0;
    bool found = true;
    *shown = (struct fm_crowded){0};
    while (found && shown->classes < FM_CROWD_CLASSES) {
        if (!fill(lab, crowd, &refused, &found, err))
            return false;
        if (!found)
            break;
        in_a_row = crowd->refused_count + (crowd->count > before ? 0 : in_a_row);
        before = crowd->count;
        const size_t ways = shown->classes ? shown->members[0] : 0;
        shown->full = ways && in_a_row >= REFUSED * (crowd->count / ways + 1);
        if (shown->classes > 0 && !shown->full)
            continue;
        size_t *members = &shown->members[shown->classes];
        if (!count_class(lab, crowd, refused, members, err))
            return false;
        /* One that was refused by accident has no class; there are more. */
        if (*members == 0 && ++accidents > ACCIDENTS)
            break;
        shown->classes += *members > 0;
    }
    if (shown->full && !is_sound(lab, crowd, &shown->sound, err))
        return false;
    shown->held = crowd->count;
    shown->used_up = crowd->next == crowd->items;
    shown->ways = most_agree(shown);
    shown->misses = crowd->typical / ((double)shown->ways + 1);
    return true;
}

const char *fm_crowd_doubt(const struct fm_lab *lab, const struct fm_crowded *shown)
{
    if (shown->classes == 0)
        return "no pages collide by themselves: the index may be hashed";
    if (!shown->full && shown->used_up)
        return "all pages were tried, and it may not have been full";
    if (!shown->full || shown->classes < FM_CROWD_CLASSES)
        return lab->options->effort == FM_THOROUGH
                   ? "to fill it took more references than may be spent"
                   : "to fill it took more references than may be spent; try --thorough";
    if (!shown->sound)
        return "more was taken in than it holds";
    if (shown->ways == 0)
        return "groups of pages that collide differ in size: the index may be hashed";
    if (shown->held % shown->ways)
        return "it was filled by no whole number of groups";
    return NULL;
}
