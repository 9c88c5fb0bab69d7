/* An event of a level that code and data share counts fetches as well as loads: it tells how much
 * code the level serves, also where no event counts code alone, as AMP has it (section 3.6). */
#include "probe/code_counted.h"

#include <math.h>
#include <stdio.h>

#include "probe/counted.h"

/* How sure the interval is, of an edge that is the same wherever pages lie, and of one that they
   move. */
#define SURE      0.99
#define SURE_SOFT 0.95

/* Pages that an entry might map together, and the most code that is run. */
#define MOST_PAGES 16
#define MOST_CODE  0x1p24

/* Whether an event counts what loads miss, and the structure serves code as well. */
static bool is_shared(const struct fm_lab *lab, unsigned bit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.unified", fm_event_structure(bit));
    const struct fm_finding *unified = fm_result_find(lab->result, property);
    return fm_lab_counted(lab, bit) && !(lab->by_stores & 1u << bit) && unified &&
           unified->status == FM_MEASURED && unified->value.truth;
}

bool fm_code_is_counted(const struct fm_lab *lab, size_t level)
{
    return is_shared(lab, (unsigned)level);
}

bool fm_count_code_tlb(struct fm_lab *lab, struct fm_error *err)
{
    const unsigned bit = FM_CACHE_LEVELS, of_code = FM_CODE_EVENT + 1;
    const size_t page = lab->machine->info.page_size;
    struct fm_counted found = {0};
    if (lab->believed & FM_COUNTS_CODE_TLB || !is_shared(lab, bit))
        return true;
    const struct fm_counted_plan plan = {.bit = bit,
                                         .unit = page,
                                         .longest_line = page * MOST_PAGES,
                                         .from = (double)page,
                                         .to = fmin(MOST_CODE, (double)fm_lab_limit(lab) / 2),
                                         .manner = {.jumps = true},
                                         .curve = "misses-itlb1"};
    const struct fm_counted_voice voice = {.meter = fm_lab_meter(lab, bit),
                                           .method = "misses",
                                           .curves = "misses",
                                           .kind = "",
                                           .sure = SURE,
                                           .sure_soft = SURE_SOFT};
    if (!fm_count_structure(lab, &plan, &found, err))
        return false;
    /* An event that no fetch moves is one of loads alone. */
    if (found.missed)
        fm_report_counted(lab, of_code, &found, &voice);
    return true;
}

bool fm_count_code_level(struct fm_lab *lab, size_t level, const struct fm_code_span *span,
                         struct fm_error *err)
{
    char structure[16], property[FM_PROPERTY_TEXT], curve[32];
    const unsigned bit = (unsigned)level;
    struct fm_counted found = {0};
    snprintf(structure, sizeof structure, "l%zu", level + 1);
    snprintf(property, sizeof property, "%s.code_capacity", structure);
    snprintf(curve, sizeof curve, "misses-code-%s", structure);
    if (!fm_code_is_counted(lab, level))
        return true;
    const struct fm_counted_plan plan = {.bit = bit,
                                         .unit = span->pitch,
                                         .longest_line = span->pitch,
                                         .from = span->from,
                                         .to = span->to,
                                         .inner = span->from,
                                         .manner = {.jumps = true},
                                         .curve = curve};
    if (!fm_counted_edge(lab, &plan, &found, err) ||
        (found.missed && !found.sharp && !fm_counted_average(lab, &plan, &found, err)))
        return false;
    /* An event that no fetch moves is one of loads alone. */
    struct fm_finding *finding =
        found.missed ? fm_result_finding(lab->result, property, "B") : NULL;
    char evidence[sizeof curve + 8];
    snprintf(evidence, sizeof evidence, "curve:%s", curve);
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = "misses",
                                                   .evidence = evidence,
                                                   .value = fm_number(found.effective),
                                                   .low = found.low,
                                                   .high = found.high,
                                                   .confidence = found.sharp ? SURE : SURE_SOFT});
    return true;
}
