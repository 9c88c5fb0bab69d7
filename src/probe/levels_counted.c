#include "probe/levels_counted.h"

#include <math.h>

#include "probe/lab.h"

/* The counted edge that a footprint is nearest to, as a number of octaves; -1: none is as near as
   one. */
static int counted_edge(const struct fm_lab *lab, double bytes)
{
    int nearest = -1;
    double least = 1;
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS; bit++) {
        const struct fm_counted *found = fm_lab_counted(lab, bit);
        const double apart = found ? fabs(log2(bytes / found->effective)) : INFINITY;
        if (apart < least) {
            least = apart;
            nearest = (int)bit;
        }
    }
    return nearest;
}

/* Whether another counted edge lies in a level's rise than the one that its begin is nearest to. */
static bool has_another(const struct fm_lab *lab, const struct fm_known_level *level, int nearest)
{
    for (int bit = 0; bit < FM_CACHE_LEVELS; bit++) {
        const struct fm_counted *found = fm_lab_counted(lab, (unsigned)bit);
        if (found && bit != nearest && found->effective > level->rise_from &&
            found->effective < level->rise_to)
            return true;
    }
    return false;
}

void fm_join_counted(struct fm_lab *lab)
{
    struct fm_known *known = &lab->known;
    for (size_t i = 1; i + 1 < known->count;) {
        const int here = counted_edge(lab, known->levels[i].rise_from);
        if (here >= 0 && here == counted_edge(lab, known->levels[i - 1].rise_from) &&
            !has_another(lab, &known->levels[i], here))
            fm_take_level_away(known, i);
        else
            i++;
    }
}

/* Times that a level counted apart from another is as large as that. */
#define COUNTED_APART 1.1

static size_t counted_levels(const struct fm_lab *lab)
{
    unsigned count = 0;
    while (count < FM_CACHE_LEVELS && fm_lab_counted(lab, count))
        count++;
    return count;
}

void fm_split_counted(struct fm_lab *lab)
{
    struct fm_known *known = &lab->known;
    const size_t most = counted_levels(lab) + 1;
    for (size_t i = 1; i < known->count && known->count < most; i++) {
        const struct fm_counted *inner = fm_lab_counted(lab, (unsigned)i - 1);
        const struct fm_counted *outer = fm_lab_counted(lab, (unsigned)i);
        const double rise_to = known->levels[i - 1].rise_to;
        if (inner && outer && outer->effective > COUNTED_APART * inner->effective &&
            outer->effective < rise_to && known->levels[i - 1].rise_from < outer->effective)
            fm_add_level(known, i, outer->effective, fm_walk_at(&lab->walk, outer->effective));
    }
}
