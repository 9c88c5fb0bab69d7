/* Groups of lines that share a set, wherever their pages lie. Where the index is physical beyond a
 * page, or hashed, no distance says which lines conflict. So many are taken that some do; what can
 * be left out without an end to that is left out, and what remains is one set's lines, one more
 * than it has ways. Any policy keeps as many as there are ways, and none keeps more. */
#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
#include "probe/icache_pool.h"
#include "refstring/refstring.h"

/* How a search goes on, and how many times the code that is known to miss it takes at the most:
   lines that share a set may come late. One of each page takes more of them, where sets are few. */
#define NEXT      1.2
#define MOST_CODE 2.0
#define MORE_ROWS 32
/* Lines of one set among as many others as it shows beside, at the least; of more, up to so many
   times as many, others are dealt so many times: what shows among too many is the doing of several
   sets, of which no line can be left out. */
#define FEWEST_LINES 4
#define MORE_LINES   3
#define DEALS        24
/* More than so many of a set are not looked for: each of them takes trials of its own. */
#define MOST_MEMBERS 33
/* Elements that a set may be tried beside, at the most. */
#define MORE_ELEMENTS 256
/* Pages besides, of which others are taken to see how many share a set, and bytes of them. */
#define OTHER_PAGES 4096
#define OTHER_BYTES 0x1p26
/* Groups looked at in each manner, and at the most where one of them was a set's; those that must
   agree; and placements without any after which none is looked for. */
#define GROUPS      10
#define MOST_GROUPS 14
#define AGREE       3
#define NONE_SEEN   3
/* Times that a miss of the level behind costs what one of this cache does, at the least; and times
   what the rise shows, where but a part of the lines may miss. */
#define DEARER   1.4
#define TOO_DEAR 2.5
/* Times that it holds what this one does. */
#define LARGER 1.5

static bool conflict_without(struct fm_lab *lab, struct fm_icache *icache,
                             struct fm_code_pool *pool, size_t from, size_t left_out, bool *yes,
                             struct fm_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (i < from || i >= from + left_out)
            pool->trial[count++] = pool->of[i];
    *yes = false;
    return count == 0 || fm_pool_conflicts(lab, icache, pool, pool->trial, count, yes, err);
}

static void leave_out(struct fm_code_pool *pool, size_t from, size_t left_out)
{
    for (size_t i = from; i + left_out < pool->count; i++)
        pool->of[i] = pool->of[i + left_out];
    pool->count -= left_out;
}

/* Leaves out all runs of that many without which some still conflict. *gone: how many went; all,
   where too many are needed. */
static bool thin_out(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                     size_t run, size_t *gone, struct fm_error *err)
{
    size_t needed = 0;
    *gone = 0;
    for (size_t from = 0; from < pool->count && needed <= MOST_MEMBERS;) {
        const size_t rest = pool->count - from, here = run < rest ? run : rest;
        bool still;
        if (!conflict_without(lab, icache, pool, from, here, &still, err))
            return false;
        if (still) {
            leave_out(pool, from, here);
            *gone += here;
        } else {
            from += here;
            needed++;
        }
    }
    if (needed > MOST_MEMBERS)
        pool->count = 0;
    return true;
}

static bool thin_out_singly(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                            struct fm_error *err)
{
    /* More than once: a trial that noise has spoiled keeps one too many. */
    for (size_t gone = 1; gone && pool->count > 1;)
        if (!thin_out(lab, icache, pool, 1, &gone, err))
            return false;
    return true;
}

/* Whether a line is one of the group or beside one, or is in the trial beside one of the first so
   many. */
static bool is_taken(const struct fm_code_pool *pool, size_t beside, size_t line)
{
    for (size_t i = 0; i < pool->count; i++)
        if (pool->of[i].one == line || pool->of[i].other == line ||
            (i < beside && pool->trial[i].other == line))
            return true;
    return false;
}

/* Puts another line of its page beside each, in a trial: a page is then visited as often in both
   forms, and what is left is not a TLB's. A line is there once: groups may have several of one
   page. */
static void put_beside_others(struct fm_lab *lab, const struct fm_icache *icache,
                              const struct fm_code_pool *pool)
{
    const size_t page = lab->machine->info.page_size, line = icache->line, places = page / line;
    for (size_t i = 0; i < pool->count; i++) {
        const size_t at = pool->of[i].one, from = at / page * page, first = fm_lab_seed(lab);
        pool->trial[i] = (struct fm_code_element){at, FM_NO_LINE};
        for (size_t k = 0; k < places && pool->trial[i].other == FM_NO_LINE; k++) {
            const size_t other = from + (first + k) % places * line;
            if (!is_taken(pool, i, other))
                pool->trial[i].other = other;
        }
    }
}

/* The two lines of each pair become elements of their own, beside lines that are none of them. */
static void split_pairs(struct fm_lab *lab, const struct fm_icache *icache,
                        struct fm_code_pool *pool)
{
    const size_t pairs = pool->count;
    for (size_t i = 0; i < pairs && pool->count < pool->room; i++) {
        if (pool->of[i].other == FM_NO_LINE)
            continue;
        pool->of[pool->count++] = (struct fm_code_element){pool->of[i].other, FM_NO_LINE};
        pool->of[i].other = FM_NO_LINE;
    }
    put_beside_others(lab, icache, pool);
    for (size_t i = 0; i < pool->count; i++)
        pool->of[i] = pool->trial[i];
}

/* What is left when nothing more can be left out. */
static bool reduce(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                   struct fm_error *err)
{
    size_t gone;
    for (size_t run = pool->count / 2; run > 1; run = (run + 1) / 2)
        if (!thin_out(lab, icache, pool, run, &gone, err))
            return false;
    if (!thin_out_singly(lab, icache, pool, err))
        return false;
    split_pairs(lab, icache, pool);
    return thin_out_singly(lab, icache, pool, err);
}

/* All elements that a search may take. */
static void lay_out(struct fm_lab *lab, const struct fm_icache *icache, struct fm_code_pool *pool,
                    size_t pages)
{
    const size_t page = lab->machine->info.page_size, line = icache->line, places = page / line;
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    const size_t one = fm_rng_below(&rng, places), on = 1 + fm_rng_below(&rng, places - 1);
    uint32_t *order = (uint32_t *)pool->trial; /* free meanwhile */
    pool->count = 0;
    for (size_t at = 0; at < pages * page; at += page) {
        if (pool->rows) {
            pool->of[pool->count++] =
                (struct fm_code_element){at + one * line, at + (one + on) % places * line};
            continue;
        }
        for (size_t i = 0; i < places; i++)
            order[i] = (uint32_t)i;
        fm_rng_shuffle(&rng, order, places);
        for (size_t i = 0; i + 1 < places; i += 2)
            pool->of[pool->count++] =
                (struct fm_code_element){at + order[i] * line, at + order[i + 1] * line};
    }
}

static void deal(struct fm_lab *lab, struct fm_code_pool *pool, size_t all)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    for (size_t i = all; i > 1; i--) {
        const size_t with = fm_rng_below(&rng, i);
        const struct fm_code_element moved = pool->of[with];
        pool->of[with] = pool->of[i - 1];
        pool->of[i - 1] = moved;
    }
}

/* How often others are dealt that are so many. */
static unsigned deals_of(const struct fm_code_pool *pool, double count)
{
    const double shown = FEWEST_LINES * pool->miss_ns / (FM_POOL_GRAIN * pool->one_ns) / 2;
    return count > shown && count < MORE_LINES * shown ? DEALS : 1;
}

/* Takes as many as it takes for some to conflict; none where they never do. */
static bool gather(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                   size_t pages, struct fm_error *err)
{
    bool yes = false;
    const size_t page = lab->machine->info.page_size, room = fm_lab_limit(lab) / 4 / page;
    const size_t others = (size_t)fmin(OTHER_PAGES, OTHER_BYTES / (double)page);
    pool->first = pool->next = pages;
    pool->pages = pages + others < room ? pages + others : room;
    if (pool->pages < pages)
        pool->pages = pages;
    if (!fm_lab_place(lab, pool->pages * page + FM_TURN, err))
        return false;
    lay_out(lab, icache, pool, pages);
    const size_t all = pool->count;
    for (double count = 2; count <= (double)all && !yes; count = fmax(count + 1, count * NEXT)) {
        const unsigned deals = count > 2 ? deals_of(pool, count) : 1;
        pool->count = (size_t)count;
        for (unsigned i = 0; i < deals && !yes; i++) {
            deal(lab, pool, all);
            if (!fm_pool_conflicts(lab, icache, pool, pool->of, pool->count, &yes, err))
                return false;
        }
    }
    if (!yes)
        pool->count = 0;
    return true;
}

/* Whether those that are beside the group have no part in it. They may be of its set by chance:
   others are not. Or there are so few sets that any lines are of it: then they conflict by
   themselves. */
static bool conflict_without_those_beside(struct fm_lab *lab, struct fm_icache *icache,
                                          struct fm_code_pool *pool, bool *yes,
                                          struct fm_error *err)
{
    size_t count = 0;
    bool themselves = false;
    put_beside_others(lab, icache, pool);
    if (!fm_pool_conflicts(lab, icache, pool, pool->trial, pool->count, yes, err))
        return false;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->of[i].other != FM_NO_LINE && pool->trial[i].other != FM_NO_LINE)
            pool->trial[count++] =
                (struct fm_code_element){pool->of[i].other, pool->trial[i].other};
    if (!*yes || count == 0)
        return true;
    if (!fm_pool_conflicts(lab, icache, pool, pool->trial, count, &themselves, err))
        return false;
    *yes = !themselves;
    return true;
}

/* Whether lines are of one set: they conflict, and no longer do when any one is left out. */
static bool are_one_set(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                        bool *yes, double *miss_ns, struct fm_error *err)
{
    struct fm_code_fetch found;
    *yes = pool->count > 1;
    *miss_ns = 0;
    for (size_t i = 0; i < pool->count && *yes; i++) {
        bool still;
        if (!conflict_without(lab, icache, pool, i, 1, &still, err))
            return false;
        *yes = !still;
    }
    if (!*yes)
        return true;
    if (!fm_pool_time(lab, icache, pool->of, pool->count, &found, err))
        return false;
    *yes = found.miss_ns > fm_pool_least(icache, pool, &found);
    /* Those beside the group hit. */
    *miss_ns = found.miss_ns * (double)icache->lines.lines / (double)pool->count;
    if (!*yes)
        return true;
    return conflict_without_those_beside(lab, icache, pool, yes, err);
}

/* Whether a line is longer than it is taken for: the other half of two is then of the set as well.
 */
static bool is_longer(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                      bool *yes, struct fm_error *err)
{
    struct fm_code_element *last = &pool->of[pool->count - 1];
    const struct fm_code_element before = *last;
    *last = (struct fm_code_element){before.one ^ icache->line, FM_NO_LINE};
    const bool good = fm_pool_conflicts(lab, icache, pool, pool->of, pool->count, yes, err);
    *last = before;
    return good;
}

/* The line that a group shows: one of it that is moved on by half of what is taken for a line is
   out of the set where the halves are lines themselves. */
static bool find_line(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                      size_t *line, struct fm_error *err)
{
    struct fm_code_element *last = &pool->of[pool->count - 1];
    bool still = false, good = true;
    for (*line = icache->line; good && !still && *line > FM_SHORTEST_CODE_LINE;) {
        bool before = false;
        icache->lines.apart = *line / 4;
        good = fm_pool_conflicts(lab, icache, pool, pool->of, pool->count, &before, err);
        last->one += *line / 2;
        good = good && fm_pool_conflicts(lab, icache, pool, pool->of, pool->count, &still, err);
        last->one -= *line / 2;
        icache->lines.apart = icache->line / 2;
        /* Slots so close may be served by what holds decoded operations, and show nothing. */
        still = still || !before;
        *line /= still ? 1 : 2;
    }
    return good;
}

/* What groups have shown, and how many of them the same. */
struct votes {
    size_t members, line;
    double miss_ns;
    unsigned count;
};

static const struct votes *vote(struct votes votes[MOST_GROUPS], const struct votes *one)
{
    struct votes *same = votes;
    while (same->count && (same->members != one->members || same->line != one->line))
        same++;
    same->members = one->members;
    same->line = one->line;
    same->miss_ns = fmax(same->miss_ns, one->miss_ns);
    same->count++;
    return same;
}

/* Looks for groups in one manner until some agree; how many sets there are is asked of those that
   are not known. */
static bool search(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                   size_t pages, const struct fm_code_groups *known, struct fm_code_groups *found,
                   struct fm_error *err)
{
    struct votes votes[MOST_GROUPS] = {{0}};
    unsigned none = 0;
    for (int i = 0; i < MOST_GROUPS; i++) {
        struct votes one = {0};
        if (!votes[0].count && (i == GROUPS || none == NONE_SEEN))
            break;
        bool good;
        if (!gather(lab, icache, pool, pages, err))
            return false;
        none += pool->count == 0;
        if (!reduce(lab, icache, pool, err) ||
            !are_one_set(lab, icache, pool, &good, &one.miss_ns, err))
            return false;
        if (!good)
            continue;
        one.members = pool->count;
        if (icache->halved && !is_longer(lab, icache, pool, &good, err))
            return false;
        if (icache->halved && good)
            continue;
        if (!find_line(lab, icache, pool, &one.line, err))
            return false;
        const struct votes *same = vote(votes, &one);
        if (same->count < AGREE)
            continue;
        *found = (struct fm_code_groups){.ways = (unsigned)same->members - 1,
                                         .line = same->line,
                                         .miss_ns = same->miss_ns,
                                         .by_address = pool->rows};
        if (found->ways == known->ways && found->line == known->line)
            return true;
        return fm_count_colours(lab, icache, pool, one.miss_ns, found, err);
    }
    return true;
}

/* Whether groups are those of the level behind, beside others: it has more to hold, or its misses
   cost far more. A level that keeps no line inside which it has lost itself makes such. */
static bool are_behind(const struct fm_code_groups *these, const struct fm_code_groups *others)
{
    const bool both = these->bytes > 0 && others->bytes > 0;
    const double times = both ? these->bytes / others->bytes : 1;
    return times > LARGER || (times * LARGER >= 1 && these->miss_ns > DEARER * others->miss_ns);
}

/* Groups of the level behind come of another search than those of this cache do. Those that one of
   each page alone has, of which sets are few, are held against the rise. */
static void choose(struct fm_code_groups *found, const struct fm_code_groups *rows,
                   const struct fm_code_groups *anywhere, double miss_ns)
{
    if (!anywhere->ways && rows->miss_ns > TOO_DEAR * miss_ns)
        return;
    if (rows->ways == anywhere->ways && rows->line == anywhere->line) {
        *found = *anywhere;
        found->by_address = rows->by_address;
    } else if (!rows->ways || (anywhere->ways && are_behind(rows, anywhere))) {
        *found = *anywhere;
    } else if (!anywhere->ways || are_behind(anywhere, rows)) {
        *found = *rows;
    }
}

bool fm_find_code_groups(struct fm_lab *lab, struct fm_icache *icache,
                         const struct fm_tlb_step *rise, struct fm_code_groups *found,
                         struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t pages = (size_t)(MOST_CODE * rise->missed / (double)page) + 2;
    const size_t room = (pages + MORE_ROWS) * (page / icache->line) + MORE_ELEMENTS;
    struct fm_code_groups rows = {0}, anywhere = {0};
    struct fm_code_pool pool = {.of = malloc(room * sizeof *pool.of),
                                .trial = malloc(room * sizeof *pool.trial),
                                .room = room,
                                .miss_ns = fm_code_miss(icache, rise)};
    bool good = pool.of && pool.trial;
    *found = (struct fm_code_groups){0};
    if (!good)
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for groups of lines");
    icache->lines.apart = icache->line / 2;
    good = good && search(lab, icache, &pool, pages, &rows, &anywhere, err);
    /* One pair of each page: where a set is chosen by the address these are of few sets. */
    pool.rows = true;
    good = good && search(lab, icache, &pool, pages + MORE_ROWS, &anywhere, &rows, err);
    icache->lines.apart = FM_WORD;
    choose(found, &rows, &anywhere, pool.miss_ns);
    free(pool.of);
    free(pool.trial);
    return good;
}
