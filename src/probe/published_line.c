/* The linesize test as published: L(n, s) spans twice the capacity and touches every other stripe.
 * While stripes are narrower than a line it misses; the first stripe at which the time drops is the
 * line. A prefetcher that brings the neighbour of each line makes it look twice as long. */
#include <math.h>
#include <stdio.h>

#include "probe/lab.h"
#include "probe/published.h"
#include "refstring/refstring.h"

/* Trials on fresh pages, of which the least counts; of a large level each sees many pages. */
#define TRIALS       4
#define TRIALS_LARGE 2
#define LARGE        ((size_t)1 << 21)

/* Part of a miss by which the mean time must drop. Even stripes a line wide leave many sets with
   one line too many, and those go on missing: the drop can be small, but not as small as luck. */
#define LEAST_DROP 0.2
#define NOISE      0.03

static bool least_time(struct fm_lab *lab, size_t bytes, size_t stripe, double *least,
                       struct fm_error *err)
{
    const unsigned trials = bytes > LARGE ? TRIALS_LARGE : TRIALS;
    const struct fm_care care = {.repeats = 3};
    *least = INFINITY;
    for (unsigned trial = 0; trial < trials; trial++) {
        const struct fm_stripe_plan plan = {.bytes = bytes,
                                            .stripe = stripe,
                                            .page = lab->machine->info.page_size,
                                            .variant = trial,
                                            .seed = fm_lab_seed(lab)};
        struct fm_string string;
        double ns;
        if (!fm_lab_go_on(lab, 0.8, err) || !fm_lab_place(lab, bytes, err) ||
            !fm_stripe_string(&string, &plan, err) || !fm_lab_time(lab, &string, &care, &ns, err))
            return false;
        *least = fmin(*least, ns);
    }
    return true;
}

bool fm_published_line(struct fm_lab *lab, const struct fm_published_cache *cache, size_t from,
                       size_t *line, struct fm_error *err)
{
    const size_t bytes = 2 * cache->capacity, page = lab->machine->info.page_size;
    double baseline = 0;
    char id[48];
    *line = 0;
    snprintf(id, sizeof id, "linesize-%zu", cache->level);
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"stripe", "B"};
    curve->y = (struct fm_axis){"latency", "ns"};
    for (size_t s = from; s <= page / 2 && 4 * s <= bytes && !*line; s *= 2) {
        double ns;
        if (!least_time(lab, bytes, s, &ns, err))
            return false;
        fm_curve_add(curve, (struct fm_point){.x = (double)s, .y = ns, .low = ns, .high = ns});
        if (s == from)
            baseline = ns;
        else if (ns < baseline - fmax(LEAST_DROP * cache->miss_ns, NOISE * baseline))
            *line = s;
    }
    return true;
}
