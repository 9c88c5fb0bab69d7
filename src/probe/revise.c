/* Of knees that run into each other the walk alone does not say which is how wide: too many
 * hierarchies have nearly the same walk. Sets and ways, found by other strings, say what one of
 * them looks like, and then the others are what is left. */
#include "probe/revise.h"

#include <math.h>
#include <string.h>

#include "analysis/occupancy_fit.h"
#include "probe/capacity.h"
#include "probe/columns.h"

/* Residuals of knees that describe the walk well, times that the size of a knee of known ways may
   be off, and times the residuals of the best that others may have. */
#define WELL_DESCRIBED 0.9
#define KNEE_IS_OFF    1.08
#define NEARLY         1.2

/* Whether what a level holds was read from knees, or could not be. */
static bool is_from_knees(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *capacity = fm_lab_measured(lab, index, "capacity");
    return !fm_lab_counted(lab, (unsigned)index) &&
           (!capacity || strcmp(capacity->method, "knees") == 0);
}

/* Describes the walk with the knee of a level of which that is known, and tells what all levels
   hold by that, if the walk can be described so. */
static bool revise_capacities(struct fm_lab *lab, size_t index, const struct fm_known_ways *ways,
                              struct fm_error *err)
{
    const struct fm_known was = lab->known;
    fm_know_knee(&lab->known.known_knees[index], ways);
    if (!fm_refit_walk(lab, &was, fm_fit_allowed(&was.fit)))
        return true;
    for (size_t i = 1; i + 1 < lab->known.count; i++)
        if (is_from_knees(lab, i) && !fm_report_fitted(lab, i, err))
            return false;
    return true;
}

/* The sets that each knee which a level may have leads to, if it describes the walk nearly as well
   as the best: another policy may do so with another number. 0: they differ. */
static double sets_of_all_knees(struct fm_lab *lab, size_t index, double row)
{
    const struct fm_known was = lab->known;
    double sets = 0;
    bool same = true;
    for (size_t i = 0; i < was.known_knees[index].count && same; i++) {
        struct fm_known_knee *one = &lab->known.known_knees[index];
        *one = (struct fm_known_knee){.count = 1, .choices = {was.known_knees[index].choices[i]}};
        if (fm_refit_walk(lab, &was, NEARLY * was.fit.error)) {
            const double each = lab->known.fit.knees[index].capacity / row;
            const double now = fm_simplest_sets(each / KNEE_IS_OFF, each * KNEE_IS_OFF);
            same = sets == 0 || now == sets;
            sets = now;
        }
        lab->known = was;
    }
    return same ? sets : 0;
}

/* Whether the knee of a level, whose ways were accepted, says about how much that holds: not of one
   that no plateau shows, nor before one. */
static bool shows_its_size(const struct fm_lab *lab, size_t index)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    return lab->known.known_knees[index].count && !fm_level_is_hidden(level) &&
           !fm_level_is_hidden(level + 1) && lab->known.fit.error < WELL_DESCRIBED;
}

/* Where lines cannot be told apart that share a set, the knee of a level of known ways still says
   about how much it holds: of the numbers of sets that this allows the simplest, if the walk can be
   described by it. */
static bool size_by_knee(struct fm_lab *lab, size_t index, struct fm_known_ways *known,
                         struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_known_knee *knee = &lab->known.known_knees[index];
    struct fm_finding *physical = fm_lab_finding(lab, index, "physical_capacity", "B");
    const double row = (double)(known->ways * level->line), page = known->page;
    if (!physical || !level->line || !shows_its_size(lab, index))
        return true;
    const double bytes = lab->known.fit.knees[index].capacity;
    known->capacity = row * sets_of_all_knees(lab, index, row);
    if (known->capacity == 0)
        return true;
    const double way = known->capacity / known->ways;
    known->shapes = 1u << FM_KNEE_LINES | 1u << (way <= page ? FM_KNEE_CONTIGUOUS : FM_KNEE_PAGES);
    /* Pages that lie across each other have no knee of their own. */
    if (fmod(way, page) == 0 || fmod(page, way) == 0) {
        if (!revise_capacities(lab, index, known, err))
            return false;
        if (knee->capacity != known->capacity)
            return true;
    }
    fm_measured(physical, known->capacity, bytes / KNEE_IS_OFF, bytes * KNEE_IS_OFF, 0.9, "knees",
                "curve:cache-only");
    return true;
}

/* How lines may come to lie in the sets of a level that was filled with pages. Where sets go by
   what the program sees, no luck with pages keeps it from being filled; where a way is no whole
   number of pages, these lie across each other in it, which no knee describes. */
static bool ask_shapes(struct fm_lab *lab, size_t index, bool pages, struct fm_known_ways *known,
                       struct fm_error *err)
{
    const struct fm_columns columns = {known->ways, (size_t)(known->capacity / known->ways)};
    bool asked = index == 0, seen = false;
    const struct fm_known_level *level = &lab->known.levels[index];
    if (index > 0 && level->line && !fm_columns_collide(lab, index, &columns, &asked, &seen, err))
        return false;
    if (seen || (pages && !asked))
        known->shapes |= 1u << FM_KNEE_CONTIGUOUS;
    if (!seen && pages)
        known->shapes |= 1u << FM_KNEE_PAGES;
    return true;
}

/* What laps say of the size of a level the walk must not gainsay, once its ways are known. */
static bool check_by_knee(struct fm_lab *lab, size_t index, const struct fm_known_ways *known,
                          struct fm_error *err)
{
    struct fm_finding *physical = fm_lab_finding(lab, index, "physical_capacity", "B");
    struct fm_known_ways by_ways = *known;
    by_ways.capacity = 0;
    if (!revise_capacities(lab, index, &by_ways, err))
        return false;
    const double bytes = lab->known.fit.knees[index].capacity;
    if (physical && shows_its_size(lab, index) &&
        fabs(log(physical->value.number / bytes)) > log(KNEE_IS_OFF)) {
        fm_undetermined(physical, "laps and the walk tell different numbers of sets");
        return true;
    }
    return known->capacity == 0 || revise_capacities(lab, index, known, err);
}

bool fm_revise(struct fm_lab *lab, size_t index, const struct fm_found_ways *found,
               struct fm_error *err)
{
    const struct fm_finding *physical = fm_lab_measured(lab, index, "physical_capacity");
    const size_t page = lab->machine->info.page_size;
    const bool sized = physical;
    struct fm_known_ways known = {.ways = found->ways,
                                  .capacity = sized ? physical->value.number : 0,
                                  .page = (double)page,
                                  .lru = found->lru};
    const size_t way = (size_t)known.capacity / known.ways;
    const bool whole = sized && (way % page == 0 || page % way == 0);
    /* Pages that fill it collide by themselves, even if some did not. */
    const bool filled = sized && strcmp(physical->method, "crowd") == 0;
    const bool spread = found->anywhere || (found->spread && !filled);
    if (!lab->known.fit.count || !is_from_knees(lab, index))
        return true;
    if (spread && !whole)
        known.capacity = 0;
    if (spread)
        known.shapes =
            1u << FM_KNEE_LINES | 1u << (whole && way <= page ? FM_KNEE_CONTIGUOUS : FM_KNEE_PAGES);
    else if (sized && !ask_shapes(lab, index, whole && found->pages, &known, err))
        return false;
    if (!known.shapes)
        return true;
    if (spread && sized)
        return check_by_knee(lab, index, &known, err);
    return revise_capacities(lab, index, &known, err) &&
           (sized || size_by_knee(lab, index, &known, err));
}
