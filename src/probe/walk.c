#include "probe/walk.h"

#include <math.h>
#include <string.h>

#include "analysis/isotonic.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* So few pages fit every TLB there is. */
#define PAGES_IN_ANY_TLB 2
/* How far above a footprint the walk must be flat for a companion, and how far below. */
#define AROUND 1.4
#define BEYOND 3
/* Changes of latency, as logarithms, that make no difference, and that make a companion useless. */
#define ALIKE     0.05
#define TOO_STEEP 0.8
/* Part of a reading that is the clock's grain rather than a cost. */
#define GRAIN 0.02
/* Companions asked at the most. */
#define COMPANIONS 2

double fm_walk_mean(const struct fm_walk_point *point)
{
    return point->sum / point->placements - point->tlb_ns;
}

double fm_walk_error(const struct fm_walk_point *point)
{
    if (point->placements < 2)
        return 0;
    const double n = point->placements, whole = point->sum / n;
    const double variance = (point->sum_of_squares - n * whole * whole) / (n - 1);
    return variance > 0 ? sqrt(variance / n) / fm_walk_mean(point) : 0;
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

/* The sure points on both sides of a footprint and how far between them it lies, on a log scale. */
static double between(const struct fm_walk *walk, double bytes, const struct fm_walk_point **a,
                      const struct fm_walk_point **b)
{
    const size_t at = position(walk, bytes);
    size_t i = at < walk->count ? at : walk->count - 1, j = at > 0 ? at - 1 : 0;
    while (i + 1 < walk->count && !walk->points[i].tlb_known)
        i++;
    while (j > 0 && !walk->points[j].tlb_known)
        j--;
    *b = &walk->points[i];
    *a = &walk->points[j];
    if (!(*b)->tlb_known)
        *b = *a;
    if (*a == *b)
        return 0;
    return log(bytes / (double)(*a)->bytes) / log((double)(*b)->bytes / (double)(*a)->bytes);
}

double fm_walk_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = between(walk, bytes, &a, &b);
    return exp(log(fm_walk_mean(a)) * (1 - part) + log(fm_walk_mean(b)) * part);
}

double fm_walk_tlb_weight_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    between(walk, bytes, &a, &b);
    if (a->tlb_ns < GRAIN * fm_walk_mean(a) && b->tlb_ns < GRAIN * fm_walk_mean(b))
        return 1;
    return fmax(a->tlb_weight, b->tlb_weight);
}

double fm_walk_tlb_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = between(walk, bytes, &a, &b);
    return a->tlb_ns * (1 - part) + b->tlb_ns * part;
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

static void add_point(struct fm_walk *walk, size_t bytes, double whole, double share, double weight)
{
    const size_t i = position(walk, (double)bytes);
    struct fm_walk_point *point = &walk->points[i];
    if (i == walk->count || point->bytes != bytes) {
        if (walk->count == FM_WALK_POINTS)
            return;
        memmove(point + 1, point, (walk->count - i) * sizeof *point);
        walk->count++;
        *point = (struct fm_walk_point){.bytes = bytes,
                                        .low = whole,
                                        .high = whole,
                                        .tlb_measured = share,
                                        .tlb_weight = weight};
    }
    point->placements++;
    point->sum += whole;
    point->sum_of_squares += whole * whole;
    point->low = fmin(point->low, whole);
    point->high = fmax(point->high, whole);
}

static bool time_swept(struct fm_lab *lab, size_t bytes, size_t per_page, unsigned variant,
                       double *ns, struct fm_error *err)
{
    const struct fm_swept_plan plan = {.bytes = bytes,
                                       .unit = lab->walk.unit,
                                       .per_page = per_page,
                                       .page = lab->machine->info.page_size,
                                       .variant = variant,
                                       .seed = lab->placement_seed};
    const struct fm_care care = {.repeats = lab->options->effort == FM_QUICK ? 3 : 4};
    struct fm_string string;
    return fm_swept_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* A companion string: some units of each page, and the footprint it amounts to. Its units stand
   apart, so where a level's line is longer than the unit each takes a whole line there. */
struct companion {
    size_t units;
    double from, to;  /* bytes, if lines are as short or as long as they may be */
    double steepness; /* how much the caches' answer changes around there; INFINITY: not known */
};

/* What is known of the walk when a footprint is looked at: the points below it. Where those end on
   a plateau, it is taken to go on. */
struct known {
    const struct fm_walk *walk;
    double last, end;
};

static struct known known_below(const struct fm_walk *walk, size_t bytes)
{
    const size_t count = position(walk, (double)bytes);
    struct known known = {walk, 0, 0};
    if (count == 0)
        return known;
    size_t last = count - 1;
    while (last > 0 && !walk->points[last].tlb_known)
        last--;
    known.last = known.end = (double)walk->points[last].bytes;
    if (last > 0 && last + 1 == count &&
        fabs(log(fm_walk_mean(&walk->points[last]) / fm_walk_mean(&walk->points[last - 1]))) <
            ALIKE)
        known.end = (double)bytes;
    return known;
}

static double known_at(const struct known *known, double bytes)
{
    return fm_walk_at(known->walk, fmin(bytes, known->last));
}

/* How much the walk changes from one footprint to another. */
static double change(const struct known *known, double from, double to)
{
    return fabs(log(known_at(known, to) / known_at(known, from)));
}

static struct companion companion_of(const struct known *known, size_t pages, size_t page,
                                     size_t units)
{
    /* Units that stand apart crowd some sets and leave others empty. So the level inside should be
       far too small for them, and the level itself have room to spare; the less it has, the less
       they are worth. */
    static const double room[] = {4, 2, 1.5}, penalty[] = {0, 0.05, 0.12};
    const struct fm_walk *walk = known->walk;
    const double few = (double)(pages * units * walk->unit);
    const double apart = (double)page / (double)(units * walk->unit);
    const double longest = (double)walk->longest_line / (double)walk->unit;
    const double longer = few * AROUND <= walk->sure_to ? 1 : fmax(1, fmin(apart, longest));
    struct companion companion = {units, few, few * longer, INFINITY};
    for (size_t i = 0; i < sizeof room / sizeof room[0]; i++) {
        const double above = fmax(companion.to * AROUND, few * room[i]);
        if (above <= known->end)
            companion.steepness =
                fmin(companion.steepness, change(known, few / BEYOND, above) + penalty[i]);
    }
    return companion;
}

/* The companions whose answer lies most surely on a plateau, best first; returns how many. */
static size_t choose_companions(const struct known *known, size_t pages, size_t page,
                                struct companion best[COMPANIONS])
{
    size_t count = 0;
    for (size_t units = 1; units <= page / known->walk->unit / 2; units += (units + 2) / 3) {
        const struct companion more = companion_of(known, pages, page, units);
        size_t i = count;
        if (more.steepness >= TOO_STEEP)
            continue;
        for (; i > 0 && best[i - 1].steepness > more.steepness; i--)
            if (i < COMPANIONS)
                best[i] = best[i - 1];
        if (i < COMPANIONS)
            best[i] = more;
        count += count < COMPANIONS;
    }
    return count;
}

/* The least over some choices of units: one that crowds no set is among them. */
static bool time_companion(struct fm_lab *lab, size_t bytes, size_t units, double *least,
                           struct fm_error *err)
{
    const size_t references = bytes / lab->machine->info.page_size * units;
    const unsigned variants = references < 1024 ? 6 : references < 16384 ? 3 : 1;
    *least = INFINITY;
    for (unsigned variant = 0; variant < variants; variant++) {
        double ns;
        if (!time_swept(lab, bytes, units, variant, &ns, err))
            return false;
        *least = fmin(*least, ns);
    }
    return true;
}

/* How far a companion can be relied on: as far as its answer is flat, and no further than what was
   taken out of that answer before. */
static double weight_of(const struct known *known, const struct companion *companion)
{
    const struct fm_walk_point *a, *b;
    const double own = ALIKE / (ALIKE + companion->steepness);
    between(known->walk, fmin(sqrt(companion->from * companion->to), known->last), &a, &b);
    return a->tlb_ns > GRAIN * fm_walk_mean(a) ? fmin(own, a->tlb_weight) : own;
}

/* The TLB's share as one companion shows it. */
static bool share_by(struct fm_lab *lab, const struct known *known, size_t pages,
                     const struct companion *companion, double *share, struct fm_error *err)
{
    double least;
    if (!time_companion(lab, pages * lab->machine->info.page_size, companion->units, &least, err))
        return false;
    *share = least - known_at(known, sqrt(companion->from * companion->to));
    if (*share < GRAIN * least)
        *share = 0;
    return true;
}

/* What the TLB adds to each reference of a swept string over so many pages, and the weight of that
   evidence. */
static bool tlb_share(struct fm_lab *lab, size_t bytes, double *share, double *weight,
                      struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const size_t pages = (bytes + page - 1) / page;
    const struct known known = known_below(&lab->walk, bytes);
    struct companion companions[COMPANIONS];
    *share = 0;
    *weight = 1;
    if (pages <= PAGES_IN_ANY_TLB || page / lab->walk.unit < 2)
        return true;
    const size_t count = choose_companions(&known, pages, page, companions);
    *weight = 0;
    for (size_t i = 0; i < count; i++)
        *weight = fmax(*weight, weight_of(&known, &companions[i]));
    /* The least of some: crowded sets only add. */
    double least = INFINITY;
    for (size_t i = 0; i < count && least > 0; i++) {
        double one;
        if (!share_by(lab, &known, pages, &companions[i], &one, err))
            return false;
        least = fmin(least, one);
    }
    if (count == 0 || least <= 0)
        return true;
    *share = least;
    return true;
}

/* Fits the share along the first points: it never falls as pages are added, so a companion whose
   lines happen to be at a cache's edge is outvoted by its neighbours. */
static bool fit_shares(struct fm_lab *lab, size_t count, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    double measured[FM_WALK_POINTS], weight[FM_WALK_POINTS], fitted[FM_WALK_POINTS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (walk->points[i].tlb_weight > 0) {
            measured[used] = walk->points[i].tlb_measured;
            weight[used++] = walk->points[i].tlb_weight;
        }
    if (used == 0)
        return true;
    if (!fm_isotonic_median(measured, weight, used, fitted))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the walk");
    double share = 0, before = 0, floor = 0;
    for (size_t i = 0, next = 0; i < count; i++) {
        struct fm_walk_point *point = &walk->points[i];
        const double whole = point->sum / point->placements;
        point->tlb_known = point->tlb_weight > 0;
        if (point->tlb_known)
            share = fmax(share, fitted[next++]);
        else if (next == 0 || (next < used && fitted[next] - share < GRAIN * (whole - share)))
            point->tlb_known = true;
        /* No cache answers sooner because more is asked of it: what was seen at two footprints in
           a row, a larger one does not undercut. So a share that hides in part behind a slower
           cache's answer is not taken out in full. */
        point->tlb_ns = fmax(0, fmin(share, whole - fmax(floor, lab->fastest_ns)));
        const double net = whole - point->tlb_ns;
        floor = fmax(floor, fmin(before, net) * (1 - GRAIN / 2));
        before = net;
    }
    return true;
}

/* Whether the share at a footprint is known without a companion: it is the same on both sides. */
static bool share_is_known(const struct fm_walk *walk, size_t bytes)
{
    const struct fm_walk_point *a, *b;
    if (find_point(walk, bytes))
        return true;
    if (!walk->settled)
        return false;
    between(walk, (double)bytes, &a, &b);
    return b->tlb_ns - a->tlb_ns < GRAIN * fm_walk_mean(a);
}

bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    bytes = bytes < walk->unit ? walk->unit : bytes / walk->unit * walk->unit;
    double whole, share = 0, weight = 0;
    const bool known = share_is_known(walk, bytes);
    if (!time_swept(lab, bytes, 0, 0, &whole, err) ||
        (!known && !tlb_share(lab, bytes, &share, &weight, err)))
        return false;
    add_point(walk, bytes, whole, share, weight);
    if (!fit_shares(lab, walk->count, err))
        return false;
    const struct fm_walk_point *point = find_point(walk, bytes);
    if (ns)
        *ns = whole - (point ? point->tlb_ns : fm_walk_tlb_at(walk, (double)bytes));
    return true;
}

bool fm_walk_mend(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    double whole;
    if (!time_swept(lab, point->bytes, 0, 0, &whole, err))
        return false;
    if (whole < point->sum / point->placements) {
        point->placements = 1;
        point->sum = point->low = point->high = whole;
        point->sum_of_squares = whole * whole;
    }
    return fit_shares(lab, lab->walk.count, err);
}

bool fm_walk_settle(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    for (size_t i = 0; i < walk->count; i++) {
        struct fm_walk_point *point = &walk->points[i];
        if (!tlb_share(lab, point->bytes, &point->tlb_measured, &point->tlb_weight, err) ||
            !fit_shares(lab, i + 1, err))
            return false;
    }
    return true;
}
