#include "probe/served.h"

#include <math.h>

#include "refstring/refstring.h"

/* Times that an edge by the clock and by counters may lie apart and be of one level. */
#define SAME 2

/* Where lots are drawn a rise begins long before one in twenty misses. */
static bool is_same(const struct fm_known_level *level, const struct fm_counted *counted)
{
    const bool told = level->capacity > 0;
    const double from = told ? level->capacity : level->rise_from;
    const double to = told ? level->capacity : level->rise_to;
    return counted && counted->effective > from / SAME && counted->effective < to * SAME;
}

static bool are_all(const struct fm_lab *lab, bool (*counts)(const struct fm_lab *, unsigned))
{
    const size_t levels = lab->known.count ? lab->known.count - 1 : 0;
    if (levels == 0 || !lab->known.memory_seen)
        return false;
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS; bit++) {
        const struct fm_counted *counted = fm_lab_counted(lab, bit);
        if (bit >= levels && counted)
            return false;
        if (bit < levels && !(counts(lab, bit) && is_same(&lab->known.levels[bit], counted)))
            return false;
    }
    return true;
}

bool fm_levels_are_counted(const struct fm_lab *lab)
{
    return are_all(lab, fm_counts_are_exact);
}

bool fm_levels_are_fairly_counted(const struct fm_lab *lab)
{
    return are_all(lab, fm_counts_are_fair);
}

const char *fm_served_meter(const struct fm_lab *lab)
{
    return fm_levels_are_fairly_counted(lab) ? fm_lab_meter(lab, 0) : "clock";
}

static double by_counts(const struct fm_lab *lab, const struct fm_sample *sample)
{
    const struct fm_known_level *levels = lab->known.levels;
    double ns = levels[0].height_ns;
    for (unsigned bit = 0; bit + 1 < lab->known.count; bit++)
        ns += (double)fm_event_count(&sample->counts, bit) / (double)sample->references *
              (levels[bit + 1].height_ns - levels[bit].height_ns);
    return ns;
}

static bool count_once(struct fm_lab *lab, struct fm_string *string, double *ns,
                       struct fm_error *err)
{
    struct fm_sample sample;
    const bool good = fm_lab_go_on(lab, 0, err) &&
                      lab->machine->ops->count(lab->machine, string, 1, &sample, err);
    fm_string_free(string);
    *ns = good ? by_counts(lab, &sample) : NAN;
    return good;
}

bool fm_served_once(struct fm_lab *lab, struct fm_string *string, double *ns, struct fm_error *err)
{
    return (fm_levels_are_fairly_counted(lab) ? count_once : fm_lab_once)(lab, string, ns, err);
}
