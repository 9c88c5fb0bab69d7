/* The branch target buffer: how many jumps it knows the targets of, and what it costs not to. The
 * same lines are run through by some jumps and by half of them; what the others add, alone, is
 * twice the time of a jump among all less that of one among the half. Lines and pages are asked for
 * alike, so that caches, translation and decoded operations fall out. */
#include <math.h>
#include <stdio.h>

#include "analysis/median.h"
#include "probe/btb.h"
#include "probe/code_fetch.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

/* Bytes from jump to jump. Buffers differ in how many they hold of one line: the most counts. Half
   of the jumps must lie on all the lines that all of them lie on; where the line is not known it is
   taken to be no shorter than any of today. */
static const struct fm_spacing spacings[] = {{8, false}, {16, false}, {32, false}, {16, true}};
#define SHORT_LINE 32
#define SPACINGS   (sizeof spacings / sizeof *spacings)
/* So few missed targets in a lap are none. */
#define NO_MISS 0.5
/* Part of a rise that is some of it. Where sets fill up one by one it comes little by little: what
   was passed over is less than this part of the entries. */
#define SOME        0.06
#define PASSED_OVER 0.05
/* … and the part at which a buffer surely has no room for all, whatever the luck of its sets. */
#define HALF 0.5
/* Times its entries at which the half of the jumps misses as well. */
#define BOTH_MISS 2.5
#define LOOKS     3
/* Parts by which two numbers of jumps differ that are the same, and code that ends where a cache
   does. */
#define AGREE 0.1
/* Where an edge may lie on other pages. */
#define WIDER 1.3
#define NEAR  0.15
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.05

static double last_edge(const struct fm_btb *btb)
{
    return btb->steps[btb->count - 1].held;
}

/* Whether a rise is there again on fresh pages, each time. */
static bool is_there(struct fm_lab *lab, const struct fm_btb *btb, size_t index, bool *yes,
                     struct fm_error *err)
{
    const struct fm_tlb_step *step = &btb->steps[index];
    /* One that was read from the least of many need not be as high in each reading. */
    const double least_ns =
        lab->known.cycle_ns * (btb->between == index ? FM_JUMP_CYCLE / 2 : FM_JUMP_CYCLE);
    const size_t held = fm_jump_blocks(step->held, btb->spacing);
    const size_t missed = fm_jump_blocks(step->missed, btb->spacing);
    *yes = true;
    for (int i = 0; i < LOOKS && *yes; i++) {
        double before, after;
        if (!fm_place_jumps(lab, missed, err) ||
            !fm_time_jump(lab, held, btb->spacing, &before, err) ||
            !fm_time_jump(lab, missed, btb->spacing, &after, err))
            return false;
        *yes = after - before > fmax((step->cost - step->cost_before) / 2, least_ns);
    }
    return true;
}

/* Takes rises away that are not there again. */
static bool keep_true_ones(struct fm_lab *lab, struct fm_btb *btb, struct fm_error *err)
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

/* Halves down to the largest number of blocks at which less than a part of the rise is seen. */
static bool find_edge(struct fm_lab *lab, const struct fm_btb *btb, double part,
                      struct fm_tlb_step *step, struct fm_error *err)
{
    size_t held = fm_jump_blocks(step->held, btb->spacing);
    size_t missed = fm_jump_blocks(step->missed, btb->spacing);
    const double each = (double)FM_DENSE_BLOCK / (double)btb->spacing.bytes;
    double base, full, here;
    if (!fm_place_jumps(lab, missed, err) || !fm_time_jump(lab, held, btb->spacing, &base, err) ||
        !fm_time_jump(lab, missed, btb->spacing, &full, err))
        return false;
    while (missed - held > 1) {
        const size_t middle = (held + missed) / 2;
        if (!fm_time_jump(lab, middle, btb->spacing, &here, err))
            return false;
        if (here > base + part * (full - base))
            missed = middle;
        else
            held = middle;
    }
    step->held = (double)held * each;
    step->missed = (double)missed * each;
    return true;
}

/* What a miss adds, over some looks; NAN: there is no telling. */
struct cost {
    double mean, low, high;
};

/* Where both strings miss, and before. */
static bool time_cost(struct fm_lab *lab, const struct fm_btb *btb, size_t index, struct cost *cost,
                      struct fm_error *err)
{
    const struct fm_tlb_step *step = &btb->steps[index];
    const double jumps = BOTH_MISS * step->held;
    const double end = index + 1 < btb->count ? step[1].held : 2 * fm_most_jumps(lab);
    const size_t few = fm_jump_blocks(fmin(FM_FIRST_JUMPS, step->held), btb->spacing);
    const size_t many = fm_jump_blocks(jumps, btb->spacing);
    *cost = (struct cost){NAN, NAN, NAN};
    if (jumps > end)
        return true;
    *cost = (struct cost){0, INFINITY, -INFINITY};
    for (int i = 0; i < LOOKS; i++) {
        double before, after;
        if (!fm_place_jumps(lab, many, err) ||
            !fm_time_jump(lab, few, btb->spacing, &before, err) ||
            !fm_time_jump(lab, many, btb->spacing, &after, err))
            return false;
        cost->mean += (after - before) / LOOKS;
        cost->low = fmin(cost->low, after - before);
        cost->high = fmax(cost->high, after - before);
    }
    return true;
}

static void report_cost(struct fm_lab *lab, const char *name, const struct cost *cost)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.miss_cost", name);
    struct fm_finding *finding = fm_result_finding(lab->result, property, "ns");
    if (!finding)
        return;
    if (isnan(cost->mean))
        fm_undetermined(finding, "no number of jumps makes this level miss and not the next");
    else
        fm_measured(finding, cost->mean, cost->low * (1 - LEAST_WIDTH),
                    cost->high * (1 + LEAST_WIDTH), 0.95, "half-the-jumps", "curve:btb");
}

/* The last level is `btb`, those inside it `btb1`, `btb2`. */
static bool report_level(struct fm_lab *lab, struct fm_btb *btb, size_t index, struct fm_error *err)
{
    char name[8] = "btb", property[FM_PROPERTY_TEXT];
    struct fm_tlb_step *step = &btb->steps[index];
    struct cost cost;
    if (index + 1 < btb->count)
        snprintf(name, sizeof name, "btb%zu", index + 1);
    /* Where a buffer is hashed, which jumps are too many for it is a matter of luck. */
    double edges[LOOKS], high = 0;
    for (int i = 0; i < LOOKS; i++) {
        const struct fm_tlb_step around = {step->held / WIDER, step->missed * WIDER, 0, 0};
        struct fm_tlb_step begins = around, half = around;
        if (!find_edge(lab, btb, SOME, &begins, err) || !find_edge(lab, btb, HALF, &half, err))
            return false;
        edges[i] = begins.held;
        high = fmax(high, fmax(begins.missed, half.missed));
    }
    fm_sort(edges, LOOKS);
    step->held = edges[LOOKS / 2];
    step->missed = high;
    if (!time_cost(lab, btb, index, &cost, err))
        return false;
    /* A level inside that costs nothing to miss was none. */
    if (index + 1 < btb->count && cost.low <= 0)
        return true;
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
    report_cost(lab, name, &cost);
    return true;
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
static bool ends_with_cache(const struct fm_lab *lab, const struct fm_btb *btb)
{
    const struct fm_finding *cache = fm_result_find(lab->result, "l1i.capacity");
    return cache && cache->status == FM_MEASURED &&
           fabs(last_edge(btb) * (double)btb->spacing.bytes / cache->value.number - 1) < NEAR;
}

/* Whether what ends a buffer at one spacing may be the end of the instruction cache: as many bytes
   of code, and no other spacing that ends elsewhere has that many jumps. A core that fetches ahead
   does so further with some jumps in a line than with others, and then a line's miss does not quite
   fall out. */
static bool may_be_the_cache(const struct fm_lab *lab, const struct fm_btb *all, size_t index)
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
static bool choose(struct fm_lab *lab, size_t counted, struct fm_btb *best, struct fm_error *err)
{
    const double line = line_of_code(lab);
    struct fm_btb all[SPACINGS];
    for (size_t i = 0; i < SPACINGS; i++) {
        all[i] = (struct fm_btb){.spacing = spacings[i]};
        if (2 * (double)spacings[i].bytes > line ||
            (counted && (counted != spacings[i].bytes || spacings[i].staggered)))
            continue;
        if (!fm_read_jump_curve(lab, &all[i], false, err) || !keep_true_ones(lab, &all[i], err))
            return false;
        if (all[i].count && !find_edge(lab, &all[i], SOME, &all[i].steps[all[i].count - 1], err))
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
static bool count_missed(struct fm_lab *lab, size_t blocks, struct fm_spacing spacing,
                         double *missed, struct fm_error *err)
{
    const struct fm_count_care care = {
        .bit = FM_TARGET_EVENT, .none = NO_MISS, .manner = {.jumps = true}};
    const struct fm_dense_plan plan = fm_jump_plan(lab, blocks, spacing);
    struct fm_string string;
    return fm_dense_string(&string, &plan, err) && fm_count_lap(lab, &string, &care, missed, err);
}

/* The largest number of blocks at one spacing all of whose targets are known, and the one after it;
   after is 0 where there are none of more. */
static bool count_edge(struct fm_lab *lab, struct fm_spacing spacing, size_t *held, size_t *after,
                       struct fm_error *err)
{
    size_t blocks = fm_jump_blocks(fm_most_jumps(lab), spacing);
    double missed;
    *held = *after = 0;
    if (!fm_place_jumps(lab, blocks, err) || !count_missed(lab, blocks, spacing, &missed, err))
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
        if (spacings[i].staggered)
            continue;
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
        const size_t many = fm_jump_blocks(fm_most_jumps(lab), spacings[i]);
        double few_ns, many_ns;
        if (2 * (double)spacings[i].bytes > line)
            continue;
        if (!fm_place_jumps(lab, many, err) ||
            !fm_time_jump(lab, fm_jump_blocks(FM_FIRST_JUMPS, spacings[i]), spacings[i], &few_ns,
                          err) ||
            !fm_time_jump(lab, many, spacings[i], &many_ns, err))
            return false;
        *flat = many_ns - few_ns <
                fmax(2 * FM_JUMP_READING * many_ns, FM_JUMP_CYCLE * lab->known.cycle_ns / 2);
    }
    return true;
}

static const char *const properties[] = {"btb.entries", "btb.miss_cost", NULL};

/* What the clock shows, after counters have shown which spacing tells, or that none does. */
static bool report_timed(struct fm_lab *lab, size_t spacing, bool flat, struct fm_error *err)
{
    struct fm_btb btb = {0};
    if (!flat && !choose(lab, spacing, &btb, err))
        return false;
    if (btb.count == 0) {
        char reason[sizeof((struct fm_finding *)0)->note];
        snprintf(reason, sizeof reason,
                 btb.hidden
                     ? "jumps take longer where the first cache of code ends, and no spacing "
                       "tells the two apart up to %.0f of them"
                     : "no jump takes longer up to %.0f of them",
                 fm_most_jumps(lab));
        struct fm_finding *entries = fm_result_finding(lab->result, "btb.entries", "");
        if (entries)
            fm_undetermined(entries, reason);
        return true;
    }
    struct fm_btb drawn = {.spacing = btb.spacing};
    if (!fm_read_jump_curve(lab, &drawn, true, err))
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
    .share = 0.15,
    .detail = true,
    .run = run,
    .properties = properties,
};
