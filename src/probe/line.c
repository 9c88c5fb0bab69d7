/* The linesize test: a footprint larger than the cache, of which only every other stripe is
 * touched. Stripes narrower than a line touch every line, and the walk misses; stripes of a line
 * or more leave half of the lines alone, and the rest fits. How slow a miss and how fast a hit is
 * at these footprints is known from the walk, so the two cannot be confused.
 *
 * The string is primed by growing it. A prefetcher that fetches a neighbour along with each miss
 * would otherwise keep the cache full of lines nobody asked for, and the line would look twice as
 * long (as it did in Cooper and Sandoval's table). Grown, the wanted lines all stay, nothing
 * misses any more, and the prefetcher has nothing to follow. */
#include "probe/line.h"

#include <math.h>
#include <stdio.h>

#include "refstring/refstring.h"

/* A cache with few ways needs a choice of stripes that happens to load its sets alike. */
#define VARIANTS_SMALL  8
#define VARIANTS_LARGE  2
#define CONFIRMATIONS   4
#define LARGE_FOOTPRINT (1u << 21)

/* Half of a footprint's lines, whichever they are, load some sets more than others: they fit where
   this part of the whole would. */
#define CROWDED 0.7

/* The point at which touching half makes the greatest difference for its latency, and that
   difference. */
static size_t telling_point(const struct fm_lab *lab, const struct fm_known_level *level,
                            const struct fm_known_level *next, double *difference)
{
    const struct fm_walk *walk = &lab->walk;
    const double end = fmin(next->flat_to, 8 * fmax(level->rise_to, level->rise_from));
    size_t best = 0;
    double most = 0;
    *difference = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const double bytes = (double)walk->points[i].bytes;
        if (bytes <= level->rise_from || bytes > end)
            continue;
        const double here = fm_walk_mean(&walk->points[i]);
        const double contrast = log(here / fm_walk_at(walk, bytes * CROWDED));
        /* Prefer the smaller of two that tell nearly the same: it costs less. */
        if (contrast > most * 1.05) {
            most = contrast;
            *difference = here - fm_walk_at(walk, bytes / 2);
            best = i;
        }
    }
    return best;
}

static bool time_stripes(struct fm_lab *lab, size_t bytes, size_t stripe, unsigned variant,
                         double *ns, struct fm_error *err)
{
    const struct fm_stripe_plan plan = {.bytes = bytes,
                                        .stripe = stripe,
                                        .page = lab->machine->info.page_size,
                                        .variant = variant,
                                        .seed = fm_lab_seed(lab)};
    const struct fm_care care = {.repeats = 3, .grow = true};
    struct fm_string string;
    return fm_lab_place(lab, bytes, err) && fm_stripe_string(&string, &plan, err) &&
           fm_lab_time(lab, &string, &care, ns, err);
}

/* The mean of one variant of a stripe over some fresh placements. */
static bool confirm_stripe(struct fm_lab *lab, size_t bytes, size_t stripe, unsigned variant,
                           double *mean, struct fm_error *err)
{
    *mean = 0;
    for (unsigned i = 0; i < CONFIRMATIONS; i++) {
        double ns;
        if (!time_stripes(lab, bytes, stripe, variant, &ns, err))
            return false;
        *mean += ns / CONFIRMATIONS;
    }
    return true;
}

/* The time of a stripe: the least over its variants, or, as soon as one hits, that one's. A lucky
   placement hits too, so it is asked again. */
static bool measure_stripe(struct fm_lab *lab, size_t bytes, size_t stripe, double middle,
                           double *result, struct fm_error *err)
{
    const unsigned variants = bytes > LARGE_FOOTPRINT ? VARIANTS_LARGE : VARIANTS_SMALL;
    *result = INFINITY;
    for (unsigned v = 0; v<variants && * result> middle; v++) {
        double ns;
        if (!time_stripes(lab, bytes, stripe, v, &ns, err) ||
            (ns < middle && !confirm_stripe(lab, bytes, stripe, v, &ns, err)))
            return false;
        *result = fmin(*result, ns);
    }
    return true;
}

bool fm_find_line(struct fm_lab *lab, size_t index, size_t from, struct fm_error *err)
{
    struct fm_known_level *level = &lab->known.levels[index];
    const size_t page = lab->machine->info.page_size;
    double difference;
    const size_t telling = telling_point(lab, level, level + 1, &difference);
    level->line = 0;
    if (!telling)
        return true;
    /* With what the TLB takes left in, twice that of the walk: stripes are visited one by one. */
    const struct fm_walk_point *point = &lab->walk.points[telling];
    const size_t bytes = point->bytes;
    double miss = fm_walk_mean(point) + 2 * point->tlb_ns;
    const double hit = miss - difference;

    char id[48];
    snprintf(id, sizeof id, "linesize-%zu", index + 1);
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    snprintf(curve->x.name, sizeof curve->x.name, "stripe");
    snprintf(curve->x.unit, sizeof curve->x.unit, "B");
    snprintf(curve->y.name, sizeof curve->y.name, "latency");
    snprintf(curve->y.unit, sizeof curve->y.unit, "ns");

    double clearest = 1;
    const size_t widest = page / 2 < FM_LONGEST_LINE ? page / 2 : FM_LONGEST_LINE;
    for (size_t stripe = from; stripe <= widest && stripe * 4 <= bytes; stripe *= 2) {
        double ns;
        const double middle = (miss + hit) / 2;
        if (!measure_stripe(lab, bytes, stripe, middle, &ns, err))
            return false;
        fm_curve_add(curve, (struct fm_point){.x = (double)stripe, .y = ns, .low = ns, .high = ns});
        clearest = fmin(clearest, fabs(ns - middle) / (middle - hit));
        if (ns < middle) {
            level->line = stripe;
            break;
        }
        /* Stripes that touch each line just once miss more often than the walk, where its units
           were shorter than the line. */
        miss = fmax(miss, ns);
    }
    level->line_certainty = clearest;
    return true;
}
