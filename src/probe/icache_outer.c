/* The levels behind the first cache of code, as code sees them: how much of it they serve, what a
 * miss adds, and whether data pushes it out. */
#include <math.h>
#include <stdio.h>

#include "probe/icache.h"
#include "probe/unified.h"

#define PLACEMENTS 3
/* Times an edge that data takes which is to push code out, where there is room for as much before
   the edge after that: a level that includes others takes their lines along. */
#define FLOODED  2
#define SHORT_OF 0.9
/* Part of a miss in each jump that shows that data has pushed code out; and that says that it has
   not. */
#define PUSHED_OUT 0.5
#define STAYED     0.15
/* A rise that costs so many times what a miss of the first level does is not that of one level. */
#define OF_TWO 1.5
/* … nor is one as wide as this. */
#define WIDE 4
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03

bool fm_ask_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                 enum fm_code_fate *fate, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const double code = sqrt(rise[-1].missed * rise->held);
    const double room = step + 1 < icache->count ? SHORT_OF * rise[1].held - code : INFINITY;
    const double data = fmin(FLOODED * rise->missed, fmax(rise->missed, room));
    const double miss = rise->cost - rise->cost_before;
    double more, sum = 0;
    *fate = FM_CODE_UNCLEAR;
    if (code + data > (double)fm_lab_limit(lab) / 2)
        return true;
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_time_after_data(lab, (size_t)code, (size_t)data, &more, err))
            return false;
        sum += more / PLACEMENTS;
    }
    if (sum > PUSHED_OUT * miss || sum < STAYED * miss)
        *fate = sum < STAYED * miss ? FM_CODE_STAYS : FM_CODE_PUSHED_OUT;
    return true;
}

/* A finding of a level, counted from 1, that is code's alone or one of code and data. */
static struct fm_finding *level_finding(struct fm_lab *lab, size_t level, bool alone,
                                        const char *attribute, const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, alone ? "l%zui.%s" : "l%zu.code_%s", level, attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void report_level(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                         size_t level, bool alone)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const bool room = level_finding(lab, level, alone, "capacity", "B");
    struct fm_finding *miss = level_finding(lab, level, alone, "miss_latency", "ns");
    /* Asked for once more: making the second may have moved the first. */
    struct fm_finding *capacity = level_finding(lab, level, alone, "capacity", "B");
    if (!room || !miss || !capacity)
        return;
    if (rise->missed >= SHORT_OF * icache->far) {
        fm_undetermined(capacity, "the curve ends before all of the code misses");
        fm_undetermined(miss, "the curve ends before all of the code misses");
        return;
    }
    fm_measured(capacity, sqrt(rise->held * rise->missed), rise->held, rise->missed, 0.9, "lines",
                "curve:code");
    if (rise->missed > WIDE * rise->held) {
        fm_undetermined(miss, "misses set in so slowly that they may be those of two levels");
        return;
    }
    /* Misses may still grow a little up to where the next level's begin. */
    const double low = rise->cost - rise->cost_before;
    const double high =
        step + 1 < icache->count ? fmax(low, rise[1].cost_before - rise->cost_before) : low;
    fm_measured(miss, (low + high) / 2, low * (1 - LEAST_WIDTH), high * (1 + LEAST_WIDTH), 0.9,
                "lines", "curve:code");
}

bool fm_report_code_levels(struct fm_lab *lab, const struct fm_icache *icache, size_t first,
                           double miss_ns, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[first];
    if (first + 1 < icache->count && rise->cost - rise->cost_before > OF_TWO * miss_ns) {
        struct fm_finding *capacity = level_finding(lab, 2, false, "capacity", "B");
        if (capacity)
            fm_undetermined(capacity, "its misses begin where those of the first cache do");
        return true;
    }
    for (size_t i = first + 1; i < icache->count; i++) {
        enum fm_code_fate fate;
        if (!fm_lab_go_on(lab, 0.9, err) || !fm_ask_data(lab, icache, i, &fate, err))
            return false;
        report_level(lab, icache, i, i - first + 1, fate == FM_CODE_STAYS);
    }
    return true;
}
