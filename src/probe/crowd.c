#include "probe/crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "probe/crowd_class.h"

/* Misses of a lap that are some: one item too many makes itself and at least one other miss under
   most policies, … */
#define SOME 1.0
/* Times what a reading is off that what was found before can be, which must serve at first. */
#define ROUGH 4
/* … and a part of what it was seen to miss. */
#define TYPICAL 0.5
/* Part of the one that misses at least under policies that spare most. */
#define SPARED 0.5
/* Readings of what is held that are averaged, about. */
#define AVERAGED 4
/* So many times what is some needs no second look. */
#define CLEARLY 2
/* It needs to be known no better than to this part of what one too many misses. */
#define WELL_KNOWN 0.4
/* Part of what one item too many misses that is as near to that as to nothing. */
#define DOUBT 0.25
/* Items refused in a row, in numbers of classes, after which no class has room: one that had would
   have been met but once in a thousand times. */
#define REFUSED 7
/* … and those after which one that fits is rare. */
#define MANY 8
/* Times that others are tried to begin with. */
#define BEGINNINGS 4
/* Those that are timed to begin with the best. */
#define CHOICES 8
/* Items refused that turn out to crowd no class before it is given up. */
#define ACCIDENTS 8
/* One of so many members of a class may be an item that was taken in, or refused, by mistake. */
#define MISCOUNTED 8
/* Part of what may be spent after which it will hardly be full: the rest is for counting classes of
   few items, which are as large while others have room. */
#define LATE 0.6
/* Part of what is held that misses where it is hopeless. */
#define RUN_AWAY 0.25
/* Chance that of items refused at once two share a class, and one refusal hides the other. */
#define MEET 0.25

static void shuffle(struct fm_lab *lab, struct fm_crowd *crowd)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    fm_rng_shuffle(&rng, crowd->pool, crowd->items);
}

bool fm_crowd_open(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t first, uint32_t step,
                   struct fm_error *err)
{
    const size_t bytes = crowd->items * sizeof *crowd->pool;
    crowd->pool = malloc(bytes);
    crowd->held = malloc(bytes);
    crowd->suspects = malloc(bytes);
    crowd->trial = malloc(2 * bytes);
    if (!crowd->pool || !crowd->held || !crowd->suspects || !crowd->trial)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of items");
    for (size_t i = 0; i < crowd->items; i++)
        crowd->pool[i] = first + (uint32_t)i * step;
    shuffle(lab, crowd);
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

/* What noise may make of nothing. */
static double error_of(const struct fm_crowd *crowd)
{
    const double rough = crowd->count > crowd->shallow ? 1 : ROUGH;
    const double part = crowd->tell ? 0 : crowd->reading * rough;
    return part * crowd->whole_ns * (double)crowd->count / crowd->penalty_ns;
}

bool fm_crowd_is_some(const struct fm_crowd *crowd, double misses)
{
    return misses > fmax(fmax(SOME, error_of(crowd)), TYPICAL * crowd->typical);
}

/* Whether it was seen that one too many does not make all of its class miss. */
static bool spares(const struct fm_crowd *crowd)
{
    return crowd->typical > 0 && !crowd->all_miss;
}

/* Whether items that miss so much may be taken in: where some are spared, one too many may make
   hardly more than itself miss. */
static bool is_none(const struct fm_crowd *crowd, double misses)
{
    return !fm_crowd_is_some(crowd, misses) &&
           !(spares(crowd) && misses > fmax(SPARED, error_of(crowd)));
}

unsigned fm_crowd_repeats(const struct fm_crowd *crowd, size_t count, unsigned most)
{
    if (crowd->typical <= 0)
        return most;
    const double all = crowd->whole_ns * (double)count;
    const double enough =
        FM_CROWD_READING * all / (WELL_KNOWN * crowd->typical * crowd->penalty_ns);
    return (unsigned)fmin(most, fmax(FM_CROWD_REPEATS, ceil(enough)));
}

/* Whether that many are neither none nor what one item too many misses; before that is known:
   whether they are some, but not clearly. Fewer than none is the luck of a translation. */
static bool is_doubtful(const struct fm_crowd *crowd, double misses)
{
    if (crowd->count > crowd->shallow && fm_crowd_is_some(crowd, -misses))
        return true;
    if (crowd->typical > 0)
        return misses > DOUBT * crowd->typical && misses < (1 - DOUBT) * crowd->typical;
    return fm_crowd_is_some(crowd, misses) && !fm_crowd_is_some(crowd, misses / CLEARLY);
}

bool fm_crowd_count_misses(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                           double *misses, struct fm_error *err)
{
    double sum = 0;
    *ns = 0;
    if (crowd->tell)
        return crowd->tell(lab, crowd, count, misses, err);
    for (int looks = 1; looks <= FM_CROWD_LOOKS; looks++) {
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
    return fm_crowd_count_misses(lab, crowd, crowd->count + count, &ns, misses, err);
}

/* Takes in a run of the pool if nothing misses then. */
static bool take_in(struct fm_lab *lab, struct fm_crowd *crowd, size_t from, size_t count,
                    double *misses, bool *taken, struct fm_error *err)
{
    double ns;
    const size_t all = crowd->count + count;
    memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
    memcpy(crowd->trial + crowd->count, crowd->pool + from, count * sizeof *crowd->pool);
    if (!fm_crowd_count_misses(lab, crowd, all, &ns, misses, err))
        return false;
    *taken = is_none(crowd, *misses);
    /* Where many were refused before it, or one too many makes now more and now fewer miss, one
       that seems to fit may be a reading that is off: it is looked at once more. */
    if (*taken && (crowd->in_a_row >= MANY || spares(crowd))) {
        if (!fm_crowd_count_misses(lab, crowd, all, &ns, misses, err))
            return false;
        *taken = is_none(crowd, *misses);
    }
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

/* Times what is held anew: where one after the other is refused, what they are compared with may be
   what the levels inside still had a part in. */
static bool refresh(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_error *err)
{
    double sum = 0;
    memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
    for (int i = 0; i < FM_CROWD_LOOKS; i++) {
        double ns;
        if (!crowd->time(lab, crowd, crowd->count, &ns, err))
            return false;
        sum += ns / FM_CROWD_LOOKS;
    }
    crowd->base_ns = sum;
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

/* Whether much of what is held misses: where one too many is not always seen, more and more of them
   are taken in. */
static bool has_run_away(const struct fm_crowd *crowd)
{
    return !crowd->tell && crowd->hit_ns > 0 && crowd->count > crowd->shallow &&
           crowd->base_ns > crowd->hit_ns + RUN_AWAY * crowd->penalty_ns;
}

/* Takes items in until some are refused, or the pool or what may be spent is used up. */
static bool fill(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t *refused, bool *found,
                 struct fm_error *err)
{
    *found = false;
    while (crowd->next < crowd->items && crowd->count < crowd->most &&
           crowd->spent < crowd->spend && !has_run_away(crowd)) {
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
            crowd->in_a_row = 0;
            continue;
        }
        if (all_refused(crowd, batch, misses)) {
            /* Every single one tells more surely what one too many misses, unless it is too many
               further out. */
            if (batch == 1 && crowd->typical > 0 && misses < CLEARLY * crowd->typical)
                crowd->typical += (misses - crowd->typical) / ++crowd->singles;
            const bool many = crowd->in_a_row < MANY && crowd->in_a_row + batch >= MANY;
            crowd->in_a_row += batch;
            if (many && !crowd->tell && !refresh(lab, crowd, err))
                return false;
            *refused = crowd->pool[from];
            *found = true;
            crowd->batch = 2 * batch < at_once(crowd) ? 2 * batch : at_once(crowd);
            return true;
        }
        /* So many to begin with that the levels inside hold none of them: others may fit where
           these do not. With fewer some classes inside stay as they are, and refuse what would fit
           here. */
        if (crowd->count == 0 && crowd->begun++ < BEGINNINGS && crowd->next < crowd->items / 2)
            continue;
        crowd->next = from;
        crowd->batch = batch / 2;
    }
    return true;
}

/* What all classes from `first` on but one have: noise may spoil a count. */
static size_t most_agree(const struct fm_crowded *shown, size_t first)
{
    for (size_t i = first; i < shown->classes; i++) {
        size_t alike = 0;
        for (size_t j = first; j < shown->classes; j++)
            alike += shown->members[j] == shown->members[i];
        if (alike + first + 1 >= shown->classes && alike > 1)
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
    for (int i = 0; i < FM_CROWD_LOOKS; i++) {
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
        sum += misses / FM_CROWD_LOOKS;
    }
    /* What the levels inside may hold says nothing. */
    const size_t asked = crowd->tell ? crowd->count : half;
    *yes = asked <= crowd->kept || !fm_crowd_is_some(crowd, sum);
    return true;
}

/* A class that is not like most is counted once more: what noise did it does not do again, and
   where the level inside makes some items miss, which has ways of its own, it does; if it can. */
static bool confirm(struct fm_lab *lab, struct fm_crowd *crowd, size_t first,
                    struct fm_crowded *shown, struct fm_error *err)
{
    for (size_t i = first; i < shown->classes && shown->ways && !crowd->alone; i++) {
        size_t again;
        if (shown->members[i] == shown->ways)
            continue;
        if (!fm_crowd_count_class(lab, crowd, shown->refused[i], &again, err))
            return false;
        if (again != shown->ways)
            shown->ways = 0;
    }
    return true;
}

/* Refused in a row, so that no class has room: by the smallest that was counted there are most. */
static bool is_full(const struct fm_crowd *crowd, const struct fm_crowded *shown)
{
    size_t ways = shown->members[0];
    for (size_t i = 1; i < shown->classes; i++)
        if (shown->members[i] < ways)
            ways = shown->members[i];
    return shown->classes && crowd->in_a_row >= REFUSED * (crowd->count / ways + 1);
}

/* The first class may be of the level inside, unless this one leaves it nothing. */
static size_t first_that_counts(const struct fm_crowd *crowd)
{
    return crowd->anywhere || crowd->anew || crowd->alone ? 0 : 1;
}

/* Two classes that are alike will do where each missed as a whole: how much that was says their
   number once more. Otherwise three, of which nothing held has room for more. */
static bool is_enough(const struct fm_crowd *crowd, const struct fm_crowded *shown)
{
    const size_t first = first_that_counts(crowd);
    const size_t wanted = first + (crowd->all_miss ? 2 : 3);
    if (shown->classes != wanted || !(crowd->all_miss || shown->full))
        return false;
    for (size_t i = first + 1; i < wanted; i++)
        if (shown->members[i] != shown->members[first])
            return false;
    return true;
}

/* Lets go of all that is held, for others. */
static void begin_anew(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowded *shown)
{
    *shown = (struct fm_crowded){0};
    shuffle(lab, crowd);
    crowd->anew = true;
    crowd->next = 0;
    crowd->batch = crowd->shallow + 2;
    crowd->count = crowd->in_a_row = 0;
    crowd->begun = crowd->singles = 0;
    crowd->typical = crowd->base_ns = 0;
    crowd->all_miss = false;
}

/* Has some items of the pool come first, and begins with them. */
static void begin_with(struct fm_crowd *crowd, size_t from, size_t count)
{
    memcpy(crowd->held, crowd->pool + from, count * sizeof *crowd->held);
    memmove(crowd->pool + count, crowd->pool, from * sizeof *crowd->pool);
    memcpy(crowd->pool, crowd->held, count * sizeof *crowd->pool);
    crowd->next = crowd->count = count;
}

/* So few items hardly meet anywhere; but one class too full at the start would take in more and
   more. A counter shows whether there is one; by the clock those are taken of some that take the
   least. */
static bool begin_anywhere(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_error *err)
{
    const size_t count = crowd->batch < crowd->items ? crowd->batch : crowd->items;
    const size_t choices = crowd->tell ? crowd->items / count : CHOICES;
    double least = INFINITY;
    size_t best = 0;
    for (size_t from = 0, i = 0; i < choices && from + count <= crowd->items; from += count, i++) {
        double ns = 0, misses = 0;
        memcpy(crowd->trial, crowd->pool + from, count * sizeof *crowd->trial);
        if (!(crowd->tell ? crowd->tell(lab, crowd, count, &misses, err)
                          : crowd->time(lab, crowd, count, &ns, err)))
            return false;
        if (ns < least && is_none(crowd, misses)) {
            least = ns;
            best = from;
        }
        if (crowd->tell && isfinite(least))
            break;
    }
    crowd->base_ns = least;
    if (isfinite(least))
        begin_with(crowd, best, count);
    else
        crowd->next = crowd->items;
    return true;
}

/* Takes items in and counts classes: the first that is too full, and then those that are when it is
   full; or, where it will not be, each. */
static bool count_classes(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowded *shown,
                          struct fm_error *err)
{
    const size_t wanted = crowd->classes ? crowd->classes : FM_CROWD_CLASSES;
    const bool each = crowd->anywhere || crowd->anew;
    uint32_t refused;
    size_t accidents = 0;
    while (shown->classes < wanted && !is_enough(crowd, shown)) {
        bool found;
        if (!fill(lab, crowd, &refused, &found, err))
            return false;
        if (!found)
            break;
        shown->full = is_full(crowd, shown);
        if (!each && !shown->full && crowd->spent > LATE * crowd->spend)
            break;
        if (shown->classes > 0 && !shown->full && !each)
            continue;
        size_t *members = &shown->members[shown->classes];
        shown->refused[shown->classes] = refused;
        if (!fm_crowd_count_class(lab, crowd, refused, members, err))
            return false;
        /* One that was refused by accident has no class; there are more. */
        if (*members == 0 && ++accidents > ACCIDENTS)
            break;
        shown->classes += *members > 0;
    }
    shown->few = shown->classes < wanted && !is_enough(crowd, shown);
    return true;
}

/* As many as fit, of which one in many may be counted too many or too few where some misses are
   spared: a whole number of classes. */
static size_t whole_classes(const struct fm_crowd *crowd, const struct fm_crowded *shown)
{
    const size_t ways = shown->ways;
    if (!ways || !shown->full || !spares(crowd))
        return crowd->count;
    const size_t whole = (crowd->count + ways / 2) / ways * ways;
    const size_t off = whole > crowd->count ? whole - crowd->count : crowd->count - whole;
    return off <= ways / MISCOUNTED ? whole : crowd->count;
}

bool fm_crowd_out(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowded *shown,
                  struct fm_error *err)
{
    *shown = (struct fm_crowded){0};
    if ((crowd->anywhere && !begin_anywhere(lab, crowd, err)) ||
        !count_classes(lab, crowd, shown, err))
        return false;
    if (!crowd->anywhere && shown->classes > 0 && !shown->full) {
        begin_anew(lab, crowd, shown);
        if (!count_classes(lab, crowd, shown, err))
            return false;
    }
    shown->held = crowd->count;
    /* Once there are many the levels inside have no part in what is refused. */
    shown->shallow = crowd->begun > BEGINNINGS && crowd->count <= crowd->shallow;
    shown->used_up = crowd->next == crowd->items;
    const size_t first = first_that_counts(crowd);
    shown->ways = most_agree(shown, first);
    if (!confirm(lab, crowd, first, shown, err))
        return false;
    /* A half of them takes other translations: there is nothing to compare with. */
    shown->sound = crowd->anywhere;
    if (!crowd->anywhere && shown->ways && !is_sound(lab, crowd, &shown->sound, err))
        return false;
    shown->misses = crowd->typical / ((double)shown->ways + 1);
    shown->held = whole_classes(crowd, shown);
    return true;
}

static const char *too_dear(const struct fm_lab *lab)
{
    return lab->options->effort == FM_THOROUGH
               ? "to fill it took more references than may be spent"
               : "to fill it took more references than may be spent; try --thorough";
}

const char *fm_crowd_ways_doubt(const struct fm_lab *lab, const struct fm_crowded *shown)
{
    if (shown->classes == 0)
        return "no pages collide by themselves: the index may be hashed";
    if (shown->few && shown->used_up)
        return "all pages were tried, and it may not have been full";
    if (shown->few)
        return too_dear(lab);
    if (shown->ways == 0)
        return "groups of pages that collide differ in size: the index may be hashed";
    return shown->sound ? NULL : "more was taken in than it holds";
}

const char *fm_crowd_doubt(const struct fm_lab *lab, const struct fm_crowded *shown)
{
    const char *doubt = fm_crowd_ways_doubt(lab, shown);
    if (doubt)
        return doubt;
    if (!shown->full)
        return too_dear(lab);
    return shown->held % shown->ways ? "it was filled by no whole number of groups" : NULL;
}
