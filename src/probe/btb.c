/* The branch target buffer: how many jumps it knows the targets of, and what it costs not to. The
 * same lines are run through by some jumps and by half of them; what the others add, alone, is
 * twice the time of a jump among all less that of one among the half. Lines and pages are asked for
 * alike, so that caches, translation and decoded operations fall out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/median.h"
#include "analysis/tlb_steps.h"
#include "probe/code_fetch.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define MOST_POINTS 72
#define FIRST_JUMPS 8
/* More jumps than any buffer holds. */
static const double most_jumps[] = {
    [FM_QUICK] = 16384, [FM_NORMAL] = 32768, [FM_THOROUGH] = 131072};
/* Points to an octave. */
#define DENSITY 4
/* What a reading can be off by, as a part of all that a jump takes. */
#define READING 0.015
/* Bytes from jump to jump. Buffers differ in how many they hold of one line: the most counts. Half
   of the jumps must lie on all the lines that all of them lie on; where the line is not known it is
   taken to be no shorter than any of today. */
static const struct spacing {
    size_t bytes;
    bool staggered; /* where jumps stand apart, no sets are left empty (fm_dense_plan) */
} spacings[] = {{8, false}, {16, false}, {32, false}, {16, true}};
#define SHORT_LINE 32
#define SPACINGS   (sizeof spacings / sizeof *spacings)
#define LEVELS     3
/* Times an edge, and part of the next, between which a level may show that lies between them. */
#define BEYOND_ONE 2.2
#define SHORT_OF   0.9
/* So few missed targets in a lap are none. */
#define NO_MISS 0.5
/* Part of a rise that is some of it. Where sets fill up one by one it comes little by little: what
   was passed over is less than this part of the entries. */
#define SOME        0.06
#define PASSED_OVER 0.05
/* Times its entries at which the half of the jumps misses as well. */
#define BOTH_MISS 2.5
/* Part of a cycle that the clock shows of one: no miss takes less. */
#define A_CYCLE 0.9
#define LOOKS   3
/* Parts by which two numbers of jumps differ that are the same, and code that ends where a cache
   does. */
#define AGREE 0.1
/* Where an edge may lie on other pages. */
#define WIDER 1.3
#define NEAR  0.15
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.05

struct btb {
    struct fm_tlb_step steps[LEVELS]; /* "pages" are jumps */
    size_t count;
    size_t between; /* the number of one that was looked for between two others; 0: none */
    struct spacing spacing;
    double least_ns; /* a jump, while all are known */
    bool hidden;     /* what was seen may be the end of the cache of code */
};

static double last_edge(const struct btb *btb)
{
    return btb->steps[btb->count - 1].held;
}

static bool time_dense(struct fm_lab *lab, size_t blocks, struct spacing spacing, double *ns,
                       struct fm_error *err)
{
    const struct fm_care care = {.repeats = 4, .jumps = true, .steps = 256};
    const struct fm_dense_plan plan = {.blocks = blocks,
                                       .spacing = spacing.bytes,
                                       .staggered = spacing.staggered,
                                       .page = lab->machine->info.page_size,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    if (!fm_dense_string(&string, &plan, err))
        return false;
    fm_string_flush(&string);
    return fm_lab_time(lab, &string, &care, ns, err);
}

/* What each second jump takes. */
static bool time_jump(struct fm_lab *lab, size_t blocks, struct spacing spacing, double *ns,
                      struct fm_error *err)
{
    const struct spacing twice = {2 * spacing.bytes, spacing.staggered};
    double all, half;
    if (!time_dense(lab, blocks, spacing, &all, err) || !time_dense(lab, blocks, twice, &half, err))
        return false;
    *ns = 2 * all - half;
    return true;
}

static size_t blocks_of(double jumps, struct spacing spacing)
{
    const double blocks = floor(jumps * (double)spacing.bytes / FM_DENSE_BLOCK);
    return blocks > 1 ? (size_t)blocks : 1;
}

static bool place(struct fm_lab *lab, size_t blocks, struct fm_error *err)
{
    return fm_lab_place(lab, (blocks + 1) * FM_DENSE_BLOCK, err);
}

static struct fm_curve *begin_curve(struct fm_lab *lab)
{
    struct fm_curve *curve = fm_result_curve(lab->result, "btb");
    if (curve) {
        curve->x = (struct fm_axis){"jumps", ""};
        curve->y = (struct fm_axis){"a jump more", "ns"};
    }
    return curve;
}

/* A level between two others that costs less than twice what the first does never comes above the
   height that readings had where half of the jumps were still known to that. But they have come
   down from there before it ends: one rise is looked for among those between. The least from each
   on counts, as they are too high again where half of the jumps is known to it. */
static void read_between(const struct fm_tlb_point *plain, size_t n, double cycle_ns,
                         struct btb *btb)
{
    struct fm_tlb_point between[MOST_POINTS];
    struct fm_tlb_step rise;
    for (size_t i = 0; i + 1 < btb->count && btb->count < LEVELS; i++) {
        const double from = BEYOND_ONE * btb->steps[i].held, to = SHORT_OF * btb->steps[i + 1].held;
        size_t first = 0, end = n, m;
        while (first < n && plain[first].pages < from)
            first++;
        while (end > first && plain[end - 1].pages > to)
            end--;
        m = end - first;
        for (size_t j = m; j-- > 0;) {
            between[j] = plain[first + j];
            if (j + 1 < m)
                between[j].cost = fmin(between[j].cost, between[j + 1].cost);
        }
        const double base = m ? between[0].cost : 0;
        for (size_t j = 0; j < m; j++)
            between[j].cost -= base;
        if (fm_read_tlb_steps(between, m, &rise, 1) == 0 ||
            rise.cost - rise.cost_before < A_CYCLE * cycle_ns)
            continue;
        rise.cost += base;
        rise.cost_before += base;
        memmove(&btb->steps[i + 2], &btb->steps[i + 1],
                (btb->count - i - 1) * sizeof btb->steps[0]);
        btb->steps[i + 1] = rise;
        btb->steps[i + 2].cost_before = rise.cost;
        btb->between = i + 1;
        btb->count++;
        return;
    }
}

/* The readings at one spacing, read into rises. What half of the jumps begins to miss later makes
   the readings fall again beyond a rise: the highest so far counts. */
static bool read_curve(struct fm_lab *lab, struct btb *btb, bool draw, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS], plain[MOST_POINTS];
    struct fm_curve *curve = draw ? begin_curve(lab) : NULL;
    const double most = most_jumps[lab->options->effort];
    const size_t each = FM_DENSE_BLOCK / btb->spacing.bytes;
    double highest = 0;
    size_t n = 0;
    if (!place(lab, blocks_of(most, btb->spacing), err))
        return false;
    for (size_t blocks = blocks_of(FIRST_JUMPS, btb->spacing);
         (double)(blocks * each) <= most && n < MOST_POINTS; n++) {
        double ns;
        if (!fm_lab_go_on(lab, 0, err) || !time_jump(lab, blocks, btb->spacing, &ns, err))
            return false;
        const double jumps = (double)(blocks * each);
        if (curve)
            fm_curve_add(curve,
                         (struct fm_point){jumps, ns, ns * (1 - READING), ns * (1 + READING)});
        btb->least_ns = n == 0 ? ns : fmin(btb->least_ns, ns);
        highest = fmax(highest, ns);
        points[n] = (struct fm_tlb_point){jumps, highest, READING * highest};
        plain[n] = (struct fm_tlb_point){jumps, ns, READING * ns};
        const double next = (double)blocks * exp2(1.0 / DENSITY);
        blocks = next > (double)blocks + 1 ? (size_t)next : blocks + 1;
    }
    for (size_t i = 0; i < n; i++) {
        points[i].cost -= btb->least_ns;
        plain[i].cost -= btb->least_ns;
    }
    btb->count = fm_read_tlb_steps(points, n, btb->steps, LEVELS);
    read_between(plain, n, lab->known.cycle_ns, btb);
    return true;
}

/* Whether a rise is there again on fresh pages, each time. */
static bool is_there(struct fm_lab *lab, const struct btb *btb, size_t index, bool *yes,
                     struct fm_error *err)
{
    const struct fm_tlb_step *step = &btb->steps[index];
    /* One that was read from the least of many need not be as high in each reading. */
    const double least_ns = lab->known.cycle_ns * (btb->between == index ? A_CYCLE / 2 : A_CYCLE);
    const size_t held = blocks_of(step->held, btb->spacing);
    const size_t missed = blocks_of(step->missed, btb->spacing);
    *yes = true;
    for (int i = 0; i < LOOKS && *yes; i++) {
        double before, after;
        if (!place(lab, missed, err) || !time_jump(lab, held, btb->spacing, &before, err) ||
            !time_jump(lab, missed, btb->spacing, &after, err))
            return false;
        *yes = after - before > fmax((step->cost - step->cost_before) / 2, least_ns);
    }
    return true;
}

/* Takes rises away that are not there again. */
static bool keep_true_ones(struct fm_lab *lab, struct btb *btb, struct fm_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < btb->count; i++) {
        bool yes;
        if (!is_there(lab, btb, i, &yes, err))
            return false;
        if (yes)
            btb->steps[kept++] = btb->steps[i];
    }
    btb->count = kept;
    return true;
}

/* Halves down to the largest number of blocks all of whose targets are known. */
static bool find_edge(struct fm_lab *lab, const struct btb *btb, struct fm_tlb_step *step,
                      struct fm_error *err)
{
    size_t held = blocks_of(step->held, btb->spacing);
    size_t missed = blocks_of(step->missed, btb->spacing);
    const double each = (double)FM_DENSE_BLOCK / (double)btb->spacing.bytes;
    double base, full, here;
    if (!place(lab, missed, err) || !time_jump(lab, held, btb->spacing, &base, err) ||
        !time_jump(lab, missed, btb->spacing, &full, err))
        return false;
    while (missed - held > 1) {
        const size_t middle = (held + missed) / 2;
        if (!time_jump(lab, middle, btb->spacing, &here, err))
            return false;
        if (here > base + SOME * (full - base))
            missed = middle;
        else
            held = middle;
    }
    step->held = (double)held * each;
    step->missed = (double)missed * each;
    return true;
}

/* What a miss adds: where both strings miss, and before. */
static bool report_cost(struct fm_lab *lab, const struct btb *btb, const char *name, size_t index,
                        struct fm_error *err)
{
    const struct fm_tlb_step *step = &btb->steps[index];
    const double jumps = BOTH_MISS * step->held;
    const double end = index + 1 < btb->count ? step[1].held : 2 * most_jumps[lab->options->effort];
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.miss_cost", name);
    struct fm_finding *finding = fm_result_finding(lab->result, property, "ns");
    if (!finding)
        return true;
    if (jumps > end) {
        fm_undetermined(finding, "no number of jumps makes this level miss and not the next");
        return true;
    }
    const size_t few = blocks_of(fmin(FIRST_JUMPS, step->held), btb->spacing);
    const size_t many = blocks_of(jumps, btb->spacing);
    double sum = 0, low = INFINITY, high = 0;
    for (int i = 0; i < LOOKS; i++) {
        double before, after;
        if (!place(lab, many, err) || !time_jump(lab, few, btb->spacing, &before, err) ||
            !time_jump(lab, many, btb->spacing, &after, err))
            return false;
        sum += (after - before) / LOOKS;
        low = fmin(low, after - before);
        high = fmax(high, after - before);
    }
    finding = fm_result_finding(lab->result, property, "ns");
    if (finding)
        fm_measured(finding, sum, low * (1 - LEAST_WIDTH), high * (1 + LEAST_WIDTH), 0.95,
                    "half-the-jumps", "curve:btb");
    return true;
}

/* The last level is `btb`, those inside it `btb1`, `btb2`. */
static bool report_level(struct fm_lab *lab, struct btb *btb, size_t index, struct fm_error *err)
{
    char name[8] = "btb", property[FM_PROPERTY_TEXT];
    struct fm_tlb_step *step = &btb->steps[index];
    if (index + 1 < btb->count)
        snprintf(name, sizeof name, "btb%zu", index + 1);
    /* Where a buffer is hashed, which jumps are too many for it is a matter of luck. */
    double edges[LOOKS], high = 0;
    for (int i = 0; i < LOOKS; i++) {
        struct fm_tlb_step again = {step->held / WIDER, step->missed * WIDER, 0, 0};
        if (!find_edge(lab, btb, &again, err))
            return false;
        edges[i] = again.held;
        high = fmax(high, again.missed);
    }
    fm_sort(edges, LOOKS);
    step->held = edges[LOOKS / 2];
    step->missed = high;
    snprintf(property, sizeof property, "%s.entries", name);
    struct fm_finding *entries = fm_result_finding(lab->result, property, "");
    if (entries)
        fm_measured(entries, step->held, floor(edges[0] * (1 - PASSED_OVER)), step->missed, 0.9,
                    "half-the-jumps", "curve:btb");
    const struct fm_curve *drawn = fm_result_find_curve(lab->result, "btb");
    if (drawn) {
        struct fm_curve *curve = &lab->result->curves[drawn - lab->result->curves];
        struct fm_step *mark = &curve->steps[curve->step_count++];
        *mark = (struct fm_step){.x = step->held, .y = btb->least_ns + step->cost_before};
        snprintf(mark->label, sizeof mark->label, "%s", name);
    }
    return report_cost(lab, btb, name, index, err);
}

/* Two numbers of jumps that tell of one buffer: the same, or a half or a quarter of it where jumps
   that stand further apart leave sets empty. */
static bool agree(double one, double other)
{
    const double times = one > other ? one / other : other / one;
    const double whole = times < 1.5 ? 1 : times < 3 ? 2 : 4;
    return fabs(times / whole - 1) < AGREE;
}

/* Whether a buffer ends with as many bytes of code as the instruction cache holds. */
static bool ends_with_cache(const struct fm_lab *lab, const struct btb *btb)
{
    const struct fm_finding *cache = fm_result_find(lab->result, "l1i.capacity");
    return cache && cache->status == FM_MEASURED &&
           fabs(last_edge(btb) * (double)btb->spacing.bytes / cache->value.number - 1) < NEAR;
}

/* Whether what ends a buffer at one spacing may be the end of the instruction cache: as many bytes
   of code, and no other spacing that ends elsewhere has that many jumps. A core that fetches ahead
   does so further with some jumps in a line than with others, and then a line's miss does not quite
   fall out. */
static bool may_be_the_cache(const struct fm_lab *lab, const struct btb *all, size_t index)
{
    if (!ends_with_cache(lab, &all[index]))
        return false;
    bool others = false;
    for (size_t i = 0; i < SPACINGS; i++) {
        if (i == index || all[i].count == 0)
            continue;
        others = true;
        if (!ends_with_cache(lab, &all[i]) && agree(last_edge(&all[index]), last_edge(&all[i])))
            return false;
    }
    return others;
}

static double line_of_code(const struct fm_lab *lab)
{
    const struct fm_finding *known = fm_result_find(lab->result, "l1i.line");
    return known && known->status == FM_MEASURED ? known->value.number : (double)SHORT_LINE;
}

/* The spacing at which the last level holds most; that which was counted, where one was. */
static bool choose(struct fm_lab *lab, size_t counted, struct btb *best, struct fm_error *err)
{
    const double line = line_of_code(lab);
    struct btb all[SPACINGS];
    for (size_t i = 0; i < SPACINGS; i++) {
        all[i] = (struct btb){.spacing = spacings[i]};
        if (2 * (double)spacings[i].bytes > line ||
            (counted && (counted != spacings[i].bytes || spacings[i].staggered)))
            continue;
        if (!read_curve(lab, &all[i], false, err) || !keep_true_ones(lab, &all[i], err))
            return false;
        if (all[i].count && !find_edge(lab, &all[i], &all[i].steps[all[i].count - 1], err))
            return false;
    }
    for (size_t i = 0; i < SPACINGS; i++) {
        const bool cache = all[i].count && may_be_the_cache(lab, all, i);
        best->hidden |= cache;
        if (all[i].count && !cache && (best->count == 0 || last_edge(&all[i]) > last_edge(best)))
            *best = all[i];
    }
    return true;
}

/* Jumps of a lap whose target is not known, by their event. */
static bool count_missed(struct fm_lab *lab, size_t blocks, struct spacing spacing, double *missed,
                         struct fm_error *err)
{
    const struct fm_count_care care = {.bit = FM_TARGET_EVENT, .none = NO_MISS, .jumps = true};
    const struct fm_dense_plan plan = {.blocks = blocks,
                                       .spacing = spacing.bytes,
                                       .staggered = spacing.staggered,
                                       .page = lab->machine->info.page_size,
                                       .seed = lab->placement_seed};
    struct fm_string string;
    return fm_dense_string(&string, &plan, err) && fm_count_lap(lab, &string, &care, missed, err);
}

/* The largest number of blocks at one spacing all of whose targets are known, and the one after it;
   after is 0 where there are none of more. */
static bool count_edge(struct fm_lab *lab, struct spacing spacing, size_t *held, size_t *after,
                       struct fm_error *err)
{
    size_t blocks = blocks_of(most_jumps[lab->options->effort], spacing);
    double missed;
    *held = *after = 0;
    if (!place(lab, blocks, err) || !count_missed(lab, blocks, spacing, &missed, err))
        return false;
    if (missed <= NO_MISS) {
        *held = blocks;
        return true;
    }
    for (*after = blocks; *after - *held > 1;) {
        blocks = (*held + *after) / 2;
        if (!count_missed(lab, blocks, spacing, &missed, err))
            return false;
        if (missed <= NO_MISS)
            *held = blocks;
        else
            *after = blocks;
    }
    return true;
}

/* What the event shows, at the spacing at which most is known; jumps is 0 where all is. */
struct counted {
    size_t spacing;
    double jumps, after;
};

static bool count_targets(struct fm_lab *lab, struct counted *found, struct fm_error *err)
{
    *found = (struct counted){0};
    for (size_t i = 0; i < SPACINGS; i++) {
        const double each = (double)FM_DENSE_BLOCK / (double)spacings[i].bytes;
        size_t held, after;
        if (!fm_lab_go_on(lab, 0, err) || !count_edge(lab, spacings[i], &held, &after, err))
            return false;
        if (!after) {
            *found = (struct counted){0};
            return true;
        }
        if ((double)held * each > found->jumps)
            *found = (struct counted){spacings[i].bytes, (double)held * each, (double)after * each};
    }
    return true;
}

/* Whether as many jumps as are asked for take as long as a few, at each spacing. */
static bool is_flat(struct fm_lab *lab, double line, bool *flat, struct fm_error *err)
{
    *flat = true;
    for (size_t i = 0; i < SPACINGS && *flat; i++) {
        const size_t many = blocks_of(most_jumps[lab->options->effort], spacings[i]);
        double few_ns, many_ns;
        if (2 * (double)spacings[i].bytes > line)
            continue;
        if (!place(lab, many, err) ||
            !time_jump(lab, blocks_of(FIRST_JUMPS, spacings[i]), spacings[i], &few_ns, err) ||
            !time_jump(lab, many, spacings[i], &many_ns, err))
            return false;
        *flat = many_ns - few_ns < fmax(2 * READING * many_ns, A_CYCLE * lab->known.cycle_ns / 2);
    }
    return true;
}

static const char *const properties[] = {"btb.entries", "btb.miss_cost", NULL};

/* What the clock shows, after counters have shown which spacing tells, or that none does. */
static bool report_timed(struct fm_lab *lab, size_t spacing, bool flat, struct fm_error *err)
{
    struct btb btb = {0};
    if (!flat && !choose(lab, spacing, &btb, err))
        return false;
    if (btb.count == 0) {
        char reason[sizeof((struct fm_finding *)0)->note];
        snprintf(reason, sizeof reason,
                 btb.hidden
                     ? "jumps take longer where the first cache of code ends, and no spacing "
                       "tells the two apart up to %.0f of them"
                     : "no jump takes longer up to %.0f of them",
                 most_jumps[lab->options->effort]);
        struct fm_finding *entries = fm_result_finding(lab->result, "btb.entries", "");
        if (entries)
            fm_undetermined(entries, reason);
        return true;
    }
    struct btb drawn = {.spacing = btb.spacing};
    if (!read_curve(lab, &drawn, true, err))
        return false;
    for (size_t i = 0; i < btb.count; i++)
        if (!report_level(lab, &btb, i, err))
            return false;
    return true;
}

static void report_counted(struct fm_lab *lab, const struct counted *counted)
{
    struct fm_finding *entries = fm_result_finding(lab->result, "btb.entries", "");
    if (entries)
        fm_testify(entries, &(struct fm_testimony){.meter = fm_lab_meter(lab, FM_TARGET_EVENT),
                                                   .method = "targets",
                                                   .value = fm_number(counted->jumps),
                                                   .low = counted->jumps,
                                                   .high = counted->after,
                                                   .confidence = 0.95});
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const bool counts = lab->believed & FM_COUNTS_TARGETS;
    const double line = line_of_code(lab);
    struct counted counted = {0};
    bool runs, flat = false;
    if (!fm_code_runs(lab, properties, &runs, err))
        return false;
    if (!runs)
        return true;
    if (counts && !count_targets(lab, &counted, err))
        return false;
    if (counts && !counted.spacing && !is_flat(lab, line, &flat, err))
        return false;
    const bool timed = 2 * (double)counted.spacing <= line;
    if (!report_timed(lab, timed ? counted.spacing : 0, flat, err))
        return false;
    if (counted.spacing)
        report_counted(lab, &counted);
    return true;
}

const struct fm_probe fm_probe_btb = {
    .name = "btb",
    .finds = "the branch target buffer: entries, what a missed target costs",
    .needs = "cycle,icache",
    .curve = "btb",
    .share = 0.1,
    .detail = true,
    .run = run,
    .properties = properties,
};
