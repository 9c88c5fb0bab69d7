#include "probe/mixture.h"

#include <math.h>

#include "probe/served.h"
#include "refstring/refstring.h"

/* Part of what a level holds, at which it has all that those inside do not have; and one at which
   hardly anything misses it, on any placement, if that is well beyond the level inside. */
#define NEARLY_ALL 0.9
#define SURELY_ALL 0.6
#define BEYOND     2
/* Part of the references that it must serve to be told by them. */
#define MOST 0.5
/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.01
/* Levels that blur each other are told in turn, each from what the others were found to take: what
   is left of an error halves at least each time. */
#define TURNS 16

static void read_parts(const struct fm_lab *lab, const struct fm_sample *sample,
                       struct fm_mixture *mixture)
{
    double left = 1;
    for (unsigned bit = 0; bit < lab->known.count; bit++) {
        const double misses =
            bit + 1 < lab->known.count
                ? (double)fm_event_count(&sample->counts, bit) / (double)sample->references
                : 0;
        mixture->served[bit] = fmax(0, left - misses);
        left = misses;
    }
}

bool fm_mixtures_add(struct fm_lab *lab, size_t index, struct fm_mixtures *mixtures,
                     struct fm_error *err)
{
    if (!fm_levels_are_fairly_counted(lab) || index == 0 || index + 1 >= lab->known.count)
        return true;
    const double inside = fm_lab_counted(lab, (unsigned)index - 1)->effective;
    const double holds = fm_lab_counted(lab, (unsigned)index)->effective;
    const size_t bytes =
        (size_t)fmin(NEARLY_ALL * holds, fmax(SURELY_ALL * holds, BEYOND * inside));
    double ns;
    return fm_lab_place(lab, bytes, err) && fm_walk_measure_well(lab, bytes, &ns, err) &&
           fm_mixtures_take(lab, index, bytes, ns, mixtures, err);
}

bool fm_mixtures_take(struct fm_lab *lab, size_t index, size_t bytes, double ns,
                      struct fm_mixtures *mixtures, struct fm_error *err)
{
    struct fm_mixture *mixture = &mixtures->of[index];
    struct fm_sample sample;
    if (!fm_levels_are_fairly_counted(lab))
        return true;
    if (!fm_walk_count(lab, bytes, &sample, err))
        return false;
    mixture->ns = ns;
    read_parts(lab, &sample, mixture);
    mixtures->has[index] = mixture->served[index] >= MOST;
    return true;
}

/* What is left for a level of what its mixture takes. */
static double height_in(const struct fm_known *known, const struct fm_mixture *mixture,
                        size_t index)
{
    double rest = mixture->ns;
    for (size_t i = 0; i < known->count; i++)
        if (i != index)
            rest -= mixture->served[i] * known->levels[i].height_ns;
    return rest / mixture->served[index];
}

void fm_mixtures_solve(struct fm_lab *lab, const struct fm_mixtures *mixtures)
{
    struct fm_known *known = &lab->known;
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < known->count; i++)
            if (mixtures->has[i])
                known->levels[i].height_ns = height_in(known, &mixtures->of[i], i);
    for (size_t i = 0; i < known->count; i++) {
        if (!mixtures->has[i])
            continue;
        struct fm_known_level *level = &known->levels[i];
        const double wide = LEAST_WIDTH * mixtures->of[i].ns / mixtures->of[i].served[i];
        level->height_low = level->height_ns - wide;
        level->height_high = level->height_ns + wide;
        level->blurred = level->inferred = false;
        level->hidden = 0;
    }
}
