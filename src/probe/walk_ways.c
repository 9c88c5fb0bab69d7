#include "probe/walk_ways.h"

#include <math.h>

#include "probe/lab.h"

/* Part of the points of a rise that must read alike in less time, for that to do. */
#define NEARLY_ALL 0.85

static bool differ(double a, double b)
{
    return fabs(log(a / b)) > FM_DIFFERENT;
}

bool fm_sample_in(struct fm_lab *lab, size_t index, struct fm_way way, bool fresh, bool drop,
                  double *ns, struct fm_error *err)
{
    const struct fm_walk_sampling how = {.way = way, .fresh = fresh, .drop = drop};
    return fm_lab_go_on(lab, 0.6, err) && fm_walk_sample(lab, index, &how, ns, err);
}

static void note(struct fm_way_readings *readings, struct fm_way way, double ns)
{
    readings->ns[way.thin][way.brief] = ns;
}

struct fm_way_readings fm_read_in_full(const struct fm_lab *lab, const struct fm_walk_point *point,
                                       double ns)
{
    struct fm_way_readings readings = {{{NAN, NAN}, {NAN, NAN}}};
    note(&readings, (struct fm_way){.brief = fm_walk_is_long(lab, point, false)}, ns);
    return readings;
}

double fm_reading_in(const struct fm_way_readings *readings, struct fm_way way)
{
    const double *ns = readings->ns[way.thin];
    return isnan(ns[way.brief]) ? ns[!way.brief] : ns[way.brief];
}

/* Whether a point that was long in full reads alike thinly once both are settled: what did not
   before may be a policy's doing. */
static bool compare_settled(struct fm_lab *lab, size_t index, struct fm_way_readings *readings,
                            bool *alike, struct fm_error *err)
{
    const struct fm_walk_sampling settled = {.settled = true, .drop = true};
    const struct fm_way thin = {.thin = true};
    double full_ns, thin_ns;
    if (!fm_lab_go_on(lab, 0.6, err) || !fm_walk_sample(lab, index, &settled, &full_ns, err) ||
        !fm_sample_in(lab, index, thin, false, true, &thin_ns, err))
        return false;
    note(readings, thin, thin_ns);
    *alike = !differ(thin_ns, full_ns);
    return true;
}

/* Whether a point reads alike thinly, after as many laps as in full. */
static bool compare_thin(struct fm_lab *lab, size_t index, bool fresh,
                         struct fm_way_readings *readings, struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    const bool was_long = fm_walk_is_long(lab, point, false);
    const struct fm_way way = {.thin = true, .brief = was_long};
    double ns;
    if (!fm_sample_in(lab, index, way, fresh, true, &ns, err))
        return false;
    note(readings, way, ns);
    point->thin_alike = !differ(ns, fm_reading_in(readings, fm_in_full));
    if (point->thin_alike || !was_long || fm_walk_is_long(lab, point, true))
        return true;
    return compare_settled(lab, index, readings, &point->thin_alike, err);
}

/* Whether it reads alike after few laps, as thinly as it may be read. */
static bool compare_brief(struct fm_lab *lab, size_t index, struct fm_way_readings *readings,
                          struct fm_error *err)
{
    struct fm_walk_point *point = &lab->walk.points[index];
    const bool thin = point->thin_alike;
    point->brief_alike = true;
    if (fm_walk_is_long(lab, point, thin))
        return true;
    for (int brief = 0; brief < 2; brief++) {
        const struct fm_way way = {.thin = thin, .brief = brief};
        double *ns = &readings->ns[thin][brief];
        if (isnan(*ns) && !fm_sample_in(lab, index, way, false, true, ns, err))
            return false;
    }
    point->brief_alike = !differ(readings->ns[thin][0], readings->ns[thin][1]);
    return true;
}

bool fm_compare_ways(struct fm_lab *lab, const size_t *index, size_t count,
                     struct fm_way_readings *readings, struct fm_error *err)
{
    struct fm_walk_point *points = lab->walk.points;
    bool fresh = true;
    for (size_t i = 0; i < count; i++) {
        if (points[index[i]].compared)
            continue;
        if (!compare_thin(lab, index[i], fresh, &readings[i], err))
            return false;
        fresh = false;
    }
    for (size_t i = 0; i < count; i++) {
        struct fm_walk_point *point = &points[index[i]];
        if (!point->compared && !compare_brief(lab, index[i], &readings[i], err))
            return false;
        point->compared = true;
    }
    return true;
}

enum trait { THIN, BRIEF };

static bool is_alike(const struct fm_walk_point *point, enum trait trait)
{
    return trait == THIN ? point->thin_alike : point->brief_alike;
}

/* Whether a trait will do for a level where that misses; and where nothing was compared there. */
static bool will_do(const struct fm_lab *lab, size_t level, enum trait trait, bool nothing)
{
    const struct fm_known_level *here = &lab->known.levels[level], *next = here + 1;
    size_t yes = 0, all = 0;
    for (size_t i = 0; i < lab->walk.count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[i];
        const double bytes = (double)point->bytes;
        if (!point->compared || bytes < here->flat_to || bytes > next->flat_from)
            continue;
        all++;
        yes += is_alike(point, trait);
    }
    return all ? (double)yes >= NEARLY_ALL * (double)all : nothing;
}

/* From its plateau to the next a level is sampled in a way that does where it misses; on the
   plateau only as far in as nothing shows that a level inside still hits. Where it does not, nor
   will it wherever that level may begin to miss on other pages, though that is another's rise.
   What has not been compared is as what lies beyond it. */
static void judge_level(const struct fm_lab *lab, const size_t *index, size_t count, size_t level,
                        enum trait trait, struct fm_way *ways)
{
    const struct fm_known_level *here = &lab->known.levels[level], *next = here + 1;
    const bool rise = will_do(lab, level, trait, true);
    bool does = rise;
    for (size_t i = 0; i < count; i++) {
        const struct fm_walk_point *point = &lab->walk.points[index[i]];
        const double bytes = (double)point->bytes;
        bool *chosen = trait == THIN ? &ways[i].thin : &ways[i].brief;
        if (!rise && bytes >= here->flat_to / FM_BEFORE_A_RISE)
            *chosen = false;
        if (bytes < here->flat_from || bytes >= next->flat_from)
            continue;
        does = does && (bytes > here->flat_to || !point->compared || is_alike(point, trait));
        *chosen = does;
    }
}

void fm_judge_ways(const struct fm_lab *lab, const size_t *index, size_t count, struct fm_way *ways)
{
    for (size_t i = 0; i < count; i++)
        ways[i] = fm_in_full;
    for (size_t level = 0; level + 1 < lab->known.count; level++) {
        judge_level(lab, index, count, level, THIN, ways);
        judge_level(lab, index, count, level, BRIEF, ways);
    }
}

struct fm_way fm_rise_way(const struct fm_lab *lab, size_t level)
{
    return (struct fm_way){.thin = lab->known.scattered && will_do(lab, level, THIN, false),
                           .brief = will_do(lab, level, BRIEF, false)};
}
