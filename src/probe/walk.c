#include "probe/walk.h"

#include <math.h>
#include <string.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* So few pages fit every TLB there is. */
#define PAGES_IN_ANY_TLB 2

double fm_walk_mean(const struct fm_walk_point *point)
{
    return point->sum / point->placements;
}

double fm_walk_error(const struct fm_walk_point *point)
{
    if (point->placements < 2)
        return 0;
    const double mean = fm_walk_mean(point);
    const double n = point->placements;
    const double variance = (point->sum_of_squares - n * mean * mean) / (n - 1);
    return variance > 0 ? sqrt(variance / n) / mean : 0;
}

/* Index of the first point not below bytes. */
static size_t position(const struct fm_walk *walk, double bytes)
{
    size_t low = 0, high = walk->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((double)walk->points[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double fm_walk_at(const struct fm_walk *walk, double bytes)
{
    if (walk->count == 0)
        return 0;
    const size_t i = position(walk, bytes);
    if (i == 0)
        return fm_walk_mean(&walk->points[0]);
    if (i == walk->count)
        return fm_walk_mean(&walk->points[i - 1]);
    const struct fm_walk_point *a = &walk->points[i - 1], *b = &walk->points[i];
    const double part =
        (log(bytes) - log((double)a->bytes)) / (log((double)b->bytes) - log((double)a->bytes));
    return exp(log(fm_walk_mean(a)) * (1 - part) + log(fm_walk_mean(b)) * part);
}

void fm_walk_cut(struct fm_walk *walk, double bytes)
{
    walk->count = position(walk, nextafter(bytes, INFINITY));
}

static const struct fm_walk_point *find_point(const struct fm_walk *walk, size_t bytes)
{
    const size_t i = position(walk, (double)bytes);
    return i < walk->count && walk->points[i].bytes == bytes ? &walk->points[i] : NULL;
}

static void add_point(struct fm_walk *walk, size_t bytes, double ns, double tlb_ns)
{
    const size_t i = position(walk, (double)bytes);
    struct fm_walk_point *point = &walk->points[i];
    if (i == walk->count || point->bytes != bytes) {
        if (walk->count == FM_WALK_POINTS)
            return;
        memmove(point + 1, point, (walk->count - i) * sizeof *point);
        walk->count++;
        *point = (struct fm_walk_point){.bytes = bytes, .low = ns, .high = ns};
    }
    point->placements++;
    point->sum += ns;
    point->sum_of_squares += ns * ns;
    point->tlb_sum += tlb_ns;
    point->low = ns < point->low ? ns : point->low;
    point->high = ns > point->high ? ns : point->high;
}

static bool time_swept(struct fm_lab *lab, size_t bytes, size_t per_page, double *ns,
                       struct fm_error *err)
{
    const struct fm_swept_plan plan = {.bytes = bytes,
                                       .unit = lab->walk.unit,
                                       .per_page = per_page,
                                       .page = lab->machine->info.page_size,
                                       .seed = fm_lab_seed(lab)};
    const struct fm_care care = {.repeats = lab->options->effort == FM_QUICK ? 3 : 4};
    struct fm_string string;
    return fm_swept_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* Two strings that touch the same number of lines: a few units in each of all the pages, or many in
   each of a few pages. They differ by what the TLB adds. */
struct companions {
    size_t units;       /* in each of all pages */
    size_t dense_units; /* in each of the few pages */
    size_t dense_pages;
};

/* Units as far apart as the longest line share no line on any level. */
#define LONGEST_LINE 256

static struct companions companions_of(const struct fm_walk *walk, size_t pages, size_t page,
                                       size_t units)
{
    const size_t apart = walk->unit > LONGEST_LINE ? walk->unit : LONGEST_LINE;
    const size_t dense = page / apart;
    return (struct companions){units, dense, (pages * units + dense - 1) / dense};
}

/* How much the caches' answer may change around such a number of lines: nothing on a plateau. */
static double steepness(const struct fm_walk *walk, const struct companions *companions)
{
    const double lines = (double)(companions->dense_pages * companions->dense_units);
    const double few = lines * (double)walk->unit / 1.4, many = lines * LONGEST_LINE * 1.4;
    return fabs(log(fm_walk_at(walk, many) / fm_walk_at(walk, few)));
}

/* The pair with the most units a page whose answers lie on plateaus. As many as can be, since what
   a TLB miss adds may overlap with a slower cache's answer: the companion should be served from as
   far out as the string itself. */
static struct companions choose_companions(const struct fm_walk *walk, size_t pages,
                                           size_t page)
{
    struct companions best = companions_of(walk, pages, page, 1);
    double least = steepness(walk, &best);
    for (size_t units = 2; units <= best.dense_units / 4; units *= 2) {
        const struct companions more = companions_of(walk, pages, page, units);
        const double slope = steepness(walk, &more);
        if (slope < least + 0.05) {
            least = fmin(slope, least);
            best = more;
        }
    }
    return best;
}

/* The difference of two companions, and what the TLB adds to the few pages in turn. */
static bool time_companions(struct fm_lab *lab, size_t pages, size_t units, double *share,
                            struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    *share = 0;
    for (;;) {
        const struct companions pair = companions_of(&lab->walk, pages, page, units);
        double sparse, dense;
        if (pages <= PAGES_IN_ANY_TLB || pair.dense_units < 4)
            return true;
        if (!time_swept(lab, pages * page, pair.units, &sparse, err) ||
            !time_swept(lab, pair.dense_pages * page, pair.dense_units, &dense, err))
            return false;
        /* What is no more than the clock's own grain is nothing. */
        if (sparse - dense > 0.02 * dense)
            *share += sparse - dense;
        pages = pair.dense_pages;
        units = 1;
    }
}

/* What the TLB adds to each reference of a swept string over that footprint. */
static bool tlb_share(struct fm_lab *lab, size_t bytes, double *share, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t pages = (bytes + page - 1) / page;
    if (!time_companions(lab, pages, 1, share, err))
        return false;
    if (*share <= 0)
        return true;
    const struct companions chosen = choose_companions(&lab->walk, pages, page);
    return chosen.units == 1 || time_companions(lab, pages, chosen.units, share, err);
}

bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, double *tlb_ns,
                     struct fm_error *err)
{
    const size_t unit = lab->walk.unit;
    bytes = bytes < unit ? unit : bytes / unit * unit;
    double whole, share;
    if (!time_swept(lab, bytes, 0, &whole, err))
        return false;
    /* The TLB's share hangs on the number of pages, not on where they lie: once is enough. */
    const struct fm_walk_point *before = find_point(&lab->walk, bytes);
    if (before)
        share = before->tlb_sum / before->placements;
    else if (!tlb_share(lab, bytes, &share, err))
        return false;
    /* No load is faster than one from the first level. */
    double net = whole - share;
    if (lab->fastest_ns > 0 && net < lab->fastest_ns)
        net = lab->fastest_ns;
    add_point(&lab->walk, bytes, net, share);
    if (ns)
        *ns = net;
    if (tlb_ns)
        *tlb_ns = share;
    return true;
}
