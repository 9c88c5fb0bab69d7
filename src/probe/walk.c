#include "probe/walk.h"

#include <math.h>
#include <string.h>

#include "analysis/monotone_steps.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* So few pages fit every TLB there is. */
#define PAGES_IN_ANY_TLB 2
/* Part of a latency that makes no difference. */
#define GRAIN 0.01
/* Smaller footprints that no larger one takes but half of, and a part that readings are off by. */
#define SMALLER 3
#define READING 0.1
/* Changes of latency from one point to the next that a plateau may show. */
#define STEADY 0.03
/* … and so many times that make no more of a difference. */
#define STEEPEST 3
/* Steps of the clock that will do for one of many readings. */
#define COARSE 48
/* References of which a disturbance is a small part; those of a lap that does not cost much, and of
   one that is not gone round once more without need. */
#define LONG_LAP  16384
#define SHORT_LAP 8192
#define DEAR_LAP  (1 << 18)
/* What will do for a quick look. Otherwise laps are timed whole: of policies that keep what came
   first a part of a lap would tell too much. */
#define PART_OF_LAP 65536
/* Readings of the TLB's part where it changes from point to point, and no neighbour helps. */
#define TLB_READINGS 8
/* Times the bytes that a level holds at which all miss it, whatever its ways. */
#define BEYOND 2
/* Units of a page that are enough to show how often it misses, and of how many one is touched where
   a page has few. */
#define UNITS_A_PAGE 16
#define LEAST_THIN   4
/* Laps after which policies have forgotten most of what was there before. */
#define LAPS_TO_SETTLE 4
/* … and those that others need, on fresh pages. */
#define LAPS_IF_BRIEF 2
/* … and what a sample counts for, whichever it takes: how often points are drawn hangs on what they
   show, and not on how long that takes to settle. */
#define LAPS_EACH 3
/* Footprints that a TLB can hardly tell apart. */
#define NEAR 1.25
/* Times a TLB's reach at which all of its pages miss. */
#define TLB_BEHIND 2

/* Points to an octave where the curve changes, in each effort. */
static const double dense[] = {[FM_QUICK] = 4, [FM_NORMAL] = 8, [FM_THOROUGH] = 8};

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

double fm_walk_tlb_error(const struct fm_walk_point *point)
{
    return point->tlb_error / fm_walk_mean(point);
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

/* The points on both sides of a footprint and how far between them it lies, on a log scale. */
static double between(const struct fm_walk *walk, double bytes, const struct fm_walk_point **a,
                      const struct fm_walk_point **b)
{
    const size_t at = position(walk, bytes);
    *b = &walk->points[at < walk->count ? at : walk->count - 1];
    *a = &walk->points[at > 0 ? at - 1 : 0];
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

double fm_walk_tlb_at(const struct fm_walk *walk, double bytes)
{
    const struct fm_walk_point *a, *b;
    if (walk->count == 0)
        return 0;
    const double part = between(walk, bytes, &a, &b);
    return a->tlb_ns * (1 - part) + b->tlb_ns * part;
}

size_t fm_walk_unpack(const struct fm_walk *walk, double *bytes, double *latency, double *error)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        bytes[i] = (double)point->bytes;
        latency[i] = fm_walk_mean(point);
        if (error)
            error[i] = hypot(fm_walk_error(point), fm_walk_tlb_error(point));
    }
    return walk->count;
}

bool fm_walk_is_spoilt(const struct fm_walk *walk, double from, double to)
{
    unsigned spoilt = 0, all = 0;
    for (size_t i = position(walk, from); i < walk->count; i++) {
        if ((double)walk->points[i].bytes > to)
            break;
        spoilt += walk->points[i].spoilt;
        all += walk->points[i].placements;
    }
    return 2 * spoilt > all;
}

void fm_walk_cut(struct fm_walk *walk, double bytes)
{
    walk->count = position(walk, nextafter(bytes, INFINITY));
}

/* The point at a footprint, a new one where there was none; NULL when there is no room for it. */
static struct fm_walk_point *point_at(struct fm_walk *walk, size_t bytes, size_t unit)
{
    const size_t i = position(walk, (double)bytes);
    struct fm_walk_point *point = &walk->points[i];
    if (i < walk->count && point->bytes == bytes)
        return point;
    if (walk->count == FM_WALK_POINTS)
        return NULL;
    memmove(point + 1, point, (walk->count - i) * sizeof *point);
    walk->count++;
    *point = (struct fm_walk_point){.bytes = bytes, .unit = unit, .low = INFINITY};
    return point;
}

static void add_reading(const struct fm_lab *lab, struct fm_walk_point *point, double whole)
{
    point->placements++;
    point->spoilt += lab->spoilt;
    point->sum += whole;
    point->sum_of_squares += whole * whole;
    point->low = fmin(point->low, whole);
    point->high = fmax(point->high, whole);
}

static void add_tlb_reading(struct fm_walk_point *point, double longer, unsigned weight)
{
    point->tlb_count += weight;
    point->tlb_sum += weight * longer;
    point->tlb_sum_of_squares += weight * longer * longer;
}

void fm_walk_forget(struct fm_walk_point *point)
{
    point->placements = point->spoilt = 0;
    point->sum = point->sum_of_squares = point->high = 0;
    point->low = INFINITY;
}

/* How points of the walk are measured, in each effort. */
static const struct fm_care care_of[] = {[FM_QUICK] = {.repeats = 2, .references = 8192},
                                         [FM_NORMAL] = {.repeats = 2},
                                         [FM_THOROUGH] = {.repeats = 2}};

/* The unit at a footprint: beyond the rise of a level it is never shorter than that level's line,
   so it grows with the footprint. */
static size_t unit_at(const struct fm_walk *walk, size_t bytes)
{
    const size_t at = position(walk, (double)bytes);
    if (at == walk->count)
        return walk->unit;
    return walk->points[at == 0 || walk->points[at].bytes == bytes ? at : at - 1].unit;
}

static bool fits_any_tlb(const struct fm_lab *lab, size_t bytes)
{
    return bytes <= PAGES_IN_ANY_TLB * lab->machine->info.page_size;
}

double fm_walk_behind_tlbs(const struct fm_lab *lab)
{
    double behind = INFINITY;
    for (unsigned level = 0; level < FM_TLB_LEVELS; level++) {
        const struct fm_counted *found = fm_lab_counted(lab, FM_CACHE_LEVELS + level);
        behind = found ? TLB_BEHIND * found->bytes : behind;
    }
    return behind;
}

/* Whether the TLB's part at a footprint is known without the sibling: nothing is asked of a TLB
   yet, or it was measured on another placement (which changes nothing for a TLB), or it is the same
   on both sides and these are near, or no TLB ends there. Of an edge that is looked at closely what
   readings on both sides are at odds with counts, too. */
static bool tlb_is_known(const struct fm_lab *lab, size_t bytes, bool closely)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_walk_point *a, *b;
    if (fits_any_tlb(lab, bytes))
        return true;
    const size_t at = position(walk, (double)bytes);
    if (at == walk->count)
        return false;
    between(walk, (double)bytes, &a, &b);
    if (b->bytes == bytes && b->tlb_count)
        return true;
    const bool near = (double)b->bytes < NEAR * (double)a->bytes;
    const double off = closely ? a->tlb_error + b->tlb_error : 0;
    return (near || (double)a->bytes >= fm_walk_behind_tlbs(lab)) &&
           b->tlb_ns - a->tlb_ns + off < GRAIN * fm_walk_mean(a);
}

/* Latency at a point as its own readings alone have it. */
static double by_itself(const struct fm_walk_point *point)
{
    return point->sum / point->placements - point->tlb_sum / point->tlb_count;
}

/* How much that changes from a point to the next on one side of it which has such readings, for
   each point on the way there: those between have no say, since what is taken for the TLB's part
   there comes of what is to be fitted. */
static double change_beside(const struct fm_walk *walk, size_t i, int side)
{
    const struct fm_walk_point *point = &walk->points[i];
    const size_t all = side < 0 ? i : walk->count - 1 - i;
    for (int away = 1; away <= (int)all; away++) {
        const struct fm_walk_point *other = point + side * away;
        if (other->tlb_count)
            return fabs(by_itself(other) - by_itself(point)) / away;
    }
    return 0;
}

/* How unsure the difference of two readings is. What the clock adds grows with the reading. And in
   the midst of a rise some policies answer one order with more misses than another, or take long to
   come to rest: there the difference is of caches too, by no more than a part of the reading. */
static double unsureness(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *point = &walk->points[i];
    const double change = fmax(change_beside(walk, i, -1), change_beside(walk, i, 1));
    const double steep = fmin(change / (STEADY * fabs(by_itself(point))), STEEPEST);
    return point->sum / point->placements * (1 + steep * steep) / sqrt(point->tlb_count);
}

/* How far the fitted TLB's part is from the readings of a point, and these from each other. */
static double misfit(const struct fm_walk_point *point)
{
    const double n = point->tlb_count, mean = point->tlb_sum / n;
    const double variance = n > 1 ? (point->tlb_sum_of_squares - n * mean * mean) / (n - 1) : 0;
    return hypot(mean - point->tlb_ns, sqrt(fmax(0, variance) / n));
}

/* What the TLB's part can be: latency does not fall as footprints grow, so what is left is not far
   less than each of a few smaller ones takes, of which something may have disturbed one. A policy
   that answers one order with more misses than the other passes for a TLB otherwise. The parts of
   the smaller ones are known. */
static double possible_tlb(const struct fm_walk *walk, size_t i, double tlb_ns)
{
    const double whole = walk->points[i].sum / walk->points[i].placements;
    double least = INFINITY;
    for (size_t before = i > SMALLER ? i - SMALLER : 0; before < i; before++)
        least = fmin(least, fm_walk_mean(&walk->points[before]));
    const double left = whole - tlb_ns;
    const bool impossible = i > 0 && left < least / 2 && least - left > READING * whole;
    return impossible ? fmax(0, whole - least) : tlb_ns;
}

/* Fits the TLB's part along the walk. It never falls as pages are added, so a reading that
   something disturbed is outvoted by its neighbours. */
static bool fit_tlb(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    double measured[FM_WALK_POINTS], error[FM_WALK_POINTS], fitted[FM_WALK_POINTS];
    size_t used = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        if (point->tlb_count == 0)
            continue;
        measured[used] = possible_tlb(walk, i, point->tlb_sum / point->tlb_count);
        error[used++] = unsureness(walk, i);
    }
    if (used && !fm_monotone_steps(measured, error, used, fitted))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the walk");
    /* Where it was not measured, half way between the measured neighbours, or none yet. */
    double before = 0;
    for (size_t i = 0, next = 0; i < walk->count; i++) {
        struct fm_walk_point *point = &walk->points[i];
        const double after = next < used ? fmax(0, fitted[next]) : before;
        if (point->tlb_count) {
            before = after;
            next++;
        }
        const double part = fits_any_tlb(lab, point->bytes) ? 0 : 0.5;
        const double fit = point->tlb_count ? after : part * (before + after);
        point->tlb_ns = possible_tlb(walk, i, fit);
        point->tlb_error = point->tlb_count ? misfit(point) : part * (after - before);
    }
    return true;
}

/* Where counters have shown that a footprint is beyond a level, every reference goes to the next
   one, and needs to come to each line of that but once. What a prefetcher brings along may pass for
   a part of the line where ways have not told it apart; but then it comes with each miss here, too.
 */
static size_t counted_unit(const struct fm_lab *lab, size_t bytes)
{
    size_t unit = 0;
    for (unsigned level = 0; level < FM_CACHE_LEVELS; level++) {
        const struct fm_counted *found = fm_lab_counted(lab, level);
        const struct fm_counted *next = fm_lab_counted(lab, level + 1);
        if (!found || (double)bytes < BEYOND * found->bytes)
            break;
        const bool is_cache = level + 1 < FM_CACHE_LEVELS;
        const size_t line = is_cache && next && next->line ? next->line : found->line;
        unit = line > unit ? line : unit;
    }
    return unit;
}

/* The units of a footprint that is measured now. */
static size_t unit_now(const struct fm_lab *lab, size_t bytes)
{
    const size_t known = unit_at(&lab->walk, bytes), longer = counted_unit(lab, bytes);
    return longer > known ? longer : known;
}

/* Who asks for the sibling: always, or where the TLB's part is not known, for an edge that is
   looked at closely or for the walk; and the latency of a smaller footprint, 0: none. Neither
   latency nor the TLB's part falls as footprints grow, so what takes no longer than that with the
   part it had there has the same of both. */
struct asking {
    bool always, closely;
    double least;
};

/* The TLB's part in a reading of a string, by its sibling. That is run as it is first, if nothing
   may have changed: of what the string has left in a cache it finds the more the larger that is,
   and takes the less, so that where all the rest is the TLB's, as far as two readings can tell, no
   cache was there. */
static bool time_sibling(struct fm_lab *lab, const struct fm_walk_point *string, double least,
                         const struct fm_care *care, double *tlb_ns, struct fm_error *err)
{
    const double whole = string->sum;
    struct fm_care warm = *care;
    double single;
    warm.warm = true;
    if (least > 0) {
        if (!fm_walk_time(lab, string->bytes, string->unit, 1, &warm, &single, err))
            return false;
        *tlb_ns = whole - least;
        if (2 * whole - single < least * (1 + STEADY) + GRAIN * (whole + single))
            return true;
    }
    if (!fm_walk_time(lab, string->bytes, string->unit, 1, care, &single, err))
        return false;
    *tlb_ns = single - whole;
    return true;
}

/* Of how many units one is touched. */
static size_t thinness(const struct fm_lab *lab, size_t unit, bool thin)
{
    const size_t units = lab->machine->info.page_size / unit;
    if (!thin)
        return 1;
    return units > LEAST_THIN * UNITS_A_PAGE ? units / UNITS_A_PAGE : LEAST_THIN;
}

/* Whether a long string takes no longer than that of the next smaller footprint. */
static bool is_no_longer(const struct fm_walk *walk, size_t bytes, size_t unit, double whole)
{
    const size_t at = position(walk, (double)bytes);
    if (bytes / unit < DEAR_LAP || at == 0 || at < walk->count)
        return false;
    const struct fm_walk_point *smaller = &walk->points[at - 1];
    return whole < smaller->sum / smaller->placements * (1 + GRAIN);
}

static bool measure(struct fm_lab *lab, size_t bytes, bool thin, const struct fm_care *care,
                    const struct asking *sibling, double *ns, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    /* Of several readings half count. */
    const unsigned weight = care->repeats / 2;
    const size_t unit = unit_now(lab, bytes), touched = unit * thinness(lab, unit, thin);
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, touched);
    bytes = bytes < unit ? unit : bytes / unit * unit;
    double whole;
    if (!fm_walk_time(lab, bytes, touched, bursts ? 2 : 1, care, &whole, err))
        return false;
    const bool known = !bursts || (!sibling->always && tlb_is_known(lab, bytes, sibling->closely));
    double tlb_ns = fm_walk_tlb_at(walk, (double)bytes);
    /* Where nothing smaller was named, what takes less than a TLB's part between its neighbours
       says that it has another; but what takes no longer than the next smaller footprint, which has
       the same part at the most, need not be asked for it where that is dear. */
    const bool same = sibling->least > 0
                          ? whole - tlb_ns < sibling->least * (1 + STEADY)
                          : !sibling->always && is_no_longer(walk, bytes, unit, whole);
    const struct fm_walk_point reading = {.bytes = bytes, .unit = touched, .sum = whole};
    if (!known && !same && !time_sibling(lab, &reading, sibling->least, care, &tlb_ns, err))
        return false;
    struct fm_walk_point *point = point_at(walk, bytes, unit);
    if (point) {
        add_reading(lab, point, whole);
        if (!known)
            add_tlb_reading(point, tlb_ns, weight);
        if (!fit_tlb(lab, err))
            return false;
    }
    if (ns)
        *ns = whole - fm_walk_tlb_at(walk, (double)bytes);
    return true;
}

bool fm_walk_measure(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err)
{
    return measure(lab, bytes, false, &care_of[lab->options->effort], &(struct asking){0}, ns, err);
}

bool fm_walk_measure_settled(struct fm_lab *lab, size_t bytes, struct fm_way way, double *ns,
                             struct fm_error *err)
{
    struct fm_care care = care_of[lab->options->effort];
    care.laps = way.brief ? LAPS_IF_BRIEF : LAPS_TO_SETTLE;
    return measure(lab, bytes, way.thin, &care, &(struct asking){.closely = true}, ns, err);
}

bool fm_walk_look(struct fm_lab *lab, size_t bytes, double least, double *ns, struct fm_error *err)
{
    const struct asking sibling = {.least = least};
    return measure(lab, bytes, false, &care_of[lab->options->effort], &sibling, ns, err);
}

bool fm_walk_measure_well(struct fm_lab *lab, size_t bytes, double *ns, struct fm_error *err)
{
    static const struct fm_care well = {.repeats = 8};
    if (lab->options->effort == FM_QUICK)
        return fm_walk_measure(lab, bytes, ns, err);
    const bool behind = (double)bytes >= fm_walk_behind_tlbs(lab);
    const struct asking sibling = {.always = !fits_any_tlb(lab, bytes) && !behind};
    return measure(lab, bytes, false, &well, &sibling, ns, err);
}

bool fm_walk_count(struct fm_lab *lab, size_t bytes, struct fm_sample *sample, struct fm_error *err)
{
    const size_t unit = unit_now(lab, bytes), page = lab->machine->info.page_size;
    const struct fm_swept_plan plan = {.bytes = bytes / unit * unit,
                                       .unit = unit,
                                       .page = page,
                                       .burst = fm_swept_has_bursts(page, unit) ? 2 : 1,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    if (!fm_swept_string(&string, &plan, err))
        return false;
    fm_string_prime(&string, 1);
    fm_string_time(&string, string.orders[0].count);
    const bool good = fm_lab_go_on(lab, lab->part, err) &&
                      lab->machine->ops->count(lab->machine, &string, 1, sample, err);
    fm_string_free(&string);
    return good;
}

/* Whether a TLB's part changes beside a point. */
static bool is_at_tlb_edge(const struct fm_walk *walk, size_t i)
{
    const struct fm_walk_point *point = &walk->points[i];
    const double before = i > 0 ? point[-1].tlb_ns : point->tlb_ns;
    const double after = i + 1 < walk->count ? point[1].tlb_ns : point->tlb_ns;
    return after - before > GRAIN * fm_walk_mean(point);
}

bool fm_walk_is_long(const struct fm_lab *lab, const struct fm_walk_point *point, bool thin)
{
    return point->bytes / (thinness(lab, point->unit, thin) * point->unit) > SHORT_LAP;
}

/* A reading of a point in such units, and one of its sibling if that is asked for. Where policies
   are long in coming to rest what is timed second misses less, and what it misses less would be
   taken off the TLB's part in each reading alike: so the two take turns at being first. */
static bool time_in_turn(struct fm_lab *lab, const struct fm_walk_point *point, size_t unit,
                         const struct fm_care *care, double *single, double *whole,
                         struct fm_error *err)
{
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, unit);
    const bool first = single && point->tlb_count % 2;
    if (first && !fm_walk_time(lab, point->bytes, unit, 1, care, single, err))
        return false;
    if (!fm_walk_time(lab, point->bytes, unit, bursts ? 2 : 1, care, whole, err))
        return false;
    return !single || first || fm_walk_time(lab, point->bytes, unit, 1, care, single, err);
}

bool fm_walk_sample(struct fm_lab *lab, size_t index, const struct fm_walk_sampling *how,
                    double *ns, struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    const size_t unit = thinness(lab, point->unit, how->way.thin) * point->unit;
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, unit);
    const size_t lap = point->bytes / unit;
    const size_t most_at_once = lab->options->effort == FM_QUICK ? PART_OF_LAP : lap;
    const unsigned least = how->fresh ? LAPS_IF_BRIEF : 1;
    const bool brief = !how->settled && (lap > SHORT_LAP || how->way.brief);
    const struct fm_care care = {.repeats = lap < LONG_LAP ? 2 : 1,
                                 .laps = brief ? least : LAPS_TO_SETTLE,
                                 .steps = COARSE,
                                 .references = lap < most_at_once ? lap : most_at_once};
    const bool asks = !how->drop && bursts && point->tlb_count < TLB_READINGS &&
                      is_at_tlb_edge(&lab->walk, index);
    double whole, single = 0;
    lab->walk.references += LAPS_EACH * (double)lap;
    if (!time_in_turn(lab, point, unit, &care, asks ? &single : NULL, &whole, err))
        return false;
    *ns = whole - point->tlb_ns;
    if (how->drop)
        return true;
    if (asks)
        add_tlb_reading(point, single - whole, 1);
    add_reading(lab, point, whole);
    return fit_tlb(lab, err);
}

bool fm_walk_mend(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    const size_t unit = point->unit;
    const bool bursts = fm_swept_has_bursts(lab->machine->info.page_size, unit);
    double whole, single = 0;
    if (!fm_walk_time(lab, point->bytes, unit, bursts ? 2 : 1, &care_of[lab->options->effort],
                      &whole, err) ||
        (point->tlb_count &&
         !fm_walk_time(lab, point->bytes, unit, 1, &care_of[lab->options->effort], &single, err)))
        return false;
    const double before = point->sum / point->placements;
    const bool steady = fabs(whole - before) < GRAIN * before;
    if (whole < before) {
        const bool asked = point->tlb_count > 0;
        *point = (struct fm_walk_point){.bytes = point->bytes, .unit = unit, .low = whole};
        add_reading(lab, point, whole);
        if (asked)
            add_tlb_reading(point, single - whole, 1);
    }
    point->steady = steady;
    return fit_tlb(lab, err);
}

/* How close points need be: a rise that counters have shown the place of is seen by half of them.
 */
static double closest_at(const struct fm_lab *lab, double bytes)
{
    double density = dense[lab->options->effort];
    for (unsigned level = 0; level < FM_CACHE_LEVELS; level++) {
        const struct fm_counted *found = fm_lab_counted(lab, level);
        if (found && fabs(log2(bytes / found->effective)) < 1)
            density = dense[lab->options->effort] / 2;
    }
    return exp2(1 / density) * 1.01;
}

bool fm_walk_refine(struct fm_lab *lab, double from, double to, struct fm_error *err)
{
    struct fm_walk *walk = &lab->walk;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i + 1 < walk->count; i++) {
            const struct fm_walk_point *a = &walk->points[i], *b = a + 1;
            const double ratio = (double)b->bytes / (double)a->bytes;
            const double rise = log(fm_walk_mean(b) / fm_walk_mean(a));
            /* What falls and is steady, or past all that was counted, does so by a policy: there is
               no level to be found. */
            if ((double)a->bytes < from || (double)b->bytes > to ||
                ratio <= closest_at(lab, (double)a->bytes) || fabs(rise) < FM_WORTH_A_LOOK ||
                (rise < 0 && (a->steady || fm_is_past_counted(lab, (double)a->bytes))))
                continue;
            const double middle = sqrt((double)a->bytes * (double)b->bytes);
            const size_t before = walk->count;
            if (!fm_lab_go_on(lab, 0.5, err) || !fm_walk_measure(lab, (size_t)middle, NULL, err))
                return false;
            if (walk->count == before || fm_lab_is_late(lab))
                return true;
            more = true;
        }
    }
    return true;
}
