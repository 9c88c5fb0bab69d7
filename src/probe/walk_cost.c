/* What a walk costs when its lines of the page table are in no cache.
 *
 * Pages whose translations, data and tables have all been driven out are visited once each: a walk
 * from memory, and a miss of the data. Then the same again, but for a visit to another line of each
 * page before the translations are driven out: the walk finds its tables in cache. The rest is the
 * same, and the difference is what cold tables add. */
#include <math.h>

#include "analysis/median.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define PLACEMENTS 3
#define PAGES      512
/* Pages whose entries share a line of the tables, at the most: 128 bytes of 8 each. */
#define TABLE_LINE 16
/* Times the footprint of which no cache serves anything any more: going through it drives out all
   that was there before, whatever is evicted, as it drives out itself. */
#define EVICT 1.25
/* Times the pages that miss in the last TLB. */
#define SWEEP 2
#define UNIT  64
#define TRIES 3
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03

static bool time_once(struct fm_lab *lab, const struct fm_cold_plan *plan, double *ns,
                      struct fm_error *err)
{
    struct fm_string string;
    struct fm_sample sample = {.disturbed = true};
    if (!fm_cold_pages_string(&string, plan, err))
        return false;
    bool good = true;
    for (int i = 0; i < TRIES && good && sample.disturbed; i++) {
        good = fm_lab_go_on(lab, 0, err) &&
               lab->machine->ops->run(lab->machine, &string, 1, &sample, err);
        lab->samples++;
        lab->disturbed += good && sample.disturbed;
    }
    fm_string_free(&string);
    *ns = good ? sample.ns / (double)sample.references : 0;
    return good;
}

/* How much longer a walk takes whose tables are cold, on a fresh placement. */
static bool measure(struct fm_lab *lab, struct fm_cold_plan *plan, double *more,
                    struct fm_error *err)
{
    double cold, warm;
    plan->seed = fm_lab_seed(lab);
    if (!fm_lab_place(lab, fm_cold_pages_bytes(plan), err))
        return false;
    plan->warm = false;
    if (!time_once(lab, plan, &cold, err))
        return false;
    plan->warm = true;
    if (!time_once(lab, plan, &warm, err))
        return false;
    *more = fmax(0, cold - warm);
    return true;
}

static void leave_open(struct fm_lab *lab, const char *reason)
{
    struct fm_finding *finding = fm_result_finding(lab->result, "walk.cost_cold", "ns");
    if (finding)
        fm_undetermined(finding, reason);
    finding = fm_result_finding(lab->result, "walk.cost_cold_cycles", "cycles");
    if (finding)
        fm_undetermined(finding, reason);
}

static void report(struct fm_lab *lab, const double more[PLACEMENTS])
{
    const struct fm_known *known = &lab->known;
    const double cost = known->walk_ns + more[PLACEMENTS / 2];
    const double low = (known->walk_low + more[0]) * (1 - LEAST_WIDTH);
    const double high = (known->walk_high + more[PLACEMENTS - 1]) * (1 + LEAST_WIDTH);
    struct fm_finding *finding = fm_result_finding(lab->result, "walk.cost_cold", "ns");
    if (finding)
        fm_measured(finding, cost, low, high, 0.95, "cold-pages", "curve:tlb");
    finding = fm_result_finding(lab->result, "walk.cost_cold_cycles", "cycles");
    if (!finding)
        return;
    if (known->cycle_ns > 0)
        fm_measured(finding, cost / known->cycle_ns, low / known->cycle_high,
                    high / known->cycle_low, 0.95, "cold-pages", "curve:tlb");
    else
        fm_undetermined(finding, "the cycle time is not known");
}

/* Where the last cache no longer serves anything, in bytes; 0: not seen. */
static double beyond_caches(const struct fm_known *known)
{
    return known->count >= 2 && known->memory_seen ? known->levels[known->count - 2].rise_to : 0;
}

/* The shortest line of all caches, at least that of most: one reference to each drives all out. */
static size_t shortest_line(const struct fm_known *known)
{
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i + 1 < known->count; i++)
        if (known->levels[i].line < shortest)
            shortest = known->levels[i].line;
    return shortest < UNIT ? UNIT : shortest;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known *known = &lab->known;
    const size_t page = lab->machine->info.page_size;
    const double edge = beyond_caches(known);
    struct fm_cold_plan plan = {
        .unit = shortest_line(known), .page = page, .count = PAGES, .apart = TABLE_LINE};
    if (known->walk_ns <= 0) {
        leave_open(lab, known->pages_grow ? "pages grew while they were used"
                                          : "no TLB was seen to miss");
        return true;
    }
    if (edge <= 0) {
        leave_open(lab, "the footprint at which no cache serves any more is not known");
        return true;
    }
    plan.sweep = (size_t)(SWEEP * known->walk_pages);
    plan.evict_bytes = ((size_t)(EVICT * edge) / page + 1) * page;
    if (fm_lab_limit(lab) < fm_cold_pages_bytes(&plan)) {
        leave_open(lab, "to empty all caches takes more memory than may be touched");
        return true;
    }
    double more[PLACEMENTS];
    for (int i = 0; i < PLACEMENTS; i++)
        if (!fm_lab_go_on(lab, (double)i / PLACEMENTS, err) || !measure(lab, &plan, &more[i], err))
            return false;
    fm_sort(more, PLACEMENTS);
    report(lab, more);
    return true;
}

static const char *const properties[] = {"walk.cost_cold", "walk.cost_cold_cycles", NULL};

const struct fm_probe fm_probe_walk_cost = {
    .name = "walk",
    .finds = "what a page walk costs with its tables not in cache",
    .needs = "cycle,levels,tlb",
    .share = 0.06,
    .detail = true,
    .run = run,
    .properties = properties,
};
