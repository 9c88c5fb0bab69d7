/* The levels behind the first cache of code, as code sees them: how much of it they serve, what a
 * miss adds, and whether data pushes it out. */
#include <math.h>
#include <stdio.h>

#include "probe/icache.h"
#include "probe/unified.h"

#define PLACEMENTS 3
/* Times an edge that data takes which is to push code out, and part of the next edge that is short
   of it: a level that includes others takes their lines along. */
#define FLOODED  2
#define SHORT_OF 0.9
/* Part of a miss in each jump that shows that data has pushed code out; and that says that it has
   not. */
#define PUSHED_OUT 0.5
#define STAYED     0.15
/* A rise that costs so many times what a miss of the first level does is not that of one level. */
#define OF_TWO 1.5

bool fm_ask_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                 enum fm_code_fate *fate, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const double code = sqrt(rise[-1].missed * rise->held);
    const double room = step + 1 < icache->count ? SHORT_OF * rise[1].held - code : INFINITY;
    const double data = fmin(fmax(FLOODED * rise->held, rise->missed), room);
    const double miss = rise->cost - rise->cost_before;
    double more, sum = 0;
    *fate = FM_CODE_UNCLEAR;
    /* What fills this level must not be too much for the next, a few misses of which cost as much
       as many of this one. */
    if (code + data < rise->missed || code + data > (double)fm_lab_limit(lab) / 2)
        return true;
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_time_after_data(lab, (size_t)code, (size_t)data, &more, err))
            return false;
        sum += more / PLACEMENTS;
    }
    if (sum > PUSHED_OUT * miss)
        *fate = FM_CODE_PUSHED_OUT;
    /* Less than fills the level may leave all code there. */
    else if (sum < STAYED * miss && data >= rise->missed)
        *fate = FM_CODE_STAYS;
    return true;
}

/* That there seems to be a level of code alone. Data may leave code in a shared one too, so it is
   said and not counted as found. */
static void report_level(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                         size_t level)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    char property[FM_PROPERTY_TEXT], reason[sizeof((struct fm_finding *)0)->note];
    snprintf(property, sizeof property, "l%zui.capacity", level);
    struct fm_finding *capacity = fm_result_finding(lab->result, property, "B");
    snprintf(
        reason, sizeof reason,
        "loads do not push code out of a level whose misses begin after %.0f bytes and are many "
        "at %.0f: it may be one of code alone",
        rise->held, rise->missed);
    if (capacity)
        fm_undetermined(capacity, reason);
}

bool fm_report_code_levels(struct fm_lab *lab, const struct fm_icache *icache, size_t first,
                           double miss_ns, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[first];
    /* Which level a further rise is that of would not be known. */
    if (rise->cost - rise->cost_before > OF_TWO * miss_ns)
        return true;
    for (size_t i = first + 1; i < icache->count; i++) {
        enum fm_code_fate fate;
        if (!fm_lab_go_on(lab, 0.9, err) || !fm_ask_data(lab, icache, i, &fate, err))
            return false;
        if (fate != FM_CODE_STAYS)
            return true;
        report_level(lab, icache, i, i - first + 1);
    }
    return true;
}
