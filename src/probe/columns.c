/* The gap test of outer levels. Where pages do not move an edge, sets go by the addresses that the
 * program sees, or by pages that lie one after the other. Columns are stretches of lines that begin
 * one way apart; each lies in the same sets as the others, and one more of them than there are ways
 * makes all of them miss. They are so long that the level inside holds nothing of them. How much
 * the level holds is known within a percent or two, so that for each number of ways there are few
 * distances that can be a way. */
#include "probe/columns.h"

#include <math.h>

#include "analysis/occupancy_fit.h"
#include "probe/ways_inside.h"
#include "refstring/refstring.h"

#define MOST_WAYS 64
/* What a sharp edge may be off by. */
#define BELOW 0.98
#define ABOVE 1.015
/* Part of the references that misses at least where columns collide: some policies keep a part of
   what is one too many. And what is no miss. */
#define COLLIDE 0.12
#define FIT     0.05
/* … and of twice as many columns as there are ways, whatever the policy. What the level inside
   keeps of columns depends on how they lie, too, and costs less. */
#define MOST 0.6
/* Columns that are left out, one at a time: of a distance that is a part of a way only some of them
   collide. */
#define LEFT_OUT 3
/* Times what translation seems to take that it may take: two readings of few references tell it. */
#define TRANSLATION 1.25
#define LAPS        3
#define REPEATS     2

static bool time_columns(struct fm_lab *lab, const struct fm_column_plan *columns, double *ns,
                         struct fm_error *err)
{
    const struct fm_care care = {.repeats = REPEATS, .laps = LAPS};
    struct fm_string string;
    return fm_lab_go_on(lab, 0, err) && fm_column_string(&string, columns, err) &&
           fm_lab_time(lab, &string, &care, ns, err);
}

/* What columns take longer than they would if every other one began elsewhere. */
static bool time_collision(struct fm_lab *lab, struct fm_column_plan columns, double *longer,
                           struct fm_error *err)
{
    double together, apart;
    if (!time_columns(lab, &columns, &together, err))
        return false;
    columns.shifted = true;
    if (!time_columns(lab, &columns, &apart, err))
        return false;
    *longer = together - apart;
    return true;
}

/* Whether at least that part of the references misses because columns collide. Their pages may
   collide as well, in a TLB: that is what a line of each page takes longer. */
static bool miss(struct fm_lab *lab, size_t index, const struct fm_column_plan *columns,
                 double part, bool *yes, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double least = part * (level[1].height_ns - level->height_ns);
    struct fm_column_plan thin = *columns;
    double longer, translation;
    thin.thin = true;
    *yes = false;
    if (!time_collision(lab, *columns, &longer, err))
        return false;
    if (longer < least)
        return true;
    if (!time_collision(lab, thin, &translation, err))
        return false;
    *yes = longer > least + TRANSLATION * fabs(translation);
    return true;
}

/* Whether all of these columns collide, none without any one of them, and most of twice as many,
   wherever their pages lie. */
static bool confirm(struct fm_lab *lab, size_t index, struct fm_column_plan columns, bool *yes,
                    struct fm_error *err)
{
    bool still = false;
    for (unsigned i = 0; i < LEFT_OUT && i < columns.count && !still; i++) {
        columns.absent = i;
        if (!miss(lab, index, &columns, FIT, &still, err))
            return false;
    }
    columns.absent = FM_NO_COLUMN;
    *yes = false;
    if (still)
        return true;
    if (!fm_lab_place(lab, columns.count * columns.apart, err) ||
        !miss(lab, index, &columns, COLLIDE, yes, err))
        return false;
    columns.count = 2 * (columns.count - 1);
    if (!*yes || columns.count * columns.apart > fm_lab_limit(lab))
        return true;
    return fm_lab_place(lab, columns.count * columns.apart, err) &&
           miss(lab, index, &columns, MOST, yes, err);
}

/* Columns that overrun the level inside, by so many ways of the one they are in. */
static struct fm_column_plan plan_columns(struct fm_lab *lab, size_t index, unsigned ways)
{
    const size_t line = lab->known.levels[index].line;
    const double overrun =
        fm_bytes_inside(lab, index - 1) * fm_overload(lab, index - 1, FM_WAYS_SELDOM);
    return (struct fm_column_plan){.count = ways + 1,
                                   .bytes = (size_t)(overrun / ways / (double)line + 1) * line,
                                   .line = line,
                                   .absent = FM_NO_COLUMN,
                                   .page = lab->machine->info.page_size,
                                   .seed = fm_lab_seed(lab)};
}

/* Whether columns fit between each other, and into memory. */
static bool is_possible(const struct fm_lab *lab, const struct fm_column_plan *columns)
{
    return columns->bytes <= columns->apart / 2 &&
           columns->count * columns->apart <= fm_lab_limit(lab);
}

static bool collide(struct fm_lab *lab, size_t index, const struct fm_column_plan *columns,
                    bool *yes, struct fm_error *err)
{
    *yes = false;
    if (!is_possible(lab, columns))
        return true;
    if (!fm_lab_place(lab, columns->count * columns->apart, err) ||
        !miss(lab, index, columns, COLLIDE, yes, err))
        return false;
    return !*yes || confirm(lab, index, *columns, yes, err);
}

bool fm_columns_collide(struct fm_lab *lab, size_t index, const struct fm_columns *columns,
                        bool *asked, bool *yes, struct fm_error *err)
{
    struct fm_column_plan plan = plan_columns(lab, index, columns->ways);
    plan.apart = columns->way;
    *asked = is_possible(lab, &plan);
    return collide(lab, index, &plan, yes, err);
}

bool fm_find_columns(struct fm_lab *lab, size_t index, struct fm_columns *found,
                     struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const struct fm_finding *capacity = fm_lab_measured(lab, index, "capacity");
    *found = (struct fm_columns){0};
    if (!fm_edge_is_sharp(capacity) || !level->line || fm_level_is_hidden(&level[1]))
        return true;
    for (unsigned ways = 1; ways <= MOST_WAYS; ways++) {
        struct fm_column_plan columns = plan_columns(lab, index, ways);
        const double unit = (double)columns.line * ways;
        const double last = ABOVE * capacity->high.number / unit;
        double sets = fm_round_sets_from(BELOW * capacity->low.number / unit);
        for (; sets <= last; sets = fm_round_sets_from(sets + 1)) {
            bool yes;
            columns.apart = (size_t)sets * columns.line;
            if (!collide(lab, index, &columns, &yes, err))
                return false;
            if (yes) {
                *found = (struct fm_columns){ways, columns.apart};
                return true;
            }
        }
    }
    return true;
}
