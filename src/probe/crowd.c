#include "probe/crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/refstring.h"

/* Misses of a lap that are some: one page too many makes itself and at least one other miss. */
#define SOME 1.0
/* What a reading can be off by, as a part of all that a lap takes. */
#define READING 0.01
/* … and by what the walk found. */
#define ROUGH_READING 0.04
/* Laps before: a cache that evicts by lot takes a few to forget what was there. */
#define LAPS 2
/* Part of what one word too many typically misses, once that has been seen. */
#define TYPICAL 0.35
/* So many times what is some needs no second look. */
#define CLEARLY 2
/* Spread words lie in different units of their pages. */
#define UNIT 64
/* No set has more ways. */
#define MOST_MEMBERS 64
/* Of the held, in one removal: the rest must still be too many for the levels inside. */
#define REMOVED 8

bool fm_crowd_open(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_error *err)
{
    struct fm_rng rng;
    const size_t bytes = crowd->pages * sizeof *crowd->pool;
    crowd->pool = malloc(bytes);
    crowd->held = malloc(bytes);
    crowd->trial = malloc(2 * bytes);
    crowd->spread = malloc(2 * bytes);
    if (!crowd->pool || !crowd->held || !crowd->trial || !crowd->spread)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of pages");
    for (size_t i = 0; i < crowd->pages; i++)
        crowd->pool[i] = (uint32_t)((i * crowd->page + crowd->offset) / FM_WORD);
    fm_rng_seed(&rng, fm_lab_seed(lab));
    fm_rng_shuffle(&rng, crowd->pool, crowd->pages);
    crowd->batch = crowd->shallow + 2;
    return fm_lab_place(lab, crowd->pages * crowd->page, err);
}

void fm_crowd_close(struct fm_crowd *crowd)
{
    free(crowd->pool);
    free(crowd->held);
    free(crowd->trial);
    free(crowd->spread);
}

static bool time_words(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *words,
                       size_t count, uint64_t seed, double *ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 3, .laps = LAPS, .references = count};
    const struct fm_listed_plan plan = {.words = words,
                                        .count = count,
                                        .flushed = crowd->pool,
                                        .flushed_count = crowd->next,
                                        .seed = seed};
    struct fm_string string;
    crowd->spent += (double)(count * (LAPS + 3));
    return fm_listed_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* What a reference to the first `count` words of the trial takes beyond one to as many words in the
   same pages that share no set: translation takes the same in both. */
static bool time_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                       struct fm_error *err)
{
    const uint32_t words = (uint32_t)(crowd->page / FM_WORD);
    const uint32_t units = (uint32_t)(crowd->page / UNIT);
    const uint64_t seed = fm_lab_seed(lab);
    double apart;
    if (!time_words(lab, crowd, crowd->trial, count, seed, ns, err))
        return false;
    crowd->whole_ns = *ns;
    for (size_t i = 0; i < count; i++) {
        const uint32_t page = crowd->trial[i] / words;
        const double place = page * 0.6180339887498949;
        crowd->spread[i] =
            page * words + (uint32_t)((place - floor(place)) * units) * (uint32_t)(UNIT / FM_WORD);
    }
    if (!time_words(lab, crowd, crowd->spread, count, seed, &apart, err))
        return false;
    *ns -= apart;
    return true;
}

/* What a reference takes when nothing misses: as before, with a few words less. Where the levels
   inside still hold a part of that, it says nothing, and what the walk found must serve. */
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
    const double part = crowd->counted                  ? 0
                        : crowd->count > crowd->shallow ? READING
                                                        : ROUGH_READING;
    const double error = part * crowd->whole_ns * (double)crowd->count / crowd->penalty_ns;
    return misses > fmax(fmax(SOME, error), TYPICAL * crowd->typical);
}

/* By the level's own event: it is not asked what translation takes, nor twice. */
static bool count_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *misses,
                        struct fm_error *err)
{
    const struct fm_listed_plan plan = {.words = crowd->trial,
                                        .count = count,
                                        .flushed = crowd->pool,
                                        .flushed_count = crowd->next,
                                        .seed = fm_lab_seed(lab)};
    struct fm_string string;
    struct fm_sample sample;
    if (!fm_listed_string(&string, &plan, err))
        return false;
    crowd->spent += (double)(count * (LAPS + 1));
    fm_string_prime(&string, LAPS);
    fm_string_time(&string, count);
    const bool good = fm_lab_go_on(lab, 0, err) &&
                      lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
    fm_string_free(&string);
    *misses = good ? (double)fm_event_count(&sample.counts, crowd->bit) : 0;
    return good;
}

/* Where they seem to miss, once more: noise only adds. */
static bool count_misses(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                         double *misses, struct fm_error *err)
{
    double again;
    *ns = 0;
    if (crowd->counted)
        return count_trial(lab, crowd, count, misses, err);
    if (!time_trial(lab, crowd, count, ns, err))
        return false;
    *misses = misses_of(crowd, *ns, count);
    if (!fm_crowd_is_some(crowd, *misses) || fm_crowd_is_some(crowd, *misses / CLEARLY))
        return true;
    if (!time_trial(lab, crowd, count, &again, err))
        return false;
    *ns = fmin(*ns, again);
    *misses = misses_of(crowd, *ns, count);
    return true;
}

bool fm_crowd_misses(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *words,
                     size_t count, double *misses, struct fm_error *err)
{
    double ns;
    memcpy(crowd->trial, crowd->held, crowd->count * sizeof *crowd->held);
    memcpy(crowd->trial + crowd->count, words, count * sizeof *words);
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
    crowd->count = all;
    crowd->base_ns = ns;
    return true;
}

bool fm_crowd_fill(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t *refused, bool *found,
                   struct fm_error *err)
{
    *found = false;
    while (crowd->next < crowd->pages && crowd->count < crowd->most &&
           crowd->spent < crowd->spend) {
        bool taken;
        double misses;
        const size_t from = crowd->next;
        size_t batch = crowd->batch;
        if (batch > crowd->pages - from)
            batch = crowd->pages - from;
        crowd->next += batch;
        if (!fm_lab_go_on(lab, (double)from / (double)crowd->pages, err) ||
            !take_in(lab, crowd, from, batch, &misses, &taken, err))
            return false;
        if (taken) {
            crowd->batch *= 2;
            continue;
        }
        if (batch == 1) {
            crowd->refused_misses = misses;
            *refused = crowd->pool[from];
            *found = true;
            return true;
        }
        crowd->next = from;
        crowd->batch = batch / 2;
    }
    return true;
}

/* Whether a word that was refused is still too many without some of the held: compared with these
   alone, of which the levels inside may hold more. */
static bool misses_without(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused,
                           size_t from, size_t count, bool *yes, struct fm_error *err)
{
    const double base_ns = crowd->base_ns;
    const size_t rest = crowd->count - count;
    double ns, misses;
    memcpy(crowd->trial, crowd->held, from * sizeof *crowd->held);
    memcpy(crowd->trial + from, crowd->held + from + count, (rest - from) * sizeof *crowd->held);
    crowd->trial[rest] = refused;
    bool good = (crowd->counted || time_trial(lab, crowd, rest, &crowd->base_ns, err)) &&
                count_misses(lab, crowd, rest + 1, &ns, &misses, err);
    *yes = good && fm_crowd_is_some(crowd, misses);
    crowd->base_ns = base_ns;
    return good;
}

/* Members among a run of the held: without one of them nothing misses. */
static bool count_members(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused, size_t from,
                          size_t count, size_t *members, struct fm_error *err)
{
    bool misses;
    /* Where lines share sets in no classes, every removal helps, and there is no end to them. */
    if (*members >= MOST_MEMBERS || crowd->spent > crowd->spend)
        return true;
    if (!misses_without(lab, crowd, refused, from, count, &misses, err))
        return false;
    if (misses)
        return true;
    if (count == 1) {
        ++*members;
        return true;
    }
    return count_members(lab, crowd, refused, from, count / 2, members, err) &&
           count_members(lab, crowd, refused, from + count / 2, count - count / 2, members, err);
}

bool fm_crowd_class(struct fm_lab *lab, struct fm_crowd *crowd, uint32_t refused, size_t *members,
                    struct fm_error *err)
{
    *members = 0;
    const size_t run = crowd->count / REMOVED + 1;
    for (size_t from = 0; from < crowd->count; from += run) {
        const size_t count = run < crowd->count - from ? run : crowd->count - from;
        if (!fm_lab_go_on(lab, 0, err) ||
            !count_members(lab, crowd, refused, from, count, members, err))
            return false;
    }
    if (*members >= MOST_MEMBERS || crowd->spent > crowd->spend)
        *members = 0;
    if (*members && crowd->typical <= 0)
        crowd->typical = crowd->refused_misses;
    return true;
}
