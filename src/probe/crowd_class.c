#include "probe/crowd_class.h"

#include <math.h>
#include <string.h>

/* No set has more ways. */
#define MOST_MEMBERS 64
/* Parts of the held that are left out at first, at least: the rest must still be too many for the
   levels inside. */
#define PARTS 8
/* Part of a class with one item too many that misses where all do, and what is more than all; and
   where nothing else can be too full, so that it can be told better. */
#define ALL      0.85
#define TOO_MANY 1.25
#define MORE     1.15
/* Readings of what items take that are averaged, about. */
#define AVERAGED 4
/* Part to which it is known what items take that miss nothing; and the part of what the class
   misses that this must not make, for a run of them. */
#define UNSURE 0.1
#define LITTLE 0.2
/* Part of a lap that what the class misses must be for a lap to be reckoned at all: what each item
   takes is not the same of many and of few, and it adds up. */
#define PLAIN 0.1
/* Part of what they take on average that is likely for each. */
#define LEAST_PART 0.3

/* Items of which some share the set of one that was refused: suspects first, and behind them others
   that only keep the levels inside busy. */
struct line_up {
    uint32_t refused;
    double misses; /* with it beside all that are held */
    size_t suspects, others;
    bool timed;     /* nothing is reckoned */
    double lap_ns;  /* of all of these and the one that was refused, if nothing missed … */
    double rest_ns; /* … and of those of the last trial */
    double each_ns; /* that a lap is shorter without one of them: pages take as long as before; 0:
                       not seen yet */
};

/* Whether it is known what a lap without so many of them would take if nothing missed. */
static bool is_short(const struct fm_crowd *crowd, const struct line_up *up, size_t count)
{
    const bool steady = !crowd->steady || up->suspects + up->others <= crowd->steady;
    return up->each_ns > 0 && (steady || count == 1) &&
           up->misses * crowd->penalty_ns > PLAIN * up->lap_ns &&
           UNSURE * up->each_ns * (double)count < LITTLE * up->misses * crowd->penalty_ns;
}

/* What a long run has made of a lap says what each item of it took, if that is likely at all. */
static void learn(struct line_up *up, size_t count)
{
    const double all = (double)(up->suspects + up->others + 1);
    const double each = (up->lap_ns - up->rest_ns) / (double)count;
    if (each > LEAST_PART * up->lap_ns / all && each < up->lap_ns / all / LEAST_PART)
        up->each_ns += (each - up->each_ns) / (up->each_ns > 0 ? AVERAGED : 1);
}

/* Whether the one that was refused is still too many without a run of the suspects: compared with
   the rest alone, of which the levels inside may hold more. What the rest takes is timed, or, of
   short runs, reckoned. */
static bool misses_without(struct fm_lab *lab, struct fm_crowd *crowd, struct line_up *up,
                           size_t from, size_t count, bool *yes, struct fm_error *err)
{
    const size_t rest = up->suspects + up->others - count;
    const double shorter_ns = up->each_ns * (double)count;
    const bool reckoned = !up->timed && is_short(crowd, up, count);
    struct fm_crowd without = *crowd;
    without.count = rest;
    /* It makes no difference how much the levels inside hold. */
    without.shallow = 0;
    without.typical = crowd->typical > 0 ? fmin(up->misses, crowd->typical) : up->misses;
    without.base_ns = (up->lap_ns - shorter_ns) / (double)(rest + 1);
    double ns, misses = 0;
    memcpy(crowd->trial, crowd->suspects, from * sizeof *crowd->suspects);
    memcpy(crowd->trial + from, crowd->suspects + from + count,
           (rest - from) * sizeof *crowd->suspects);
    crowd->trial[rest] = up->refused;
    *yes = false;
    if (rest == 0)
        return true;
    const bool good =
        (crowd->tell || reckoned || crowd->time(lab, &without, rest, &without.base_ns, err)) &&
        fm_crowd_count_misses(lab, &without, rest + 1, &ns, &misses, err);
    *yes = good && fm_crowd_is_some(&without, misses);
    crowd->spent = without.spent;
    /* It is seen anew what all take; but a run may have been of another class that has had one too
       many all along. */
    const double more = *yes ? misses - up->misses : misses;
    if (good && reckoned && !fm_crowd_is_some(&without, fabs(more)))
        up->lap_ns += more * crowd->penalty_ns / AVERAGED;
    up->rest_ns = reckoned ? up->lap_ns - shorter_ns : without.base_ns * (double)(rest + 1);
    if (!reckoned && count > 1)
        learn(up, count);
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
    } else {
        up->lap_ns = up->rest_ns;
    }
}

/* Clears what does not matter of a run, and says how many of it do. Of one that matters, as is
   known of some, one of its halves does. */
static bool sift(struct fm_lab *lab, struct fm_crowd *crowd, struct line_up *up, size_t from,
                 size_t count, bool matters, size_t *left, struct fm_error *err)
{
    size_t first, second;
    bool still = false;
    *left = 0;
    if (!fm_lab_go_on(lab, 0, err) ||
        (!matters && !misses_without(lab, crowd, up, from, count, &still, err)))
        return false;
    if (still) {
        clear(crowd, up, from, count);
        return true;
    }
    *left = count;
    /* Where items share sets in no classes, every one matters. */
    if (count == 1 || crowd->spent > crowd->spend || from > MOST_MEMBERS)
        return true;
    const size_t half = count / 2;
    if (!sift(lab, crowd, up, from, half, false, &first, err) ||
        !sift(lab, crowd, up, from + first, count - half, first == 0, &second, err))
        return false;
    *left = first + second;
    return true;
}

/* Whether a member was cleared by mistake and lies among the others: without it nothing misses. */
static bool has_more(struct fm_lab *lab, struct fm_crowd *crowd, struct line_up *up, bool *more,
                     struct fm_error *err)
{
    const size_t run = up->others / PARTS + 1;
    *more = false;
    for (size_t from = 0; from < up->others && !*more; from += run) {
        const size_t count = run < up->others - from ? run : up->others - from;
        bool still;
        if (!misses_without(lab, crowd, up, up->suspects + from, count, &still, err))
            return false;
        *more = !still;
    }
    return true;
}

bool fm_crowd_count_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused,
                          size_t *members, struct fm_error *err)
{
    struct line_up up = {.refused = refused, .suspects = crowd->count};
    double misses = 0;
    size_t left;
    *members = 0;
    for (int i = 0; i < FM_CROWD_LOOKS; i++) {
        double look;
        if (!fm_crowd_misses(lab, crowd, &refused, 1, &look, err))
            return false;
        misses += look / FM_CROWD_LOOKS;
    }
    if (!fm_crowd_is_some(crowd, misses))
        return true;
    up.misses = misses;
    up.lap_ns = crowd->base_ns * (double)(crowd->count + 1);
    memcpy(crowd->suspects, crowd->held, crowd->count * sizeof *crowd->held);
    /* About as many parts as members where all of them miss: half of these do not matter then. */
    const size_t parts = (size_t)fmin(fmax(misses, PARTS), MOST_MEMBERS);
    const size_t run = crowd->count / parts + 1;
    for (size_t from = 0; from < up.suspects; from += left)
        if (!sift(lab, crowd, &up, from, run < up.suspects - from ? run : up.suspects - from, false,
                  &left, err))
            return false;
    /* Where one of them was left out nothing misses any more, and all the others seem to matter. */
    bool still, more;
    up.timed = true;
    if (!misses_without(lab, crowd, &up, 0, 0, &still, err) ||
        !has_more(lab, crowd, &up, &more, err))
        return false;
    if (!still || more)
        return true;
    /* Singly once more: a member may only seem to be one. */
    for (size_t from = 0; from < up.suspects && up.suspects <= MOST_MEMBERS; from += left)
        if (!sift(lab, crowd, &up, from, 1, false, &left, err))
            return false;
    if (crowd->spent < crowd->spend && up.suspects <= MOST_MEMBERS)
        *members = up.suspects;
    /* No more can miss than there are: the levels inside had a part in it. Nor less where all do.
     */
    const double all = (double)(*members + 1);
    if ((!crowd->unpriced && misses > (crowd->anywhere ? TOO_MANY : MORE) * all) ||
        (crowd->all_miss && misses < all / TOO_MANY))
        *members = 0;
    if (*members && crowd->typical <= 0) {
        crowd->typical = misses;
        crowd->singles = 1;
        crowd->all_miss = misses > ALL * all;
    }
    return true;
}
