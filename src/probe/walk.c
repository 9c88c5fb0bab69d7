#include "probe/walk.h"

#include <math.h>

#include "probe/lab.h"
#include "probe/walk_parts.h"
#include "refstring/refstring.h"

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

/* Points to an octave where the curve changes, in each effort. */
static const double dense[] = {[FM_QUICK] = 4, [FM_NORMAL] = 8, [FM_THOROUGH] = 8};

/* How points of the walk are measured, in each effort. */
static const struct fm_care care_of[] = {[FM_QUICK] = {.repeats = 2, .references = 8192},
                                         [FM_NORMAL] = {.repeats = 2},
                                         [FM_THOROUGH] = {.repeats = 2}};

/* The unit at a footprint: beyond the rise of a level it is never shorter than that level's line,
   so it grows with the footprint. */
static size_t unit_at(const struct fm_walk *walk, size_t bytes)
{
    const size_t at = fm_walk_position(walk, (double)bytes);
    if (at == walk->count)
        return walk->unit;
    return walk->points[at == 0 || walk->points[at].bytes == bytes ? at : at - 1].unit;
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
        if (2 * whole - single < least * (1 + FM_WALK_STEADY) + FM_WALK_GRAIN * (whole + single))
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
    const size_t at = fm_walk_position(walk, (double)bytes);
    if (bytes / unit < DEAR_LAP || at == 0 || at < walk->count)
        return false;
    const struct fm_walk_point *smaller = &walk->points[at - 1];
    return whole < smaller->sum / smaller->placements * (1 + FM_WALK_GRAIN);
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
    const bool known =
        !bursts || (!sibling->always && fm_walk_tlb_is_known(lab, bytes, sibling->closely));
    double tlb_ns = fm_walk_tlb_at(walk, (double)bytes);
    /* Where nothing smaller was named, what takes less than a TLB's part between its neighbours
       says that it has another; but what takes no longer than the next smaller footprint, which has
       the same part at the most, need not be asked for it where that is dear. */
    const bool same = sibling->least > 0
                          ? whole - tlb_ns < sibling->least * (1 + FM_WALK_STEADY)
                          : !sibling->always && is_no_longer(walk, bytes, unit, whole);
    const struct fm_walk_point reading = {.bytes = bytes, .unit = touched, .sum = whole};
    if (!known && !same && !time_sibling(lab, &reading, sibling->least, care, &tlb_ns, err))
        return false;
    struct fm_walk_point *point = fm_walk_point_at(walk, bytes, unit);
    if (point) {
        fm_walk_add_reading(lab, point, whole);
        if (!known)
            fm_walk_add_tlb_reading(point, tlb_ns, weight);
        if (!fm_walk_fit_tlb(lab, err))
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
    const struct asking sibling = {.always = !fm_walk_fits_any_tlb(lab, bytes) && !behind};
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
                      fm_walk_is_at_tlb_edge(&lab->walk, index);
    double whole, single = 0;
    lab->walk.references += LAPS_EACH * (double)lap;
    if (!time_in_turn(lab, point, unit, &care, asks ? &single : NULL, &whole, err))
        return false;
    *ns = whole - point->tlb_ns;
    if (how->drop)
        return true;
    if (asks)
        fm_walk_add_tlb_reading(point, single - whole, 1);
    fm_walk_add_reading(lab, point, whole);
    return fm_walk_fit_tlb(lab, err);
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
    const bool steady = fabs(whole - before) < FM_WALK_GRAIN * before;
    if (whole < before) {
        const bool asked = point->tlb_count > 0;
        *point = (struct fm_walk_point){.bytes = point->bytes, .unit = unit, .low = whole};
        fm_walk_add_reading(lab, point, whole);
        if (asked)
            fm_walk_add_tlb_reading(point, single - whole, 1);
    }
    point->steady = steady;
    return fm_walk_fit_tlb(lab, err);
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
