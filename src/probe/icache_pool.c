#include "probe/icache_pool.h"

#include <math.h>

#include "probe/lab.h"

/* Half a miss in a lap is the least that can be told from none. */
#define A_MISS 0.5
/* Readings of a trial at the most; the standard errors that make it sure; and pairs of readings
   that are taken first to know those. */
#define MOST_READINGS 12
#define SURE          3
#define FIRST_PAIRS   8
/* Repeats of a reading, and of one that stands alone. */
#define REPEATS   3
#define WITH_CARE 6

static bool time_elements(struct fm_lab *lab, struct fm_icache *icache,
                          const struct fm_code_element *elements, size_t count, unsigned repeats,
                          struct fm_code_fetch *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .laps = 4, .steps = 256};
    fm_code_lines_clear(&icache->lines);
    for (size_t i = 0; i < count; i++)
        fm_code_lines_add(&icache->lines, elements[i].one, elements[i].other);
    return fm_lab_go_on(lab, 0, err) && fm_time_fetch(lab, &icache->lines, &care, found, err);
}

bool fm_pool_time(struct fm_lab *lab, struct fm_icache *icache,
                  const struct fm_code_element *elements, size_t count, struct fm_code_fetch *found,
                  struct fm_error *err)
{
    return time_elements(lab, icache, elements, count, WITH_CARE, found, err);
}

double fm_pool_least(const struct fm_icache *icache, const struct fm_code_pool *pool,
                     const struct fm_code_fetch *found)
{
    return fmax(A_MISS * pool->miss_ns / (double)icache->lines.lines,
                FM_POOL_GRAIN * found->one_ns);
}

/* How far readings of the same lines lie apart, as a part of what a jump takes. */
static void note_spread(struct fm_code_pool *pool, const struct fm_code_fetch *found, double mean)
{
    const double apart = (found->miss_ns - mean) / found->one_ns;
    pool->squares += apart * apart / 2;
    pool->pairs++;
}

bool fm_pool_conflicts(struct fm_lab *lab, struct fm_icache *icache, struct fm_code_pool *pool,
                       const struct fm_code_element *elements, size_t count, bool *yes,
                       struct fm_error *err)
{
    double mean = 0, least = 0;
    bool sure = false;
    for (unsigned n = 1; n <= MOST_READINGS && !sure; n++) {
        struct fm_code_fetch found;
        if (!time_elements(lab, icache, elements, count, REPEATS, &found, err))
            return false;
        if (n > 1)
            note_spread(pool, &found, mean);
        mean += (found.miss_ns - mean) / n;
        least = fm_pool_least(icache, pool, &found);
        pool->one_ns = found.one_ns;
        const double spread = found.one_ns * sqrt(pool->squares / fmax(1, pool->pairs));
        sure = (n > 1 || pool->pairs > FIRST_PAIRS) && fabs(mean - least) > SURE * spread / sqrt(n);
    }
    *yes = mean > least;
    return true;
}
