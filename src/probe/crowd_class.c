#include "probe/crowd_class.h"

#include <string.h>

/* No set has more ways. */
#define MOST_MEMBERS 64
/* Parts of the held that are left out at first: the rest must still be too many for the levels
   inside. */
#define PARTS 8
/* Part of a class with one item too many that misses where all do, and what is more than all. */
#define ALL      0.85
#define TOO_MANY 1.25

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
                      fm_crowd_count_misses(lab, &without, rest + 1, &ns, &misses, err);
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

/* Runs that do not matter are cleared, and what is left is looked at in ever shorter ones. */
bool fm_crowd_count_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused,
                          size_t *members, struct fm_error *err)
{
    struct line_up up = {.refused = refused, .suspects = crowd->count};
    double misses = 0;
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
    /* No more can miss than there are: the levels inside had a part in it. */
    if (misses > TOO_MANY * (double)(*members + 1))
        *members = 0;
    if (*members && crowd->typical <= 0) {
        crowd->typical = misses;
        crowd->singles = 1;
        crowd->all_miss = misses > ALL * (double)(*members + 1);
    }
    return true;
}
