/* Data TLBs, measured: what translation adds to a reference, by the number of pages, read into
 * levels; then each level by itself. */
#include "probe/tlb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/median.h"
#include "analysis/occupancy.h"

/* Memory that is touched at the most, in each effort: huge pages are dear. */
static const double most_memory[] = {
    [FM_QUICK] = 0x1p28, [FM_NORMAL] = 0x1p29, [FM_THOROUGH] = 0x1p30};
/* … and of pages other than the base page, which a second level would need thousands of, so many
   are asked for unless there is time. */
#define OTHER_PAGES 256
#define MOST_POINTS 64
#define FIRST_PAGES 2
/* Points to an octave. */
#define DENSITY 4
/* What a reading can be off by, as a part of all that a reference takes. */
#define READING 0.01
/* … and how many times that two sweeps may differ. */
#define AGREE 2
/* Beyond the end of a rise, where every reference misses, and short of the next. */
#define BEYOND   1.6
#define SHORT_OF 1.2
/* … and for outer levels no further than need be: caches that begin to miss hide a part of it. */
#define NOT_FAR          1.25
#define COST_PLACEMENTS  3
#define ONSET_PLACEMENTS 12
/* Times the pages that a level holds at which all miss, where sets fill unevenly. */
#define SOFT 2
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
/* Part of the step from hit to miss that is some, and no accident. */
#define SOME 0.08
/* … and what caches may add between those that fit and those that miss, to be left out of account.
 */
#define REST 0.02
/* … and that one page more than there are entries must show for these to be told. */
#define SHARP 0.15
/* … and that it shows where none is spared. */
#define ALL 0.85
/* Part of the pages that is tried where those at which a rise seems to begin miss, and how often.
 */
#define STEP_BACK  0.75
#define STEPS_BACK 3
/* The longest stride that must have been tried. */
#define LEAST_STRIDES 5
/* Part of the pages that miss where all do, as good as. */
#define ALL_MISS 0.995
/* Part of the step from hit to miss that strides must not show in a TLB that has but one set, in
   one of a few looks: what disturbs only adds. */
#define STRIDES      0.3
#define STRIDE_LOOKS 3

/* Pages some stride apart, from one on. */
static bool time_pages_from(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t first, size_t count,
                            size_t stride, unsigned repeats, struct fm_translation *found,
                            struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .references = 2 * count, .steps = 256};
    fm_page_list_fill(&tlbs->list, count, stride);
    for (size_t i = 0; i < tlbs->list.count; i++)
        tlbs->list.numbers[i] += (uint32_t)first;
    return fm_time_translation(lab, &tlbs->list, &care, found, err);
}

static bool time_pages(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t count, size_t stride,
                       unsigned repeats, struct fm_translation *found, struct fm_error *err)
{
    return time_pages_from(lab, tlbs, 0, count, stride, repeats, found, err);
}

/* Reads the curve once, on pages of its own. */
static bool sweep(struct fm_lab *lab, struct fm_tlbs *tlbs, double most,
                  struct fm_tlb_point points[MOST_POINTS], size_t *n, struct fm_error *err)
{
    double placed = 0;
    *n = 0;
    for (double pages = FIRST_PAGES; pages <= most && *n < MOST_POINTS; ++*n) {
        struct fm_translation found;
        if (pages > placed) {
            placed = fmin(most, 4 * pages);
            if (!fm_place_pages(lab, &tlbs->list, (size_t)placed, err))
                return false;
        }
        if (!fm_lab_go_on(lab, 0.3 * log(pages) / log(most), err) ||
            !time_pages(lab, tlbs, (size_t)pages, 1, 2, &found, err))
            return false;
        points[*n] = (struct fm_tlb_point){floor(pages), found.cost_ns,
                                           READING * (found.rest_ns + found.cost_ns)};
        pages = fmax(floor(pages) + 1, pages * exp2(1.0 / DENSITY));
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

/* The event of a level; FM_EVENTS: it has none. Counters have counted base pages alone. */
static unsigned event_of(const struct fm_tlbs *tlbs, size_t index)
{
    if (*tlbs->qualifier || tlbs->list.ripen > 0)
        return FM_EVENTS;
    if (tlbs->list.code)
        return index == 0 ? FM_CODE_EVENT + 1 : FM_EVENTS;
    return index < FM_TLB_LEVELS ? FM_CACHE_LEVELS + (unsigned)index : FM_EVENTS;
}

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
        const struct fm_counted *found = fm_lab_counted(lab, event_of(tlbs, i));
        const double pages = found ? found->bytes / (double)tlbs->page : 0;
        if (!found || !found->ways || pages < steps[i].held || pages > steps[i].missed)
            return false;
    }
    return count > 0 && !fm_lab_counted(lab, event_of(tlbs, count));
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

/* Pages at which a level is missed and the next is not. A next one that takes long to be missed may
   have begun before it shows. */
static double beyond_rise(const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_tlb_step *step = &tlbs->known[index].step;
    const struct fm_known_tlb *next = index + 1 < tlbs->count ? &tlbs->known[index + 1] : NULL;
    const double farther = tlbs->known[index].soft ? SOFT : index ? NOT_FAR : BEYOND;
    double end = next ? next->step.held : tlbs->far;
    if (next && next->soft)
        end /= SOFT;
    return fmax(step->missed, fmin(farther * step->missed, end / SHORT_OF));
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
        if (!time_pages_from(lab, tlbs, both[i % 2]->first, pages, 1, 4, &found, err))
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
    const size_t room = fm_lab_limit(lab) / tlbs->page;
    const size_t arena = room < LUCK_ROOM * pages ? room : LUCK_ROOM * pages;
    struct place places[LUCK_READINGS];
    /* The least and the most may be accidents. */
    struct place *low = &places[1], *high = &places[LUCK_READINGS - 2];
    double whole = 0, least_told = 0;
    bool stays = false;
    if (!fm_place_pages(lab, &tlbs->list, arena, err))
        return false;
    for (int i = 0; i < LUCK_READINGS; i++) {
        struct fm_translation found;
        places[i].first = fm_lab_seed(lab) % (arena - pages + 1);
        if (!time_pages_from(lab, tlbs, places[i].first, pages, 1, 2, &found, err))
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

/* Takes out what only seems to be a level: its rise is the beginning of the next one, or none. */
static bool join_rises(struct fm_lab *lab, struct fm_tlbs *tlbs, struct rises *rises,
                       struct fm_error *err)
{
    for (size_t i = 0; i + 1 < rises->count;) {
        enum ledge ledge;
        if (!judge_ledge(lab, tlbs, &rises->steps[i], &ledge, err))
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

static struct fm_known_tlb read_level(const struct fm_tlb_step *step)
{
    return (struct fm_known_tlb){
        .step = *step, .read_cost = step->cost, .soft = step->missed > SOFT * step->held};
}

bool fm_read_tlb_curve(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS];
    struct rises rises = {.count = 0};
    const double memory = fmin(most_memory[lab->options->effort], (double)fm_lab_limit(lab));
    const bool brief = *tlbs->qualifier && lab->options->effort != FM_THOROUGH;
    const double wanted = brief ? OTHER_PAGES : tlbs->most > 0 ? tlbs->most : FM_TLB_PAGES;
    const double most = fmin(wanted, memory / (double)tlbs->page);
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
    if (!fm_smooth_tlb_points(points, n))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the curve");
    rises.count = fm_read_tlb_steps(points, n, rises.steps, MOST_RISES);
    if (!join_rises(lab, tlbs, &rises, err))
        return false;
    tlbs->count = rises.count < FM_TLB_LEVELS ? rises.count : FM_TLB_LEVELS;
    for (size_t i = 0; i < tlbs->count; i++) {
        tlbs->known[i] = read_level(&rises.steps[i]);
        tlbs->known[i].alone = rises.alone[i];
        tlbs->known[i].rest = rises.rest[i];
    }
    return true;
}

/* Measures what a miss costs where all miss: every page, or every so many of which one entry maps
   all. */
static bool measure_cost(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, size_t stride,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const size_t pages = (size_t)beyond_rise(tlbs, index) / stride;
    const size_t need = pages * stride, room = fm_lab_limit(lab) / tlbs->page;
    const size_t arena = room < 2 * need ? need : 2 * need;
    double costs[COST_PLACEMENTS], rest = 0;
    for (int i = 0; i < COST_PLACEMENTS; i++) {
        struct fm_translation found;
        if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
            !time_pages_from(lab, tlbs, fm_lab_seed(lab) % (arena - need + 1), pages, stride, 6,
                             &found, err))
            return false;
        costs[i] = found.cost_ns;
        rest += found.rest_ns;
    }
    /* The middle one: what disturbs may add to either of the two strings that are compared. */
    fm_sort(costs, COST_PLACEMENTS);
    tlb->cost_low = costs[0];
    tlb->step.cost = costs[COST_PLACEMENTS / 2];
    tlb->cost_high = costs[COST_PLACEMENTS - 1];
    tlb->rest_ns = rest / COST_PLACEMENTS;
    return true;
}

/* What a reading at some pages shows beyond one at pages that fit. Some policies miss less often
   one by one than in bursts while a TLB is but a little too small, and the difference of the two
   says nothing but that they miss; where caches take the same before and after the rise, the whole
   is the TLB's. */
static double beyond(const struct fm_translation *found, const struct fm_translation *fits,
                     const struct fm_tlb_step *step, bool caches_rest)
{
    const double more = found->cost_ns - step->cost_before;
    return caches_rest ? found->cost_ns + found->rest_ns - fits->cost_ns - fits->rest_ns
                       : fabs(more);
}

/* The part of the step from hit to miss that so many pages show on a few placements, each of which
   brings another order. Some policies are lucky with most, and noise spoils a reading or two: the
   third largest counts. */
static bool part_beyond(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                        size_t pages, double *part, struct fm_error *err)
{
    const double all = step->cost - step->cost_before;
    /* Ways and sets may make a few pages more than those at which the curve has all miss. */
    const size_t arena = pages > (size_t)step->missed ? pages : (size_t)step->missed;
    double parts[ONSET_PLACEMENTS];
    struct fm_translation fits, full, found;
    for (int i = 0; i < ONSET_PLACEMENTS; i++) {
        if (!fm_place_pages(lab, &tlbs->list, arena, err) ||
            !time_pages(lab, tlbs, (size_t)step->held, 1, 4, &fits, err) ||
            !time_pages(lab, tlbs, (size_t)step->missed, 1, 4, &full, err) ||
            /* Afresh: a TLB that evicts what came first remembers what was before. */
            !fm_place_pages(lab, &tlbs->list, arena, err) ||
            !time_pages(lab, tlbs, pages, 1, 6, &found, err))
            return false;
        const bool caches_rest = fabs(full.rest_ns - fits.rest_ns) < REST * all;
        parts[i] = beyond(&found, &fits, step, caches_rest) / all;
    }
    fm_sort(parts, ONSET_PLACEMENTS);
    *part = parts[ONSET_PLACEMENTS - 3];
    return true;
}

/* Where misses set in. */
struct onset {
    size_t held, missed;
    double part; /* of the step that `missed` pages show */
};

static bool halve(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *step,
                  struct onset *onset, struct fm_error *err)
{
    while (onset->missed - onset->held > 1) {
        const size_t middle = (onset->held + onset->missed) / 2;
        double part;
        if (!part_beyond(lab, tlbs, step, middle, &part, err))
            return false;
        if (part > SOME)
            *onset = (struct onset){onset->held, middle, part};
        else
            onset->held = middle;
    }
    return true;
}

/* A rise that sets out from pages that surely fit: where the curve takes it to begin some may miss,
   in bursts more than one by one. */
static bool pages_that_fit(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct fm_tlb_step *read,
                           struct fm_tlb_step *step, struct fm_error *err)
{
    double part = INFINITY;
    *step = *read;
    for (int i = 0; i < STEPS_BACK && part > SOME; i++) {
        if (!part_beyond(lab, tlbs, step, (size_t)step->held, &part, err))
            return false;
        if (part > SOME && step->held > FIRST_PAGES)
            step->held = fmax(FIRST_PAGES, floor(STEP_BACK * step->held));
    }
    return true;
}

/* Halves down to the largest number of pages that the level holds, all of which then hit. Where
   misses set in little by little, as with victims drawn by lot, the last entries hide among them.
 */
static bool find_onset(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                       bool *sharp, struct fm_error *err)
{
    struct fm_tlb_step step;
    double part;
    if (!pages_that_fit(lab, tlbs, &tlb->step, &step, err))
        return false;
    tlb->step.held = step.held;
    struct onset onset = {(size_t)step.held, (size_t)step.missed, 1};
    /* What held once, by luck, is asked again. */
    if (!halve(lab, tlbs, &step, &onset, err) ||
        !part_beyond(lab, tlbs, &step, onset.held, &part, err))
        return false;
    if (part > SOME && onset.held > (size_t)step.held) {
        onset = (struct onset){(size_t)step.held, onset.held, part};
        if (!halve(lab, tlbs, &step, &onset, err))
            return false;
    }
    /* … and so is what missed once, by noise. */
    if (onset.part > SHARP && !part_beyond(lab, tlbs, &step, onset.missed, &onset.part, err))
        return false;
    tlb->entries = (unsigned)onset.held;
    tlb->spares = onset.part < ALL;
    tlb->method = "pages";
    *sharp = onset.part > SHARP;
    return true;
}

static bool is_prime(size_t number)
{
    for (size_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return true;
}

/* Whether pages any stride apart fit as well as neighbours do: then there is but one set. Of
   several sets a stride that divides their number leaves some empty, and every number but one has a
   prime that does. */
static bool strides_all_fit(struct fm_lab *lab, struct fm_tlbs *tlbs, struct fm_known_tlb *tlb,
                            struct fm_error *err)
{
    const struct fm_tlb_step *step = &tlb->step;
    const size_t count = tlb->entries - tlb->entries / 8;
    const double memory = fmin(most_memory[lab->options->effort], (double)fm_lab_limit(lab));
    const size_t longest = (size_t)fmin(tlb->entries, memory / (double)tlbs->page / (double)count);
    bool all = longest >= LEAST_STRIDES;
    if (all && !fm_place_pages(lab, &tlbs->list, count * longest, err))
        return false;
    for (size_t stride = 2; stride <= longest && all; stride++) {
        struct fm_translation found;
        if (!is_prime(stride))
            continue;
        all = false;
        for (int look = 0; look < STRIDE_LOOKS && !all; look++) {
            if (!time_pages(lab, tlbs, count, stride, 2, &found, err))
                return false;
            all = found.cost_ns - step->cost_before < STRIDES * (step->cost - step->cost_before);
        }
    }
    if (all) {
        tlb->ways = tlb->entries;
        tlb->sets = 1;
    }
    return true;
}

static void take_away(struct fm_tlbs *tlbs, size_t index)
{
    memmove(&tlbs->known[index], &tlbs->known[index + 1],
            (tlbs->count - index - 1) * sizeof tlbs->known[0]);
    tlbs->count--;
}

/* Times the entries of one set that all pages miss. */
#define COMPLETE 1.6
/* Entries up to which all strides can be tried. */
#define FEW_ENTRIES 128

/* Part of its entries that any level holds of neighbours, with room for what others take; and
   where a hash puts them. */
#define MOST_ENTRIES  0.75
#define SOME_ENTRIES  0.25
#define HELD_READINGS 5

/* Where two levels rise as one a group may conflict in the outer of them, or in both together.
   Neighbours that such a level would hold cost more then than those that fit the inner. */
static bool doubt_joined(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                         struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const double part = tlb->hashed ? SOME_ENTRIES : MOST_ENTRIES;
    const size_t pages = (size_t)(part * tlb->ways * tlb->sets);
    double more[HELD_READINGS], least = 0;
    if (!tlb->ways || pages <= (size_t)tlb->step.held)
        return true;
    for (int i = 0; i < HELD_READINGS; i++) {
        struct fm_translation found;
        if (!fm_place_pages(lab, &tlbs->list, pages, err) ||
            !time_pages(lab, tlbs, pages, 1, 4, &found, err))
            return false;
        more[i] = found.cost_ns - tlb->step.cost_before;
        least = fm_least_cost(lab, found.rest_ns);
    }
    fm_sort(more, HELD_READINGS);
    if (more[HELD_READINGS / 2] > least) {
        tlb->ways = tlb->sets = 0;
        tlb->doubt = "fewer pages than it would hold cost more than a few do: two levels may rise "
                     "as one";
    }
    return true;
}

/* Times the entries of a level that all pages miss, or as good as: victims drawn by lot spare one
   page in five of so many, which does not hide as much as a step. */
#define NEARLY_ALL 2

/* The first rise for itself, and the rest of it as one that follows where there is room. */
static bool split(struct fm_tlbs *tlbs, size_t index)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const bool room = tlbs->count < FM_TLB_LEVELS;
    tlb->step = tlb->alone;
    tlb->soft = false;
    if (!room)
        return false;
    memmove(tlb + 2, tlb + 1, (tlbs->count - index - 1) * sizeof *tlb);
    tlb[1] = read_level(&tlb->rest);
    tlbs->count++;
    return true;
}

/* By the first rise alone, where others were joined to it: a policy that spares some pages, or
   another that is not LRU, looks like luck; but a group that conflicts by itself is none. What
   rises far beyond its entries is then another level. */
static bool find_ways(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->alone.held <= 0)
        return fm_find_tlb_ways(lab, tlbs, index, err) && doubt_joined(lab, tlbs, index, err);
    const struct fm_known_tlb joined = *tlb;
    const bool two = split(tlbs, index);
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    if (!measure_cost(lab, tlbs, index, 1, err) || !fm_find_tlb_ways(lab, tlbs, index, err))
        return false;
    if (two && (!tlb->ways || tlb->rest.held < NEARLY_ALL * tlb->ways * tlb->sets))
        take_away(tlbs, index + 1);
    if (tlb->ways)
        return true;
    *tlb = joined;
    return fm_find_tlb_ways(lab, tlbs, index, err) && doubt_joined(lab, tlbs, index, err);
}

static bool measure_level(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index,
                          struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (index > 0)
        tlb->step.cost_before = tlbs->known[index - 1].step.cost;
    if (!find_ways(lab, tlbs, index, err))
        return false;
    double part = 0;
    tlb->entries = tlb->ways * tlb->sets;
    tlb->method = "page-gap";
    /* In one set any pages are a group, and a policy that is lucky with some may let one more seem
       to be the first that misses. */
    if (tlb->sets == 1 && index == 0 &&
        !part_beyond(lab, tlbs, &tlb->step, tlb->entries, &part, err))
        return false;
    if (tlb->ways && part <= SOME)
        return true;
    bool sharp;
    tlb->ways = tlb->sets = 0;
    if (!find_onset(lab, tlbs, tlb, &sharp, err))
        return false;
    /* A hashed index lets misses set in early, and takes long to let all miss. */
    const bool complete = tlb->step.missed < COMPLETE * tlb->entries;
    if (sharp && complete && index == 0 && tlb->entries <= FEW_ENTRIES &&
        !strides_all_fit(lab, tlbs, tlb, err))
        return false;
    /* Jumps to many pages at random are too much for what predicts them. */
    return tlb->ways || tlbs->list.code ||
           (fm_crowd_tlb(lab, tlbs, index, err) && doubt_joined(lab, tlbs, index, err));
}

bool fm_measure_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, bool *is_one,
                    struct fm_error *err)
{
    *is_one = false;
    if (!measure_cost(lab, tlbs, index, 1, err) || !fm_is_a_tlb(lab, tlbs, index, is_one, err))
        return false;
    if (!*is_one) {
        take_away(tlbs, index);
        return true;
    }
    if (!measure_level(lab, tlbs, index, err) || !fm_find_tlb_piece(lab, tlbs, index, err))
        return false;
    struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->hashed || !tlb->ways) {
        /* Sets that a hash chooses are not all too small where most are. */
        const double all = tlb->ways ? (double)fm_occupancy_pages(ALL_MISS, tlb->sets, tlb->ways)
                                     : SOFT * tlb->step.missed;
        const double end = index + 1 < tlbs->count ? tlb[1].step.held : tlbs->far;
        tlb->step.missed = fmax(tlb->step.missed, fmin(all, end / SHORT_OF));
        return measure_cost(lab, tlbs, index, 1, err);
    }
    const size_t shared = tlbs->known[index].piece / tlbs->page;
    return shared <= 1 || measure_cost(lab, tlbs, index, shared, err);
}
