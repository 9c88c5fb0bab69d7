#include "analysis/knees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/knee_table.h"

/* How the knees are looked for: from roughly, with few sorts, to closely. */
static const struct {
    bool rough;
    bool settled;      /* near enough to ask whether a level is inclusive */
    double wide, step; /* capacities around where the knee stands */
    double wild;       /* errors beyond which a point is wild, and how far does not matter; at first
                          the knees are, not the points */
} rounds[] = {
    {true, false, 2.5, 1.12, 25},  {false, false, 2, 1.1, 25},  {false, true, 1.4, 1.05, 10},
    {false, true, 1.15, 1.015, 5}, {false, true, 1.1, 1.01, 5},
};
#define ROUNDS (sizeof rounds / sizeof rounds[0])
/* Those after which knees stand roughly where they belong. */
#define ROUGH_ROUNDS 2
/* How far a knee can be from its rough place, which lies half way up its rise. */
#define FAR_OFF 3
/* How much worse than the best, in squared errors, a knee may fit that is still in the interval:
   the 99th percentile of what chance does to one parameter. */
#define SURE 6.6
/* Points at which a height that is known weighs as much as all that are measured. */
#define KNOWN 100
/* Neighbouring points share their placements: so many of them are one witness. */
#define TOGETHER 3

struct problem {
    const struct fm_knee_curve *curve;
    size_t n, knees;
    double wild;
    struct fm_knee_table *table;
    size_t first_known[FM_KNEES]; /* of the sorts that were added for a knee */
    /* The knees as they stand. */
    size_t sorts[FM_KNEES];
    double capacities[FM_KNEES];
    bool inclusive[FM_KNEES];
    double *own;    /* own[i * n + j]: what level i loses by itself at point j */
    double *misses; /* the same of all that misses it */
    double *served; /* the part of the references that level i serves, by what a part weighs */
    double *weight; /* of a part at point j: a nanosecond of it, in errors of the point */
    double *whole;  /* … and all of its latency */
    double *log_bytes;
    double heights[FM_KNEES + 1]; /* that fit them best */
};

/* What an inclusive level loses is lost to a level inside, whatever that loses by itself. */
static double either(double inside, double lost)
{
    return inside + lost - inside * lost;
}

/* What misses level i at point j: all that it loses by itself, and what inclusive levels outside
   do. */
static void join(const struct problem *problem, size_t j)
{
    double lost = 0;
    for (size_t i = problem->knees; i-- > 0;) {
        problem->misses[i * problem->n + j] = either(problem->own[i * problem->n + j], lost);
        if (problem->inclusive[i])
            lost = problem->misses[i * problem->n + j];
    }
}

/* Solves a small symmetric system in place by elimination; false when it is singular. */
static bool solve(double a[FM_KNEES + 1][FM_KNEES + 2], size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (fabs(a[i][i]) < 1e-12)
            return false;
        for (size_t k = i + 1; k < size; k++) {
            const double factor = a[k][i] / a[i][i];
            for (size_t j = i; j <= size; j++)
                a[k][j] -= factor * a[i][j];
        }
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t k = i + 1; k < size; k++)
            a[i][size] -= a[i][k] * a[k][size];
        a[i][size] /= a[i][i];
    }
    return true;
}

static void find_served(const struct problem *problem)
{
    const size_t n = problem->n;
    for (size_t i = 0; i <= problem->knees; i++) {
        const double *above = i ? problem->misses + (i - 1) * n : NULL;
        const double *here = i < problem->knees ? problem->misses + i * n : NULL;
        double *served = problem->served + i * n;
        for (size_t j = 0; j < n; j++) {
            const double part = (above ? above[j] : 1) - (here ? here[j] : 0);
            served[j] = part > 0 ? part * problem->weight[j] : 0;
        }
    }
}

/* Four sums at once: one alone would wait for each of its additions. */
static double product(const double *a, const double *b, size_t n)
{
    double sums[4] = {0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[j + k] * b[j + k];
    for (; j < n; j++)
        sums[0] += a[j] * b[j];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* The heights that fit best with the knees as they stand; returns the mean square of the
   residuals, INFINITY when there are none. This is where a fit spends its time. */
static double fit_heights(struct problem *problem)
{
    const size_t n = problem->n, size = problem->knees + 1;
    double *heights = problem->heights;
    double a[FM_KNEES + 1][FM_KNEES + 2] = {{0}}, sum = 0;
    find_served(problem);
    for (size_t i = 0; i < size; i++) {
        const double *served = problem->served + i * n;
        for (size_t k = i; k < size; k++)
            a[i][k] = a[k][i] = product(served, problem->served + k * n, n);
        a[i][size] = product(served, problem->whole, n);
    }
    for (size_t i = 0; i + 1 < size; i++) {
        const double given = problem->curve->given[i];
        const double weight = given > 0 ? (double)n * KNOWN / given : 0;
        a[i][i] += weight * weight;
        a[i][size] += weight * weight * given;
    }
    if (!solve(a, size))
        return INFINITY;
    for (size_t i = 0; i < size; i++) {
        heights[i] = a[i][size];
        if (heights[i] <= 0 || (i > 0 && heights[i] < heights[i - 1]))
            return INFINITY;
    }
    for (size_t j = 0; j < n; j++) {
        double value = 0;
        for (size_t i = 0; i < size; i++)
            value += heights[i] * problem->served[i * n + j];
        /* Bounded, so that a few wild points do not rule the fit. */
        const double residual = fmin(fabs(value - problem->whole[j]), problem->wild);
        sum += residual * residual;
    }
    return sum / (double)n;
}

/* Finds what misses where, after a knee has changed: those outside see something else then. */
static void place_knees(const struct problem *problem, size_t from)
{
    const size_t n = problem->n;
    for (size_t i = from; i < problem->knees; i++) {
        const double *inside = i > 0 && !problem->inclusive[i] ? problem->own + (i - 1) * n : NULL;
        fm_knee_table_misses(problem->table, problem->sorts[i], problem->capacities[i],
                             problem->log_bytes, inside, n, problem->own + i * n);
    }
    for (size_t j = 0; j < n; j++)
        join(problem, j);
}

static void set_knee(struct problem *problem, size_t index, size_t sort, double capacity,
                     bool inclusive)
{
    problem->sorts[index] = sort;
    problem->capacities[index] = capacity;
    problem->inclusive[index] = inclusive;
}

/* Where a knee is looked for. */
struct search {
    double from, to, step; /* capacities */
    size_t sorts;          /* how many are tried, where nothing is known of it */
    bool soft;             /* none of contiguous pages */
    bool inclusive;
};

/* Called for every knee tried, as it stands in the problem, with its mean square of residuals. */
typedef void tried(void *data, const struct problem *problem, size_t index, double error);

/* Tries the knees of a search in the place of one, the others as they stand. */
static void try_knees(struct problem *problem, size_t index, const struct search *search,
                      tried *note, void *data)
{
    const struct fm_known_knee *known = &problem->curve->known[index];
    const size_t first = known->count ? problem->first_known[index] : 0;
    const size_t end = known->count ? first + known->count : search->sorts;
    const double from = known->capacity > 0 ? known->capacity : search->from;
    const double to = known->capacity > 0 ? known->capacity : search->to;
    for (size_t sort = first; sort < end; sort++) {
        if (search->soft && !known->count &&
            fm_knee_of_sort(problem->table, sort, from).shape == FM_KNEE_CONTIGUOUS)
            continue;
        for (double capacity = from; capacity <= to; capacity *= search->step) {
            set_knee(problem, index, sort, capacity, search->inclusive);
            place_knees(problem, index);
            note(data, problem, index, fit_heights(problem));
        }
    }
}

struct best {
    size_t sort;
    double capacity, error;
    bool inclusive;
};

static void note_best(void *data, const struct problem *problem, size_t index, double error)
{
    struct best *best = data;
    if (error < best->error)
        *best = (struct best){problem->sorts[index], problem->capacities[index], error,
                              problem->inclusive[index]};
}

/* Puts the best knee of a search in its place, where that is asked inclusive or not. */
static double improve(struct problem *problem, size_t index, struct search *search,
                      bool ask_inclusive)
{
    struct best best = {0, search->from, INFINITY, false};
    const int last = ask_inclusive && index > 0 ? 1 : 0;
    for (int inclusive = 0; inclusive <= last; inclusive++) {
        search->inclusive = inclusive;
        try_knees(problem, index, search, note_best, &best);
    }
    set_knee(problem, index, best.sort, best.capacity, best.inclusive);
    place_knees(problem, index);
    if (isfinite(best.error))
        fit_heights(problem);
    return best.error;
}

static bool begin(struct problem *problem, const struct fm_knee_curve *curve, size_t knees)
{
    *problem = (struct problem){.curve = curve, .n = curve->n, .knees = knees};
    const size_t n = curve->n;
    problem->table = fm_knee_table_new(curve->page);
    problem->own = malloc((3 * knees + 4) * n * sizeof *problem->own);
    if (!problem->table || !problem->own)
        return false;
    for (size_t i = 0; i < knees; i++)
        problem->first_known[i] = fm_knee_table_add(problem->table, &curve->known[i]);
    problem->misses = problem->own + knees * n;
    problem->served = problem->misses + knees * n;
    problem->weight = problem->served + (knees + 1) * n;
    problem->whole = problem->weight + n;
    problem->log_bytes = problem->whole + n;
    for (size_t j = 0; j < n; j++) {
        problem->whole[j] = 1 / curve->error[j];
        problem->weight[j] = problem->whole[j] / curve->latency[j];
        problem->log_bytes[j] = log(curve->bytes[j]);
    }
    return true;
}

static void end(struct problem *problem)
{
    fm_knee_table_free(problem->table);
    free(problem->own);
}

static void conclude(const struct problem *problem, const struct fm_knee_place *places,
                     double error, struct fm_knee_fit *fit)
{
    *fit = (struct fm_knee_fit){.count = problem->knees, .error = sqrt(error)};
    memcpy(fit->heights, problem->heights, sizeof fit->heights);
    memcpy(fit->sorts, problem->sorts, sizeof fit->sorts);
    memcpy(fit->inclusive, problem->inclusive, sizeof fit->inclusive);
    for (size_t i = 0; i < problem->knees; i++) {
        fit->knees[i] = fm_knee_of_sort(problem->table, problem->sorts[i], problem->capacities[i]);
        fit->soft[i] = places[i].soft;
    }
}

/* Where a search begins: from one start alone it may end beside the best. */
struct start {
    bool asks_at_once; /* whether a level is inclusive */
    bool inside_out;   /* the inner knees are looked for first */
    unsigned turns;    /* of each round */
};
static const struct start starts[] = {{false, false, 1}, {true, false, 1}, {false, true, 2}};
/* The next one is tried only while the mean square of the residuals is larger than errors make it.
 */
#define LARGE 1.44
/* Part of the rough residuals so far that another start must come down to. */
#define PROMISING 0.9

/* Looks for all knees, one after the other and over again, in so many rounds. Gives up where it
   is no better than others were when they stood roughly where they belong; *rough is the best of
   those. */
static double look_for_knees(struct problem *problem, const struct fm_knee_place *places,
                             const struct start *start, size_t round_count, double *rough)
{
    const size_t count = problem->knees;
    double error = INFINITY;
    for (size_t i = 0; i < count; i++)
        set_knee(problem, i, fm_knee_middle_sort(), places[i].bytes, false);
    place_knees(problem, 0);
    for (size_t turn = 0; turn < start->turns * round_count; turn++) {
        const size_t round = turn / start->turns;
        if (turn == start->turns * ROUGH_ROUNDS) {
            if (error > PROMISING * *rough)
                return INFINITY;
            *rough = fmin(*rough, error);
        }
        const double wide = rounds[round].wide;
        problem->wild = rounds[round].wild;
        for (size_t k = 0; k < count; k++) {
            const size_t i = start->inside_out ? k : count - 1 - k;
            const double middle = problem->capacities[i];
            const double least = fmax(places[i].bytes / FAR_OFF, i > 0 ? places[i - 1].bytes : 0);
            const double most =
                fmin(places[i].bytes * FAR_OFF, i + 1 < count ? places[i + 1].bytes : INFINITY);
            struct search search = {fmax(middle / wide, least),
                                    fmin(middle * wide, most),
                                    rounds[round].step,
                                    rounds[round].rough ? fm_knee_rough_sorts() : fm_knee_sorts(),
                                    places[i].soft,
                                    false};
            error = improve(problem, i, &search, start->asks_at_once || rounds[round].settled);
        }
    }
    return error;
}

static bool fit_in_rounds(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                          size_t count, size_t start_count, size_t round_count,
                          struct fm_knee_fit *fit)
{
    struct problem problem;
    if (count == 0 || count > FM_KNEES || curve->n < 3 * count)
        return false;
    const bool good = begin(&problem, curve, count);
    double best = INFINITY, rough = INFINITY;
    for (size_t i = 0; i < start_count && good && best >= LARGE; i++) {
        const double error = look_for_knees(&problem, places, &starts[i], round_count, &rough);
        if (error < best)
            conclude(&problem, places, error, fit);
        best = fmin(best, error);
    }
    end(&problem);
    return good && isfinite(best);
}

bool fm_fit_knees(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                  size_t count, struct fm_knee_fit *fit)
{
    return fit_in_rounds(curve, places, count, sizeof starts / sizeof starts[0], ROUNDS, fit);
}

bool fm_fit_knees_roughly(const struct fm_knee_curve *curve, const struct fm_knee_place *places,
                          size_t count, struct fm_knee_fit *fit)
{
    return fit_in_rounds(curve, places, count, 1, ROUGH_ROUNDS, fit);
}

double fm_fit_misses(const struct fm_knee_fit *fit, size_t index, double bytes)
{
    double own[FM_KNEES], lost = 0;
    for (size_t i = 0; i < fit->count; i++) {
        const double comes = i > 0 && !fit->inclusive[i] ? own[i - 1] : 1;
        own[i] = comes * fm_knee_misses(&fit->knees[i], bytes * comes);
    }
    for (size_t i = fit->count; i-- > index + 1;)
        if (fit->inclusive[i])
            lost = either(own[i], lost);
    return either(own[index], lost);
}

double fm_fit_crossing(const struct fm_knee_fit *fit, size_t index, double misses)
{
    double low = fit->knees[index].capacity / 64, high = fit->knees[index].capacity * 8;
    while (high / low > 1.0001) {
        const double middle = sqrt(low * high);
        *(fm_fit_misses(fit, index, middle) > misses ? &high : &low) = middle;
    }
    return low;
}

/* What all knees that fit nearly as well as the best make of a quantity. */
struct range {
    const struct fm_knee_fit *fit;
    size_t level;
    double misses; /* at the crossing that is asked for; 0: it is the height */
    double worst;  /* the greatest error that still is nearly as good */
    double low, high;
};

/* The quantity with the knee at `index` as it stands in the problem. */
static double in_question(const struct range *range, const struct problem *problem, size_t index)
{
    if (!(range->misses > 0))
        return problem->heights[range->level];
    struct fm_knee_fit other = *range->fit;
    other.knees[index] =
        fm_knee_of_sort(problem->table, problem->sorts[index], problem->capacities[index]);
    other.inclusive[index] = problem->inclusive[index];
    return fm_fit_crossing(&other, range->level, range->misses);
}

static void note_range(void *data, const struct problem *problem, size_t index, double error)
{
    struct range *range = data;
    if (error > range->worst)
        return;
    const double value = in_question(range, problem, index);
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* Tries others in the place of knee `index`. */
static void try_others(struct problem *problem, size_t index, struct range *range)
{
    const struct fm_knee_fit *fit = range->fit;
    const double capacity = fit->knees[index].capacity;
    const double freedom = fmax(1, (double)problem->n - 3 * (double)fit->count);
    const struct search search = {capacity / 1.5,  capacity * 1.5,   1.02,
                                  fm_knee_sorts(), fit->soft[index], fit->inclusive[index]};
    range->worst = fit->error * fit->error * (1 + SURE * TOGETHER / freedom);
    problem->wild = rounds[ROUNDS - 1].wild;
    for (size_t i = 0; i < fit->count; i++)
        set_knee(problem, i, fit->sorts[i], fit->knees[i].capacity, fit->inclusive[i]);
    place_knees(problem, 0);
    try_knees(problem, index, &search, note_range, range);
}

/* Tries others for the knees from `from` to `to`. False when memory is out. */
static bool find_range(const struct fm_knee_curve *curve, size_t from, size_t to,
                       struct range *range, double *low, double *high)
{
    struct problem problem;
    const bool good = begin(&problem, curve, range->fit->count);
    for (size_t i = from; i <= to && i < range->fit->count && good; i++)
        try_others(&problem, i, range);
    end(&problem);
    *low = range->low;
    *high = range->high;
    return good;
}

bool fm_knee_crossing_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                            size_t index, double misses, double *low, double *high)
{
    const double at = fm_fit_crossing(fit, index, misses);
    struct range range = {fit, index, misses, 0, at, at};
    return find_range(curve, index, index, &range, low, high);
}

bool fm_knee_height_range(const struct fm_knee_curve *curve, const struct fm_knee_fit *fit,
                          size_t index, double *low, double *high)
{
    const double at = fit->heights[index];
    struct range range = {fit, index, 0, 0, at, at};
    return find_range(curve, index ? index - 1 : 0, index, &range, low, high);
}
