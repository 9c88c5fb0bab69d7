/* The curve of what translation adds to a reference, by the number of pages, read into rises that
 * may each be the edge of a TLB. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/median.h"
#include "probe/tlb.h"

/* Memory that is touched at the most, in each effort: huge pages are dear. */
static const double most_memory[] = {
    [FM_QUICK] = 0x1p28, [FM_NORMAL] = 0x1p29, [FM_THOROUGH] = 0x1p30};
/* … and of pages other than the base page, which a second level would need thousands of, so many
   are asked for unless there is time. */
#define OTHER_PAGES 256
#define MOST_POINTS 64
/* Points to an octave. */
#define DENSITY 4
#define SPARSE  1
/* What a reading can be off by, as a part of all that a reference takes. */
#define READING 0.01
/* … and how many times that two sweeps may differ. */
#define AGREE 2
/* Rises that a curve may show before it is known which of them are levels. */
#define MOST_RISES 12
/* Readings of neighbours here and there, in so many times the pages, and what they may differ by as
   a part of what they show, if luck has no part in it. */
#define LUCK_READINGS 7
#define LUCK_ROOM     4
#define AGAIN         4
#define LUCK          0.2
/* … and the part of what the curve shows that they show at the least. */
#define STAYS 0.6
/* Part of the least that a level adds which is nothing. */
#define NOTHING 0.5

double fm_tlb_memory(const struct fm_lab *lab)
{
    return fmin(most_memory[lab->options->effort], (double)fm_lab_limit(lab));
}

/* Times its pages, and its part, to where the rise of a counted level reaches. */
#define RISE_REACHES 2.0

/* Points to an octave: few where no counted level begins to miss, since nothing will change. */
static double density_at(const struct fm_lab *lab, const struct fm_tlbs *tlbs, double pages)
{
    bool near = !fm_tlb_counted(lab, tlbs, 0);
    for (size_t i = 0; i < FM_TLB_LEVELS && !near; i++) {
        const struct fm_counted *found = fm_tlb_counted(lab, tlbs, i);
        const double edge = found ? found->bytes / (double)tlbs->page : 0;
        const double reaches = found && !found->sharp ? RISE_REACHES * RISE_REACHES : RISE_REACHES;
        near = found && pages > edge / RISE_REACHES / RISE_REACHES && pages < edge * reaches;
    }
    return near ? DENSITY : SPARSE;
}

/* Reads the curve once, on pages of its own. */
static bool sweep(struct fm_lab *lab, struct fm_tlbs *tlbs, double most,
                  struct fm_tlb_point points[MOST_POINTS], size_t *n, struct fm_error *err)
{
    /* Large pages are dear to place: once for all. */
    const bool dear = tlbs->list.mapped != lab->machine->info.page_size;
    double placed = 0;
    *n = 0;
    for (double pages = FM_TLB_FEWEST; pages <= most && *n < MOST_POINTS; ++*n) {
        struct fm_translation found;
        if (pages > placed) {
            placed = dear ? most : fmin(most, 4 * pages);
            if (!fm_provide_pages(lab, &tlbs->list, (size_t)placed, err))
                return false;
        }
        if (!fm_lab_go_on(lab, 0.3 * log(pages) / log(most), err) ||
            !fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){0, (size_t)pages, 1}, 2, &found,
                           err))
            return false;
        points[*n] = (struct fm_tlb_point){floor(pages), found.cost_ns,
                                           READING * (found.rest_ns + found.cost_ns)};
        pages = fmax(floor(pages) + 1, pages * exp2(1.0 / density_at(lab, tlbs, pages)));
    }
    return true;
}

/* Whether two sweeps show the same. */
static bool agree(const struct fm_tlb_point *one, const struct fm_tlb_point *other, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(one[i].cost - other[i].cost) > AGREE * (one[i].error + other[i].error))
            return false;
    return true;
}

/* Times its pages where misses of a hashed level show, of those at which they set in. */
#define HARDLY 2

/* Whether the rises of a sweep are those that counters have shown, and no others. */
static bool are_counted(const struct fm_lab *lab, const struct fm_tlbs *tlbs,
                        const struct fm_tlb_point *points, size_t n)
{
    struct fm_tlb_point smooth[MOST_POINTS];
    struct fm_tlb_step steps[MOST_RISES];
    memcpy(smooth, points, n * sizeof *points);
    if (!fm_smooth_tlb_points(smooth, n))
        return false;
    const size_t count = fm_read_tlb_steps(smooth, n, steps, MOST_RISES);
    for (size_t i = 0; i < count; i++) {
        const struct fm_counted *found = fm_tlb_counted(lab, tlbs, i);
        const double pages = found ? found->bytes / (double)tlbs->page : 0;
        /* One in twenty that misses hardly shows: up to the next point, or where a hash chooses
           sets for longer. */
        const double held = steps[i].held / (found && !found->sharp ? HARDLY : exp2(1.0 / DENSITY));
        if (!found || pages < held || pages > steps[i].missed)
            return false;
    }
    return count > 0 && !fm_tlb_counted(lab, tlbs, count);
}

/* Errors of a reading that are more than nothing, and the part of a cost that is nothing of it. */
#define CLEARLY   10
#define VANISHING 0.1

/* Whether translation costs something, twice in a row, and nothing at more pages: these have grown.
   Caches that begin to miss may hide some of it, but not all. */
static bool vanishes(const struct fm_tlb_point *points, size_t n)
{
    double most = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double here = fmin(points[i].cost, points[i + 1].cost);
        const double there = fmax(points[i].cost, points[i + 1].cost);
        if (most > 0 && there < VANISHING * most)
            return true;
        if (here > CLEARLY * points[i].error)
            most = fmax(most, here);
    }
    return false;
}

/* What disturbs a machine may last for as long as many points take, and falsify them all. So the
   whole is swept twice, unless counters have shown the same, and once more where the two do not
   agree; of three the middle counts. A quick survey takes what comes. */
static bool read_points(struct fm_lab *lab, struct fm_tlbs *tlbs, double most,
                        struct fm_tlb_point points[MOST_POINTS], size_t *n, struct fm_error *err)
{
    struct fm_tlb_point again[2][MOST_POINTS];
    if (!sweep(lab, tlbs, most, points, n, err))
        return false;
    if (lab->options->effort == FM_QUICK || are_counted(lab, tlbs, points, *n))
        return true;
    if (!sweep(lab, tlbs, most, again[0], n, err))
        return false;
    tlbs->vanishes = vanishes(points, *n) && vanishes(again[0], *n);
    const bool two = agree(points, again[0], *n);
    if (!two && !sweep(lab, tlbs, most, again[1], n, err))
        return false;
    for (size_t i = 0; i < *n; i++) {
        double cost[3] = {points[i].cost, again[0][i].cost, two ? 0 : again[1][i].cost};
        fm_sort(cost, two ? 2 : 3);
        points[i].cost = two ? (cost[0] + cost[1]) / 2 : cost[1];
        points[i].error = fmin(points[i].error, again[0][i].error);
    }
    return true;
}

/* What the cost between two rises is: a level's, the same for any neighbours; a matter of luck,
   which turns with the first page, where a hashed index lets some sets be too full and others not;
   or none at all, but an accident while the curve was read. */
enum ledge { LEVEL, BY_LUCK, ACCIDENT };

/* One place where the neighbours lie, and what they cost there. */
struct place {
    size_t first;
    double cost;
};

static int cheaper_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Two places asked again, by turns: the cheapest and the dearest of some are so by chance too. */
static bool ask_again(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t pages,
                      const struct fm_tlb_step *step, struct place *low, struct place *high,
                      struct fm_error *err)
{
    struct place *const both[] = {low, high};
    low->cost = high->cost = -step->cost_before;
    for (int i = 0; i < 2 * AGAIN; i++) {
        struct fm_translation found;
        if (!fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){both[i % 2]->first, pages, 1}, 4,
                           &found, err))
            return false;
        both[i % 2]->cost += found.cost_ns / AGAIN;
    }
    return true;
}

static bool judge_ledge(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                        enum ledge *ledge, struct fm_error *err)
{
    /* No more than need be: luck may have a part in what comes next. */
    const size_t pages = (size_t)step->missed;
    const size_t affordable = (size_t)fm_tlb_memory(lab) / tlbs->page;
    const size_t room = affordable > pages ? affordable : pages;
    const size_t arena = room < LUCK_ROOM * pages ? room : LUCK_ROOM * pages;
    struct place places[LUCK_READINGS];
    /* The least and the most may be accidents. */
    struct place *low = &places[1], *high = &places[LUCK_READINGS - 2];
    double whole = 0, least_told = 0;
    bool stays = false;
    if (!fm_provide_pages(lab, &tlbs->list, arena, err))
        return false;
    for (int i = 0; i < LUCK_READINGS; i++) {
        struct fm_translation found;
        places[i].first = fm_lab_seed(lab) % (arena - pages + 1);
        if (!fm_time_pages(lab, &tlbs->list, &(struct fm_page_run){places[i].first, pages, 1}, 2,
                           &found, err))
            return false;
        places[i].cost = found.cost_ns - step->cost_before;
        whole = found.cost_ns + found.rest_ns;
        least_told = fm_least_cost(lab, found.rest_ns);
    }
    qsort(places, LUCK_READINGS, sizeof places[0], cheaper_first);
    for (int look = 0; look < 2 && !stays; look++) {
        if (look && !ask_again(lab, tlbs, pages, step, low, high, err))
            return false;
        const double least = fmin(low->cost, high->cost), most = fmax(low->cost, high->cost);
        stays = least > STAYS * (step->cost - step->cost_before) &&
                most - least < fmax(LUCK * most, AGREE * READING * whole);
    }
    *ledge = stays                                                ? LEVEL
             : fmax(low->cost, high->cost) < NOTHING * least_told ? ACCIDENT
                                                                  : BY_LUCK;
    return true;
}

/* Rises as they are read, and as what they were before some were joined. */
struct rises {
    struct fm_tlb_step steps[MOST_RISES], alone[MOST_RISES], rest[MOST_RISES];
    size_t count;
};

/* Makes one rise of two. */
static void join(struct rises *rises, size_t i)
{
    struct fm_tlb_step *steps = rises->steps, next = steps[i + 1];
    if (rises->alone[i].held > 0) {
        rises->rest[i].missed = next.missed;
        rises->rest[i].cost = next.cost;
    } else {
        rises->alone[i] = steps[i];
        rises->rest[i] = next;
    }
    steps[i].missed = next.missed;
    steps[i].cost = next.cost;
    rises->count--;
    memmove(&steps[i + 1], &steps[i + 2], (rises->count - i - 1) * sizeof *steps);
}

/* Takes out a rise that is none: the next one begins where that seemed to. */
static void drop(struct rises *rises, size_t i)
{
    rises->steps[i + 1].cost_before = rises->steps[i].cost_before;
    rises->alone[i] = rises->rest[i] = (struct fm_tlb_step){0};
    rises->count--;
    memmove(&rises->steps[i], &rises->steps[i + 1], (rises->count - i) * sizeof *rises->steps);
}

/* Times the pages over which it shows whether misses grow with them, and the power of their growth
   that tells all pages (1) from always the same few (0). */
#define WIDE_LEDGE 1.4
#define FEW_OR_ALL 0.5

/* Whether as many pages miss at the end of a ledge as at its begin: of a level all would. A hash
   that fills one set too soon has the same few miss, however many others fit. */
static bool are_the_same_few(const struct fm_tlb_point *points, size_t n,
                             const struct fm_tlb_step *step)
{
    const struct fm_tlb_point *begin = NULL, *end = NULL;
    for (size_t i = 0; i < n; i++) {
        if (points[i].pages < step->missed || points[i].pages > step[1].held)
            continue;
        begin = begin ? begin : &points[i];
        end = &points[i];
    }
    if (!begin || end->pages < WIDE_LEDGE * begin->pages || begin->cost <= step->cost_before)
        return false;
    const double before = (begin->cost - step->cost_before) * begin->pages;
    const double after = (end->cost - step->cost_before) * end->pages;
    return after < before * pow(end->pages / begin->pages, FEW_OR_ALL);
}

/* Takes out what only seems to be a level: its rise is the beginning of the next one, or none. */
static bool join_rises(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_point *points,
                       size_t n, struct rises *rises, struct fm_error *err)
{
    for (size_t i = 0; i + 1 < rises->count;) {
        enum ledge ledge = BY_LUCK;
        if (!are_the_same_few(points, n, &rises->steps[i]) &&
            !judge_ledge(lab, tlbs, &rises->steps[i], &ledge, err))
            return false;
        if (ledge == LEVEL)
            i++;
        else if (ledge == BY_LUCK)
            join(rises, i);
        else
            drop(rises, i);
    }
    return true;
}

struct fm_known_tlb fm_tlb_of_rise(const struct fm_tlb_step *step)
{
    return (struct fm_known_tlb){
        .step = *step, .read_cost = step->cost, .soft = step->missed > FM_TLB_SOFT * step->held};
}

bool fm_read_tlb_curve(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS], smooth[MOST_POINTS];
    struct rises rises = {.count = 0};
    const bool brief = *tlbs->qualifier && lab->options->effort != FM_THOROUGH;
    const double wanted = brief ? OTHER_PAGES : tlbs->most > 0 ? tlbs->most : FM_TLB_PAGES;
    const double most = fmin(wanted, fm_tlb_memory(lab) / (double)tlbs->page);
    size_t n;
    if (!read_points(lab, tlbs, most, points, &n, err))
        return false;
    struct fm_curve *curve = fm_result_curve(lab->result, tlbs->curve);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"pages", ""};
    curve->y = (struct fm_axis){"translation", "ns"};
    for (size_t i = 0; i < n; i++)
        fm_curve_add(curve, (struct fm_point){points[i].pages, points[i].cost,
                                              points[i].cost - points[i].error,
                                              points[i].cost + points[i].error});
    tlbs->far = n ? points[n - 1].pages : 0;
    memcpy(smooth, points, n * sizeof *points);
    if (!fm_smooth_tlb_points(smooth, n))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the curve");
    rises.count = fm_read_tlb_steps(smooth, n, rises.steps, MOST_RISES);
    if (!join_rises(lab, tlbs, points, n, &rises, err))
        return false;
    tlbs->count = rises.count < FM_TLB_LEVELS ? rises.count : FM_TLB_LEVELS;
    for (size_t i = 0; i < tlbs->count; i++) {
        tlbs->known[i] = fm_tlb_of_rise(&rises.steps[i]);
        tlbs->known[i].alone = rises.alone[i];
        tlbs->known[i].rest = rises.rest[i];
    }
    return true;
}
