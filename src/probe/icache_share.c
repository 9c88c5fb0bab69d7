/* How many sets there are for lines of code, by one of them and chance. As many lines of a set as
 * it has ways fit; some others are put beside them, and they conflict if one of those is of the
 * set, or too many of those meet in another. How often they do tells how many sets there are. A
 * trial says little, but nothing else has a part in it: neither where misses begin, which is the
 * doing of rare placements, nor the level behind, which has far less to hold than where the first
 * one misses all over. */
#include <math.h>

#include "analysis/set_count.h"
#include "core/rng.h"
#include "probe/icache_pool.h"
#include "probe/lab.h"

/* Lines of one page that are taken together. */
#define LINES_EACH 2
/* Times what is believed that the lines of a set must show among the others. */
#define CLEARLY 3
/* Trials at the most, after so many of which they are added up, and what is then known well enough,
   as a part. */
#define MOST_TRIALS 1536
#define A_ROUND     64
#define CLOSE       0.05
/* The number of sets that is thought of first. */
#define FEWEST_SETS 1.1
/* Lines more than one too many, and by how much each may add more with them: of a policy that keeps
   some lines of a set that is too small, the fewer it keeps. */
#define MORE_LINES 4
#define ALIKE      1.15

/* The lines of the set that fit, and others beside them, two of any page each: of how many sets
   those at one place of their pages are depends on more than how many there are. */
static void put_others(const struct fm_icache *icache, struct fm_code_pool *pool, size_t page,
                       size_t others, struct fm_rng *rng)
{
    const size_t fit = pool->count - 1, line = icache->line, places = page / line;
    for (size_t i = 0; i < fit; i++)
        pool->trial[i] = pool->of[i];
    for (size_t i = 0; i < others; i++) {
        const size_t from = pool->next * page, one = fm_rng_below(rng, places);
        const size_t on = 1 + fm_rng_below(rng, places - 1);
        pool->trial[fit + i] =
            (struct fm_code_element){from + one * line, from + (one + on) % places * line};
        pool->next = pool->next + 1 < pool->pages ? pool->next + 1 : pool->first;
    }
}

/* How many lines there may be in all for those of the set to show, by what a jump took last. */
static double lines_shown(const struct fm_code_pool *pool, double set_ns)
{
    return (double)pool->count * set_ns / (CLEARLY * FM_POOL_GRAIN * pool->one_ns);
}

/* How many others are best put beside the set, of so many at the most: one conflict is expected. */
static size_t choose_others(double sets, unsigned ways, size_t most)
{
    double expected[FM_MOST_OTHERS + 1];
    size_t others = 1;
    fm_expect_conflicts(sets, ways, (unsigned)most * LINES_EACH, expected);
    while (others < most && expected[(others + 1) * LINES_EACH] < 1)
        others++;
    return others;
}

/* Keeps one other that is of the set, of those of the last trial. */
static bool keep_one(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                     size_t others, struct fm_code_element *kept, bool *yes, struct fm_error *err)
{
    const size_t fit = pool->count - 1;
    while (others > 1) {
        const size_t half = others / 2;
        if (!fm_pool_conflicts(lab, icache, pool, pool->trial, fit + half, yes, err))
            return false;
        if (!*yes)
            for (size_t i = 0; i < others - half; i++)
                pool->trial[fit + i] = pool->trial[fit + half + i];
        others = *yes ? half : others - half;
    }
    *kept = pool->trial[fit];
    return fm_pool_conflicts(lab, icache, pool, pool->trial, fit + 1, yes, err);
}

/* What lines of the set add each when there are more of them, if that is more: otherwise all of a
   set that is too small miss. */
static bool ask_more(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                     const struct fm_code_element more[MORE_LINES], double *all_ns,
                     struct fm_error *err)
{
    double each[2];
    for (int i = 0; i < 2; i++) {
        const size_t count = pool->count + (i ? MORE_LINES : 0);
        struct fm_code_fetch found;
        for (size_t j = 0; j < count; j++)
            pool->trial[j] = j < pool->count ? pool->of[j] : more[j - pool->count];
        if (!fm_pool_time(lab, icache, pool->trial, count, &found, err))
            return false;
        each[i] = found.miss_ns * (double)icache->lines.lines / (double)count;
    }
    *all_ns = each[1] < ALIKE * each[0] ? 0 : each[1];
    return true;
}

/* Puts others beside the set once more; *yes: they conflict. */
static bool try_others(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                       size_t others, bool *yes, struct fm_error *err)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    put_others(icache, pool, lab->machine->info.page_size, others, &rng);
    return fm_pool_conflicts(lab, icache, pool, pool->trial, pool->count - 1 + others, yes, err);
}

/* What trials have shown, and what is thought of the sets by that. */
struct sample {
    struct fm_set_trials seen;
    unsigned all;
    struct fm_set_count count;
};

static void note(struct sample *sample, size_t lines, bool yes, unsigned ways)
{
    sample->seen.trials[lines]++;
    sample->seen.hits[lines] += yes;
    sample->all++;
    /* Before much is known each trial moves the number by itself. */
    if (sample->all < A_ROUND)
        sample->count.sets = fmax(FEWEST_SETS, sample->count.sets * (yes ? 0.8 : 1.25));
    else if (sample->all % A_ROUND == 0)
        sample->count = fm_count_sets(&sample->seen, ways);
}

bool fm_count_colours(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                      double set_ns, struct fm_code_groups *found, struct fm_error *err)
{
    const unsigned ways = (unsigned)pool->count - 1;
    struct sample sample = {.count = {.sets = FEWEST_SETS, .error = INFINITY}};
    struct fm_code_element more[MORE_LINES];
    size_t kept = 0;
    bool all = ways == 1; /* miss: no policy has a choice */
    size_t most = FM_MOST_OTHERS / LINES_EACH;
    if (pool->pages < pool->first + most)
        return true;
    while (sample.all < MOST_TRIALS && sample.count.error > CLOSE) {
        const size_t others = choose_others(sample.count.sets, ways, most);
        bool yes;
        if (!try_others(lab, icache, pool, others, &yes, err))
            return false;
        /* So many jumps are more than some predictor knows, and take long. */
        if (others > 1 && (double)icache->lines.lines > lines_shown(pool, set_ns)) {
            most = others * 3 / 4;
            continue;
        }
        note(&sample, others * LINES_EACH, yes, ways);
        if (!yes || kept == MORE_LINES)
            continue;
        if (!keep_one(lab, icache, pool, others, &more[kept], &yes, err))
            return false;
        kept += yes;
    }
    if (!all && kept == MORE_LINES) {
        if (!ask_more(lab, icache, pool, more, &found->all_ns, err))
            return false;
        all = found->all_ns <= 0;
    }
    const struct fm_set_count count = fm_count_sets(&sample.seen, ways);
    const double way = count.sets * (double)icache->line;
    found->bytes = ways * way;
    found->colours = all ? way / (double)lab->machine->info.page_size : 0;
    found->colours_error = count.error;
    return true;
}
