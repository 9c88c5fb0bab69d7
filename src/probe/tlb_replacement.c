/* Which page a full set of a data TLB gives up: laps as for a cache, over pages. They touch so few
 * lines that the first cache holds them all; a companion touches as many on a few pages, which the
 * TLBs hold too. The difference is the TLB's misses.
 *
 * What the first TLB holds the second never sees. So a lap of the second visits several of its sets
 * that all share one of the first, in one order always: at least as many as that has ways. A page
 * does not come up twice in a row, and when it comes up again too many others have been there. What
 * the first then misses each time is known, and taken off. */
#include <stdio.h>
#include <string.h>

#include "probe/contest.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

/* Sets that run a lap at once; at the most, where they have to share one of the first. */
#define SETS      8
#define MOST_SETS 32
/* Part of the first cache that may be touched. */
#define ROOM           0.75
#define TOO_MANY_LINES "laps would touch more lines than the first cache holds"
/* As much of a page is touched: some lines, or a part of one. */
#define UNIT   64
#define VISITS (UNIT / FM_WORD)
#define SETTLE 32

struct tlb {
    unsigned level; /* 1 or 2 */
    unsigned ways, sets;
    unsigned lap_sets; /* that run a lap at once … */
    size_t apart;      /* … and pages from one to the next, where that matters */
    size_t piece;      /* bytes that an entry maps */
    double before_ns;  /* what each reference takes in the TLB inside */
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

static unsigned event_of(const struct tlb *tlb)
{
    return FM_CACHE_LEVELS + tlb->level - 1;
}

static bool count_lap(struct fm_lab *lab, const struct tlb *tlb,
                      const struct fm_page_lap_plan *plan, const struct fm_lap *lap,
                      struct fm_lap_reading *reading, struct fm_error *err)
{
    const struct fm_lap_count how = {
        .bit = event_of(tlb), .settle = SETTLE, .hit_ns = lab->fastest_ns, .cost_ns = tlb->cost_ns};
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
                                    .sets = tlb->lap_sets,
                                    .stride = tlb->sets,
                                    .apart = tlb->apart,
                                    .page = tlb->piece,
                                    .unit = UNIT,
                                    .seed = fm_lab_seed(lab)};
    double with, without;
    if (fm_laps_are_counted(lab, event_of(tlb)))
        return count_lap(lab, tlb, &plan, lap, reading, err);
    if (!time_string(lab, &plan, &with, err))
        return false;
    plan.companion = true;
    if (!time_string(lab, &plan, &without, err))
        return false;
    reading->misses_ns = (with - without - tlb->before_ns) * lap->length;
    reading->lap_ns = with * lap->length;
    return true;
}

/* A measured attribute of a TLB; "full" is no number, and 0. */
static bool number(const struct fm_lab *lab, unsigned level, const char *attribute, double *value)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%u.%s", level, attribute);
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    const bool known = finding && finding->status == FM_MEASURED;
    *value = known && finding->value.kind == FM_VALUE_NUMBER ? finding->value.number : 0;
    return known;
}

/* What the probe of TLBs found of one; false: not all that is needed. */
static bool recall(const struct fm_lab *lab, unsigned level, struct tlb *tlb)
{
    double entries, ways, piece, cost;
    if (lab->known.tlb_hashed & 1u << (level - 1) || !number(lab, level, "entries", &entries) ||
        !number(lab, level, "ways", &ways) || !number(lab, level, "page_size", &piece) ||
        !number(lab, level, "miss_cost", &cost))
        return false;
    *tlb = (struct tlb){.level = level,
                        .ways = (unsigned)(ways > 0 ? ways : entries),
                        .piece = (size_t)piece,
                        .cost_ns = cost};
    tlb->sets = (unsigned)entries / tlb->ways;
    tlb->lap_sets = tlb->sets < SETS ? tlb->sets : SETS;
    return cost > 0 && tlb->piece >= UNIT;
}

/* Sets whose laps, all pages of which are touched, have room in a part of the first cache: what is
   missed there would be taken for misses of the TLB. */
static unsigned room_for(const struct fm_lab *lab, const struct tlb *tlb)
{
    const struct fm_known_level *cache = &lab->known.levels[0];
    const double bytes = cache->capacity > 0 ? cache->capacity : cache->rise_from;
    const double room = ROOM * bytes / ((2.0 * tlb->ways + 4) * UNIT);
    return bytes > 0 && room < MOST_SETS ? (unsigned)room : MOST_SETS;
}

/* Has the laps of the second run in sets that share one of the first; why that cannot be, or NULL.
 */
static const char *overrun_first(const struct fm_lab *lab, struct tlb *tlb)
{
    struct tlb first;
    if (!recall(lab, 1, &first))
        return "what is to be known of the first TLB, which it stands behind, is not";
    const unsigned shared = tlb->sets / first.sets;
    const unsigned wanted = first.ways > SETS ? first.ways : SETS;
    tlb->apart = first.sets;
    tlb->before_ns = first.cost_ns;
    tlb->lap_sets = shared < wanted ? shared : wanted;
    if (tlb->sets % first.sets || tlb->piece != first.piece || tlb->lap_sets < first.ways ||
        tlb->lap_sets > MOST_SETS)
        return "too few of its sets share one of the first TLB to keep pages out of that";
    return room_for(lab, tlb) < first.ways ? TOO_MANY_LINES : NULL;
}

/* … those of the first in as many as have room. */
static const char *fit_first(const struct fm_lab *lab, struct tlb *tlb)
{
    return room_for(lab, tlb) > 0 ? NULL : TOO_MANY_LINES;
}

static bool ask(struct fm_lab *lab, struct tlb *tlb, struct fm_error *err)
{
    char property[FM_PROPERTY_TEXT], curve[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%u.replacement", tlb->level);
    snprintf(curve, sizeof curve, "laps-dtlb%u", tlb->level);
    const struct fm_contest contest = {
        .property = property,
        .curve = curve,
        .ways = tlb->ways,
        .visits = VISITS,
        .hit_ns = lab->fastest_ns + tlb->before_ns,
        .cost_ns = tlb->cost_ns,
        .meter = fm_lap_meter(lab, event_of(tlb)),
        .time = time_lap,
        .data = tlb,
    };
    return fm_contest(lab, &contest, err);
}

static bool measure(struct fm_lab *lab, unsigned level, struct fm_error *err)
{
    struct tlb tlb;
    char property[FM_PROPERTY_TEXT], reason[sizeof((struct fm_finding *)0)->note];
    snprintf(property, sizeof property, "dtlb%u.replacement", level);
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    const bool known = recall(lab, level, &tlb), single = known && tlb.ways == 1;
    const char *why = NULL;
    if (!known) {
        why = "its ways are not known, or a hash chooses its sets: no pages can be steered to one";
    } else if (single) {
        why = "each page has but one place: there is nothing to choose";
    } else if (tlb.ways > FM_LAP_WAYS) {
        snprintf(reason, sizeof reason, "laps are not made for sets of more than %d ways",
                 FM_LAP_WAYS);
        why = reason;
    } else {
        why = level > 1 ? overrun_first(lab, &tlb) : fit_first(lab, &tlb);
        const unsigned room = room_for(lab, &tlb);
        tlb.lap_sets = room && room < tlb.lap_sets ? room : tlb.lap_sets;
    }
    if (!why)
        return ask(lab, &tlb, err);
    fm_undetermined(finding, why);
    if (single)
        finding->status = FM_ABSENT;
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    return measure(lab, 1, err) &&
           (!fm_result_find(lab->result, "dtlb2.entries") || measure(lab, 2, err));
}

static const char *const properties[] = {"dtlb1.replacement", NULL};

const struct fm_probe fm_probe_tlb_replacement = {
    .name = "tlb-replacement",
    .finds = "which page a full set of a data TLB gives up",
    .needs = "levels,tlb",
    .curve = "laps-dtlb1",
    .share = 0.08,
    .detail = true,
    .run = run,
    .properties = properties,
    .second = "dtlb2.replacement",
    .no_second = FM_NO_SECOND_TLB,
};
