/* Which page a full set of the first data TLB gives up: laps as for a cache, over pages. They touch
 * so few lines that the first cache holds them all; a companion touches as many on a few pages,
 * which the TLB holds too. The difference is the TLB's misses. */
#include <stdio.h>
#include <string.h>

#include "probe/contest.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

/* Sets that run a lap at once. */
#define SETS 8
/* As much of a page is touched: some lines, or a part of one. */
#define UNIT   64
#define VISITS (UNIT / FM_WORD)
#define SETTLE 32

struct tlb {
    unsigned ways, sets;
    size_t piece; /* bytes that an entry maps */
    double cost_ns;
};

/* Fresh pages, of which a TLB knows none: one that gives up what came first would else go by the
   order of the lap before, for ever. */
static bool build(struct fm_lab *lab, const struct fm_page_lap_plan *plan, struct fm_string *string,
                  struct fm_error *err)
{
    return fm_lab_place(lab, plan->blocks * plan->stride * plan->page, err) &&
           fm_page_lap_string(string, plan, err);
}

static bool time_string(struct fm_lab *lab, const struct fm_page_lap_plan *plan, double *ns,
                        struct fm_error *err)
{
    struct fm_string string;
    return build(lab, plan, &string, err) && fm_time_laps(lab, &string, SETTLE, ns, err);
}

static bool count_lap(struct fm_lab *lab, const struct tlb *tlb,
                      const struct fm_page_lap_plan *plan, const struct fm_lap *lap,
                      struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct fm_lap_count how = {.bit = FM_CACHE_LEVELS,
                                     .settle = SETTLE,
                                     .hit_ns = lab->fastest_ns,
                                     .cost_ns = tlb->cost_ns};
    struct fm_string string;
    return build(lab, plan, &string, err) && fm_count_laps(lab, &string, &how, lap, reading, err);
}

static bool time_lap(struct fm_lab *lab, void *data, const struct fm_lap *lap,
                     struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct tlb *tlb = data;
    struct fm_page_lap_plan plan = {.block = lap->block,
                                    .length = lap->length,
                                    .blocks = lap->blocks,
                                    .sets = tlb->sets < SETS ? tlb->sets : SETS,
                                    .stride = tlb->sets,
                                    .page = tlb->piece,
                                    .unit = UNIT,
                                    .seed = fm_lab_seed(lab)};
    double with, without;
    if (fm_laps_are_counted(lab, FM_CACHE_LEVELS))
        return count_lap(lab, tlb, &plan, lap, reading, err);
    if (!time_string(lab, &plan, &with, err))
        return false;
    plan.companion = true;
    if (!time_string(lab, &plan, &without, err))
        return false;
    reading->misses_ns = (with - without) * lap->length;
    reading->lap_ns = with * lap->length;
    return true;
}

static bool number(const struct fm_lab *lab, const char *property, double *value)
{
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    const bool known = finding && finding->status == FM_MEASURED;
    *value = known && finding->value.kind == FM_VALUE_NUMBER ? finding->value.number : 0;
    return known;
}

/* What the probe of TLBs found of the first; false: not all that is needed. */
static bool recall(const struct fm_lab *lab, struct tlb *tlb)
{
    double entries, ways, piece, cost;
    if (lab->known.tlb_hashed || !number(lab, "dtlb1.entries", &entries) ||
        !number(lab, "dtlb1.ways", &ways) || !number(lab, "dtlb1.page_size", &piece) ||
        !number(lab, "dtlb1.miss_cost", &cost))
        return false;
    tlb->ways = (unsigned)(ways > 0 ? ways : entries); /* "full" is no number */
    tlb->sets = (unsigned)entries / tlb->ways;
    tlb->piece = (size_t)piece;
    tlb->cost_ns = cost;
    return cost > 0 && tlb->piece >= UNIT;
}

static bool ask(struct fm_lab *lab, struct tlb *tlb, struct fm_error *err)
{
    const struct fm_contest contest = {
        .property = "dtlb1.replacement",
        .curve = "laps-dtlb1",
        .ways = tlb->ways,
        .visits = VISITS,
        .hit_ns = lab->fastest_ns,
        .cost_ns = tlb->cost_ns,
        .meter = fm_lap_meter(lab, FM_CACHE_LEVELS),
        .time = time_lap,
        .data = tlb,
    };
    return fm_contest(lab, &contest, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct tlb tlb;
    struct fm_finding *finding = fm_result_finding(lab->result, "dtlb1.replacement", "");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (!recall(lab, &tlb)) {
        fm_undetermined(
            finding,
            "its ways are not known, or a hash chooses its sets: no pages can be steered to one");
        return true;
    }
    if (tlb.ways == 1) {
        fm_undetermined(finding, "each page has but one place: there is nothing to choose");
        finding->status = FM_ABSENT;
        return true;
    }
    if (tlb.ways > FM_LAP_WAYS) {
        char reason[sizeof finding->note];
        snprintf(reason, sizeof reason, "laps are not made for sets of more than %d ways",
                 FM_LAP_WAYS);
        fm_undetermined(finding, reason);
        return true;
    }
    return ask(lab, &tlb, err);
}

static const char *const properties[] = {"dtlb1.replacement", NULL};

const struct fm_probe fm_probe_tlb_replacement = {
    .name = "tlb-replacement",
    .finds = "which page a full set of the first data TLB gives up",
    .needs = "tlb",
    .curve = "laps-dtlb1",
    .share = 0.05,
    .detail = true,
    .run = run,
    .properties = properties,
};
