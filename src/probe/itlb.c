/* TLBs of code: the strings over pages that find those of data, walked by jumps. A branch predictor
 * and what holds decoded operations see the same jumps in both orders, so the difference is
 * translation's alone here too. */
#include "probe/code_counted.h"
#include "probe/code_fetch.h"
#include "probe/probe.h"
#include "probe/tlb.h"

static const char *const properties[] = {
    "itlb1.entries",          "itlb1.reach", "itlb1.ways", "itlb1.page_size", "itlb1.miss_cost",
    "itlb1.miss_cost_cycles", NULL};

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    bool runs;
    if (!fm_code_runs(lab, properties, &runs, err))
        return false;
    if (!runs)
        return true;
    if (!lab->known.pages_grow)
        return fm_survey_code_tlbs(lab, err) && fm_count_code_tlb(lab, err);
    struct fm_finding *entries = fm_result_finding(lab->result, "itlb1.entries", "");
    if (entries)
        fm_undetermined(entries, "pages grow while they are used");
    return true;
}

const struct fm_probe fm_probe_itlb = {
    .name = "itlb",
    .finds = "instruction TLBs: entries, ways, reach, what a miss costs; whether data shares them",
    .needs = "cycle,tlb",
    .curve = "itlb",
    .share = 0.2,
    .detail = true,
    .run = run,
    .properties = properties,
};
