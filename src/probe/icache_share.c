/* How many sets there are for lines of code, by one of them and chance. As many lines of a set as
 * it has ways fit; some others are put beside them, and they conflict if one of those is of the
 * set, or too many of those meet in another. How often they do tells how many sets there are. A
 * trial says little, but nothing else has a part in it: neither where misses begin, which is the
 * doing of rare placements, nor the level behind, which has far less to hold than where the first
 * one misses all over. */
#include <math.h>
#include <stdint.h>

#include "analysis/occupancy.h"
#include "core/rng.h"
#include "probe/icache_pool.h"
#include "probe/lab.h"

/* Others that are put beside a set at once, at the most, and how many times what is believed the
   lines of a set must show among as many. */
#define MOST_OTHERS 128
#define CLEARLY     2
/* Trials at the most, after so many of which they are added up, and what is then known well enough,
   as a part. */
#define MOST_TRIALS 1536
#define A_ROUND     64
#define CLOSE       0.04
/* Numbers of sets that are looked among, to an octave; and the first that is thought of. */
#define DENSITY      48
#define MOST_OCTAVES 14
#define FEWEST_SETS  1.1
/* By so much less likely is a standard error off. */
#define AN_ERROR 0.5
/* Lines more than one too many, and by how much each may add more with them: of a policy that keeps
   some lines of a set that is too small, the fewer it keeps. */
#define MORE_LINES 2
#define ALIKE      1.15

struct sample {
    unsigned trials[MOST_OTHERS + 1], hits[MOST_OTHERS + 1]; /* by how many others there were */
    unsigned all;
    double sets;  /* as it seems */
    double error; /* … and what that may be off by, as a part */
};

/* How many conflicts are expected of lines that stand beside a set which is full: there is none if
   no line is of it, nor too many of another. */
static double expected(double lines, double sets, unsigned ways)
{
    return -lines * log1p(-1 / sets) +
           lines * fm_occupancy_misses_mean(lines, sets, ways) / (ways + 1);
}

/* How likely it is that just those trials have shown a conflict which did, as a logarithm. */
static double likelihood(const struct sample *sample, double sets, unsigned ways)
{
    double sum = 0;
    for (unsigned n = 1; n <= MOST_OTHERS; n++) {
        if (!sample->trials[n])
            continue;
        const double conflicts = expected(n, sets, ways);
        sum += sample->hits[n] * log1p(-exp(-conflicts)) -
               (sample->trials[n] - sample->hits[n]) * conflicts;
    }
    return sum;
}

static void estimate(struct sample *sample, unsigned ways)
{
    double by_step[MOST_OCTAVES * DENSITY];
    int best = 0, low, high;
    const int steps = MOST_OCTAVES * DENSITY;
    for (int i = 0; i < steps; i++) {
        by_step[i] = likelihood(sample, exp2((i + 0.5) / DENSITY), ways);
        best = by_step[i] > by_step[best] ? i : best;
    }
    for (low = best; low > 0 && by_step[low] > by_step[best] - AN_ERROR;)
        low--;
    for (high = best; high < steps - 1 && by_step[high] > by_step[best] - AN_ERROR;)
        high++;
    sample->sets = exp2((best + 0.5) / DENSITY);
    sample->error = exp2((high - low) / 2.0 / DENSITY) - 1;
}

/* Where lines of the set stand in their pages, if all do at one place; SIZE_MAX: they do not. */
static size_t place_in_page(const struct fm_code_pool *pool, size_t page)
{
    for (size_t i = 1; i < pool->count; i++)
        if (pool->of[i].one % page != pool->of[0].one % page)
            return SIZE_MAX;
    return pool->of[0].one % page;
}

/* The lines of the set that fit, and others beside them: of pages that were not drawn yet, the
   lines that stand where those of the set do, or any two. */
static void put_others(const struct fm_icache *icache, struct fm_code_pool *pool, size_t page,
                       size_t place, size_t others, struct fm_rng *rng)
{
    const size_t fit = pool->count - 1, places = page / icache->line;
    for (size_t i = 0; i < fit; i++)
        pool->trial[i] = pool->of[i];
    for (size_t i = 0; i < others; i++) {
        const size_t from = pool->next++ * page;
        const size_t one = place == SIZE_MAX ? fm_rng_below(rng, places) * icache->line : place;
        const size_t on = (1 + fm_rng_below(rng, places - 1)) * icache->line;
        pool->trial[fit + i] = (struct fm_code_element){from + one, from + (one + on) % page};
    }
}

/* How many others are best put beside the set, of so many lines each: about every second time they
   conflict. */
static size_t choose_others(const struct fm_code_pool *pool, const struct sample *sample,
                            double set_ns, unsigned each)
{
    const unsigned ways = (unsigned)pool->count - 1;
    const double lines = (double)pool->count * set_ns / (CLEARLY * FM_POOL_GRAIN * pool->one_ns);
    const double most = fmin(lines / 2 - ways, MOST_OTHERS / each);
    size_t others = 1;
    while ((double)(others + 1) <= most &&
           expected((double)(others * each), sample->sets, ways) < M_LN2)
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

/* Whether lines of the set add no more each when there are more of them: all of a set that is too
   small miss. */
static bool do_all_miss(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                        const struct fm_code_element more[MORE_LINES], bool *yes,
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
    *yes = each[1] < ALIKE * each[0];
    return true;
}

/* Puts others beside the set once more; *yes: they conflict. */
static bool try_others(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                       size_t place, size_t others, bool *yes, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    struct fm_rng rng;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    put_others(icache, pool, page, place, others, &rng);
    return fm_pool_conflicts(lab, icache, pool, pool->trial, pool->count - 1 + others, yes, err);
}

bool fm_count_colours(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                      double set_ns, struct fm_code_groups *found, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size, place = place_in_page(pool, page);
    const unsigned each = place == SIZE_MAX ? 2 : 1, ways = (unsigned)pool->count - 1;
    struct sample sample = {.sets = FEWEST_SETS, .error = INFINITY};
    struct fm_code_element more[MORE_LINES];
    size_t kept = 0;
    bool all = ways == 1; /* no policy has a choice */
    while (sample.all < MOST_TRIALS && sample.error > CLOSE) {
        const size_t others = choose_others(pool, &sample, set_ns, each);
        bool yes;
        if (pool->next + others > pool->pages) {
            if (place != SIZE_MAX || pool->first + others > pool->pages)
                break;
            pool->next = pool->first;
        }
        if (!try_others(lab, icache, pool, place, others, &yes, err))
            return false;
        sample.trials[others * each]++;
        sample.hits[others * each] += yes;
        sample.all++;
        /* Before much is known each trial moves the number by itself. */
        if (sample.all < A_ROUND)
            sample.sets *= yes ? 0.8 : 1.25;
        else if (sample.all % A_ROUND == 0)
            estimate(&sample, ways);
        sample.sets = fmax(FEWEST_SETS, sample.sets);
        if (!yes || kept == MORE_LINES)
            continue;
        if (!keep_one(lab, icache, pool, others, &more[kept], &yes, err))
            return false;
        kept += yes;
    }
    if (sample.all < A_ROUND)
        return true;
    estimate(&sample, ways);
    if (!all && kept == MORE_LINES && !do_all_miss(lab, icache, pool, more, &all, err))
        return false;
    const double unit = place == SIZE_MAX ? (double)icache->line : (double)page;
    found->bytes = ways * sample.sets * unit;
    found->colours = all ? sample.sets * unit / (double)page : 0;
    found->colours_error = sample.error;
    return true;
}
