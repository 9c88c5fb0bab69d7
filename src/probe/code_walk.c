#include "probe/code_walk.h"

#include <math.h>

#include "refstring/refstring.h"

/* Points to an octave, and where no more is asked than what levels add. */
#define DENSITY 6
#define SPARSE  2
/* Passes over the whole way, and at the most. */
#define WHOLE_PASSES 2
#define MOST_PASSES  512
/* Two readings of one footprint that differ by more of its mean are not of noise alone. */
#define DIFFERENT 0.03
/* What a reading can be off by, as a part of all that a jump takes. */
#define READING 0.008
/* References and time of the machine spent beyond the first passes, and around each level, in each
   effort; and the laps that one reading takes, roughly. */
static const struct {
    double references, seconds;
} spend[] = {[FM_QUICK] = {1e6, 0.1}, [FM_NORMAL] = {4e6, 0.2}, [FM_THOROUGH] = {5e7, 10}};
#define LAPS_EACH 8
/* Lines of a page that stand for all of it, and the part of the points where they must. */
#define OF_A_PAGE  8
#define NEARLY_ALL 0.85
/* Times a footprint that is around it. */
#define AROUND 1.4

/* The way along the walk. */
struct tour {
    struct fm_code_lines lines;
    double references, since; /* spent, and from when on */
};

static void lay_out(struct fm_code_walk *walk)
{
    struct fm_walk *points = &walk->walk;
    const double pitch = (double)walk->pitch;
    const double density = walk->sparse ? SPARSE : DENSITY;
    double bytes = fmax(walk->from, 4 * pitch);
    points->count = 0;
    while (bytes <= walk->to && points->count < FM_WALK_POINTS) {
        points->points[points->count] = (struct fm_walk_point){
            .bytes = (size_t)(bytes / pitch) * walk->pitch, .unit = walk->pitch, .low = INFINITY};
        walk->whole_ns[points->count++] = 0;
        bytes = fmax(bytes + pitch, bytes * exp2(1 / density));
    }
}

static void note(struct fm_code_walk *walk, size_t index, const struct fm_code_fetch *found)
{
    struct fm_walk_point *point = &walk->walk.points[index];
    const double ns = walk->offset_ns + found->miss_ns;
    point->placements++;
    point->sum += ns;
    point->sum_of_squares += ns * ns;
    point->low = fmin(point->low, ns);
    point->high = fmax(point->high, ns);
    walk->whole_ns[index] += fmax(found->one_ns, found->burst_ns);
}

/* A reading of one footprint on the placement that is there, of each so manyth line. */
static bool read_bytes(struct fm_lab *lab, const struct fm_code_walk *walk, struct tour *tour,
                       size_t bytes, struct fm_code_fetch *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 2, .steps = 256};
    fm_code_lines_fill(&tour->lines, bytes, walk->thin * walk->pitch, lab->machine->info.page_size);
    tour->references += 2 * LAPS_EACH * (double)tour->lines.lines;
    return fm_lab_go_on(lab, 0, err) && fm_time_fetch(lab, &tour->lines, &care, found, err);
}

/* All footprints between two, on one fresh placement; from large to small, as a cache that evicts
   what came first would else keep the order of the smaller. */
static bool pass(struct fm_lab *lab, struct fm_code_walk *walk, struct tour *tour, double from,
                 double to, struct fm_error *err)
{
    bool placed = false;
    for (size_t i = walk->walk.count; i-- > 0;) {
        const size_t bytes = walk->walk.points[i].bytes;
        struct fm_code_fetch found;
        if ((double)bytes < from || (double)bytes > to)
            continue;
        if (!placed && !fm_lab_place(lab, bytes + FM_TURN, err))
            return false;
        placed = true;
        if (!read_bytes(lab, walk, tour, bytes, &found, err))
            return false;
        note(walk, i, &found);
    }
    return true;
}

/* Whether placements move anything: noise of one reading does not reach over two neighbours. */
static bool is_scattered(const struct fm_walk *walk)
{
    unsigned in_a_row = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const struct fm_walk_point *point = &walk->points[i];
        const bool differs = point->high - point->low > DIFFERENT * fm_walk_mean(point);
        in_a_row = differs ? in_a_row + 1 : 0;
        if (in_a_row == 2)
            return true;
    }
    return false;
}

/* Where a set is chosen by the address as it is, each so manyth line uses as much of fewer sets as
   all lines use of all: whether a few of each page say the same as all, once in each octave beyond
   the first cache. */
static bool choose_thin(struct fm_lab *lab, struct fm_code_walk *walk, struct tour *tour,
                        struct fm_error *err)
{
    const size_t thin = lab->machine->info.page_size / walk->pitch / OF_A_PAGE;
    size_t alike = 0, all = 0;
    walk->thin = 1;
    if (thin < 2 || !fm_lab_place(lab, (size_t)walk->to + FM_TURN, err))
        return thin < 2;
    for (double bytes = walk->to; bytes >= walk->small; bytes /= 2) {
        struct fm_code_fetch some, every;
        walk->thin = 1;
        if (!read_bytes(lab, walk, tour, (size_t)bytes, &every, err))
            return false;
        walk->thin = thin;
        if (!read_bytes(lab, walk, tour, (size_t)bytes, &some, err))
            return false;
        const double off = fmax(DIFFERENT * (walk->offset_ns + some.miss_ns),
                                2 * DIFFERENT * fmax(some.one_ns, some.burst_ns));
        alike += fabs(some.miss_ns - every.miss_ns) < off;
        all++;
    }
    if ((double)alike < NEARLY_ALL * (double)all || all == 0)
        walk->thin = 1;
    return true;
}

static void begin_spending(struct fm_lab *lab, struct tour *tour)
{
    tour->references = 0;
    tour->since = lab->machine->ops->elapsed(lab->machine);
}

static bool is_spent(const struct fm_lab *lab, const struct tour *tour)
{
    return tour->references > spend[lab->options->effort].references ||
           lab->machine->ops->elapsed(lab->machine) - tour->since >
               spend[lab->options->effort].seconds;
}

static bool take_readings(struct fm_lab *lab, struct fm_code_walk *walk, struct tour *tour,
                          struct fm_error *err)
{
    if (!choose_thin(lab, walk, tour, err))
        return false;
    lay_out(walk);
    for (unsigned i = 0; i < (walk->sparse ? 1 : WHOLE_PASSES); i++)
        if (!pass(lab, walk, tour, 0, walk->to, err))
            return false;
    walk->scattered = is_scattered(&walk->walk);
    if (!walk->scattered)
        return true;
    begin_spending(lab, tour);
    for (unsigned number = 1; number <= MOST_PASSES && !is_spent(lab, tour); number++)
        if (!pass(lab, walk, tour, 0, walk->small * (double)(number & -number), err))
            return false;
    return true;
}

static bool take_around(struct fm_lab *lab, struct fm_code_walk *walk, struct tour *tour,
                        double bytes, struct fm_error *err)
{
    begin_spending(lab, tour);
    for (unsigned number = 1; number <= MOST_PASSES && !is_spent(lab, tour); number++)
        if (!pass(lab, walk, tour, bytes / AROUND, bytes * AROUND, err))
            return false;
    return true;
}

static bool open_tour(struct tour *tour, const struct fm_code_walk *walk, struct fm_error *err)
{
    *tour = (struct tour){.references = 0};
    if (!fm_code_lines_open(&tour->lines, (size_t)(walk->to / (double)walk->pitch) + 1, err))
        return false;
    tour->lines.apart = walk->apart;
    return true;
}

bool fm_code_walk(struct fm_lab *lab, struct fm_code_walk *walk, struct fm_error *err)
{
    struct tour tour;
    if (!open_tour(&tour, walk, err))
        return false;
    const bool good = take_readings(lab, walk, &tour, err);
    fm_code_lines_close(&tour.lines);
    return good;
}

bool fm_code_walk_around(struct fm_lab *lab, struct fm_code_walk *walk, double bytes,
                         struct fm_error *err)
{
    struct tour tour;
    if (!walk->scattered)
        return true;
    if (!open_tour(&tour, walk, err))
        return false;
    const bool good = take_around(lab, walk, &tour, bytes, err);
    fm_code_lines_close(&tour.lines);
    return good;
}

double fm_code_walk_error(const struct fm_code_walk *walk, size_t index)
{
    const struct fm_walk_point *point = &walk->walk.points[index];
    const double whole = walk->whole_ns[index] / point->placements;
    return hypot(READING * whole / fm_walk_mean(point), fm_walk_error(point));
}
