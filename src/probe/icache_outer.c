/* Whether data pushes code out of a level. */
#include <math.h>

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

/* Code that a level holds which the one inside does not, and data that is to push it out. */
struct flood {
    double code, data;
    double full; /* code and data that the level surely does not hold */
    double miss; /* what a miss of it costs */
};

/* As much data as fills a level, but not so much as is too much for the next, a few misses of which
   cost as much as many of this one. */
static double data_beside(double code, double held, double missed, double next)
{
    return fmin(fmax(FLOODED * held, missed), SHORT_OF * next - code);
}

static bool ask(struct fm_lab *lab, const struct flood *flood, size_t pitch,
                enum fm_code_fate *fate, struct fm_error *err)
{
    double more, sum = 0;
    *fate = FM_CODE_UNCLEAR;
    if (flood->code + flood->data < flood->full ||
        flood->code + flood->data > (double)fm_lab_limit(lab) / 2)
        return true;
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_time_after_data(lab, (size_t)flood->code, (size_t)flood->data, pitch, &more, err))
            return false;
        sum += more / PLACEMENTS;
    }
    if (sum > PUSHED_OUT * flood->miss)
        *fate = FM_CODE_PUSHED_OUT;
    /* Less than fills the level may leave all code there. */
    else if (sum < STAYED * flood->miss && flood->data >= flood->full)
        *fate = FM_CODE_STAYS;
    return true;
}

bool fm_ask_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                 enum fm_code_fate *fate, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const double code = sqrt(rise[-1].missed * rise->held);
    const double next = step + 1 < icache->count ? rise[1].held : INFINITY;
    const struct flood flood = {.code = code,
                                .data = data_beside(code, rise->held, rise->missed, next),
                                .full = rise->missed,
                                .miss = rise->cost - rise->cost_before};
    return ask(lab, &flood, icache->pitch, fate, err);
}

bool fm_ask_second_of_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                           enum fm_code_fate *fate, struct fm_error *err)
{
    const struct fm_known *known = &lab->known;
    const struct fm_known_level *second = &known->levels[1], *third = second + 1;
    *fate = FM_CODE_UNCLEAR;
    /* The second must be a cache, and hold code that the rise has shown to be too much; as much as
       it does, since the level inside may still have a part of less. */
    const double code = SHORT_OF * second->rise_from;
    if (known->count < 3 || code < icache->steps[step].missed)
        return true;
    const double next = known->count > 3 ? third->rise_from : INFINITY;
    const struct flood flood = {.code = code,
                                .data = data_beside(code, second->rise_from, second->rise_to, next),
                                .full = second->rise_to,
                                .miss = third->height_ns - second->height_ns};
    return ask(lab, &flood, icache->pitch, fate, err);
}
