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
