/* Whether an outer level holds what the level inside holds: always, never, or as it happens.
 *
 * A few lines are kept in use in the inner level while a long walk, a chunk at a time, drives
 * everything else out of the outer one. The outer level does not see that those lines are used. If
 * they are gone from the inner level too, now and then, the outer one took them along when it gave
 * them up: it is inclusive. If not, they are now in the inner level alone. Driven out of that as
 * well, they are found in the outer level if what the inner one evicts goes there (exclusive), and
 * beyond it if not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/exclusive.h"
#include "probe/probe.h"
#include "probe/served.h"
#include "probe/trial.h"

/* Lines kept in use where nothing inside has to be overrun. */
#define FEW 32
/* Lines are not spread over as many pages where the level has room for them anywhere: they would
   keep a TLB busy, whose misses look like theirs, and page tables would be driven out with the
   rest. Nor are more of them put into a page than a prefetcher that has seen some would bring by
   itself. */
#define LINES_TO_A_PAGE 4
#define ROOMY           16 /* times the lines in use */
/* Times the outer level that a walk is long; on scattered pages its capacity is what they leave of
   it, about half or more. */
#define TURNS     2
#define SCATTERED 2
/* Parts of the inner level: what drives out all of it; a chunk, small enough that lines in use stay
   under any policy that looks at use; and one that drives them out under a policy that does not,
   but leaves room for luck with pages beyond the first level. */
#define ALL         3
#define CHUNK       0.1
#define LARGE       0.5
#define LARGE_OUTER 0.25
/* Readings of walks that do not leave the outer level, to compare with; those before them, until
   all is there; and how many of the highest are not believed. */
#define MOST_QUIET   128
#define SETTLE       4
#define UNBELIEVED   2
#define FEW_READINGS 16
/* … of counts, of which one is like the other where lines in use are kept; and where lots are drawn
   that decide it. */
#define COUNTED (UNBELIEVED + 2)
#define LOTS    (MOST_QUIET / 4)
/* Standard error of a line's misses in one pass at which nothing is concluded. */
#define MOST_ERROR 0.2
#define PASSES     3
/* Misses of a line in use over a walk: none but for noise, and nearly one at least for the two or
   more times that the outer level is filled anew. Translations that are lost look like half of one.
 */
#define NONE 0.2
#define SOME 0.85
/* Part of the lines in use that may miss while the outer level is left alone. */
#define HOT 0.05
/* One line of so many of a walk goes over the same pages and leaves the outer level alone. */
#define THIN 16
/* Parts of the step from the outer level to what is beyond it. */
#define NEAR 0.35

struct pair {
    size_t outer; /* the inner one is the level before it */
    struct fm_group hot;
    size_t lines; /* hot ones in each page of the group */
    struct fm_range walk;
    size_t chunk, large, sweep; /* lines of the walk */
    double most_ns;             /* no reading of the hot lines is believed above this */
};

/* Walks `count` lines from `first` on and times the hot ones; NAN: disturbed. */
static bool time_hot(struct fm_lab *lab, const struct pair *pair, size_t first, size_t count,
                     double *ns, struct fm_error *err)
{
    char label[FM_STRING_LABEL];
    struct fm_string string;
    snprintf(label, sizeof label, "hot(level=%zu,lines=%zu,seed=%llu,first=%zu,count=%zu)",
             pair->outer, pair->hot.count, (unsigned long long)pair->hot.seed, first, count);
    fm_string_empty(&string, label, pair->walk.from + pair->walk.lines * pair->walk.unit);
    const size_t quarter = pair->hot.page / LINES_TO_A_PAGE, unit = pair->hot.unit;
    /* Neither in one set nor at equal steps. */
    const size_t offsets[LINES_TO_A_PAGE] = {0, quarter + unit, 2 * quarter + 3 * unit,
                                             3 * quarter + 2 * unit};
    if (!fm_string_add_sweeps(&string, &pair->hot, offsets, pair->lines, err) ||
        !fm_string_add_range(&string, &pair->walk, first, count, err)) {
        fm_string_free(&string);
        return false;
    }
    fm_string_add_phase(&string, (struct fm_phase){.order = 1, .references = count});
    fm_string_time(&string, pair->hot.count * pair->lines);
    if (!fm_served_once(lab, &string, ns, err))
        return false;
    if (*ns > pair->most_ns)
        *ns = NAN;
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a hot line takes after walks that are in the outer level already: the mean, the standard
   deviation of one reading, and how many there were. */
struct quiet {
    double ns, spread;
    size_t count;
};

/* After walks of so many lines. */
static bool time_quiet(struct fm_lab *lab, const struct pair *pair, size_t lines, size_t readings,
                       struct quiet *quiet, struct fm_error *err)
{
    double ns[MOST_QUIET], sum = 0, squares = 0;
    size_t count = 0;
    /* More than the inner level holds: what it does not keep in use must leave it. */
    const size_t flow = pair->sweep / 2;
    for (size_t i = 0; i < readings + SETTLE; i++) {
        if (!time_hot(lab, pair, i * lines % flow, lines, &ns[count], err))
            return false;
        count += i >= SETTLE && !isnan(ns[count]);
    }
    qsort(ns, count, sizeof *ns, ascending);
    const size_t kept = count > UNBELIEVED ? count - UNBELIEVED : 0;
    for (size_t i = 0; i < kept; i++) {
        sum += ns[i];
        squares += ns[i] * ns[i];
    }
    quiet->ns = kept ? sum / (double)kept : NAN;
    quiet->spread = kept ? sqrt(fmax(0, squares / (double)kept - quiet->ns * quiet->ns)) : NAN;
    quiet->count = kept;
    return true;
}

/* What the hot lines take when the outer level serves them: driven out of the inner one while the
   outer one keeps them. */
static bool time_outer(struct fm_lab *lab, const struct pair *pair, double *least,
                       struct fm_error *err)
{
    *least = INFINITY;
    for (int i = 0; i < SETTLE; i++) {
        double ns;
        if (!time_hot(lab, pair, 0, pair->sweep, &ns, err))
            return false;
        /* At first their chain has just been written: now they come back clean. */
        if (i > 0)
            *least = fmin(*least, ns);
    }
    return true;
}

/* What one pass shows. */
struct seen {
    double cold;   /* part of the hot lines that were lost while the outer level was left alone */
    double misses; /* of a hot line, over the walk */
    double error;  /* standard error of that, by how much equal readings differ */
    double beyond; /* in the end: 0: found in the outer level, 1: beyond it; NAN: disturbed */
};

/* A chunk at a time; what hot lines take beyond `base_ns` after each, in all. */
static bool walk_past(struct fm_lab *lab, const struct pair *pair, double base_ns, double *sum,
                      struct fm_error *err)
{
    double ns;
    *sum = 0;
    for (size_t at = pair->sweep; at < pair->walk.lines; at += pair->chunk) {
        if (!time_hot(lab, pair, at, pair->chunk, &ns, err))
            return false;
        *sum += isnan(ns) ? 0 : ns - base_ns;
    }
    return true;
}

/* The same over one line of many: what a TLB loses of the hot lines' pages is all that this shows.
 */
static bool walk_thinly(struct fm_lab *lab, const struct pair *pair, double base_ns, double *sum,
                        struct fm_error *err)
{
    const size_t times = pair->chunk < THIN ? pair->chunk : THIN;
    struct pair thin = *pair;
    double ignored;
    thin.walk.unit *= times;
    thin.walk.lines /= times;
    thin.chunk /= times;
    thin.sweep /= times;
    return time_outer(lab, pair, &ignored, err) && walk_past(lab, &thin, base_ns, sum, err);
}

static bool pass(struct fm_lab *lab, struct pair *pair, struct seen *seen, struct fm_error *err)
{
    const struct fm_known_level *outer = &lab->known.levels[pair->outer];
    const double inner_ns = outer[-1].height_ns, far_ns = outer[1].height_ns;
    const size_t chunks = pair->walk.lines / pair->chunk;
    const size_t many = fm_levels_are_counted(lab)          ? COUNTED
                        : fm_levels_are_fairly_counted(lab) ? LOTS
                                                            : MOST_QUIET;
    struct quiet idle, large, base;
    double ns, outer_ns, sum, thinly = 0;
    if (!fm_lab_place(lab, pair->walk.from + pair->walk.lines * pair->walk.unit, err))
        return false;
    pair->hot.seed = fm_lab_seed(lab);
    if (!time_outer(lab, pair, &outer_ns, err) ||
        !time_quiet(lab, pair, 1, FEW_READINGS, &idle, err) ||
        !time_quiet(lab, pair, pair->large, FEW_READINGS, &large, err) ||
        !time_quiet(lab, pair, pair->chunk, chunks < many ? chunks : many, &base, err) ||
        !walk_past(lab, pair, base.ns, &sum, err) ||
        !time_hot(lab, pair, pair->walk.lines, pair->sweep, &ns, err))
        return false;
    if (sum > NONE * (far_ns - inner_ns) && !walk_thinly(lab, pair, base.ns, &thinly, err))
        return false;
    seen->cold = (large.ns - idle.ns) / (outer->height_ns - inner_ns);
    seen->misses = (sum - fmax(thinly, 0)) / (far_ns - inner_ns);
    seen->error = base.spread * sqrt((double)chunks * (1 + (double)chunks / (double)base.count)) /
                  (far_ns - inner_ns);
    seen->beyond = (ns - outer_ns) / (far_ns - outer->height_ns);
    return true;
}

static double bytes_of(const struct fm_known_level *level)
{
    return fmax(level->capacity, fmax(level->rise_from, level->flat_to));
}

static size_t line_of(const struct fm_known_level *level, size_t unit)
{
    return level->line ? level->line : unit;
}

/* False: the machine leaves no room for it; *why says so. */
static bool plan(const struct fm_lab *lab, size_t outer, struct pair *pair, const char **why)
{
    const struct fm_known_level *level = &lab->known.levels[outer];
    const double inner = bytes_of(level - 1), whole = bytes_of(level);
    const size_t unit = level->line ? level->line : lab->walk.unit;
    const size_t page = lab->machine->info.page_size;
    size_t hot = FEW;
    /* Lines in use must not all be in a level further inside, or the inner level forgets them. */
    if (outer > 1)
        hot = (size_t)(1.5 * bytes_of(level - 2) / (double)line_of(level - 2, unit));
    else if ((double)(hot * unit) > LARGE_OUTER * inner)
        hot = (size_t)(LARGE_OUTER * inner / (double)unit);
    *why = NULL;
    if (!(level->capacity > 0))
        *why = "how much it holds is not known, nor how long a walk drives lines out of it";
    if (hot < 2 || (double)(hot * unit) > 0.5 * inner)
        *why = "the level inside it is too small to keep lines in use";
    const bool roomy = outer > 1 || inner >= (double)(ROOMY * hot * unit);
    const bool several = roomy && page / LINES_TO_A_PAGE >= 4 * unit;
    const size_t lines = several ? LINES_TO_A_PAGE : 1;
    const size_t pages = hot / lines;
    *pair = (struct pair){
        .outer = outer,
        .hot = {.count = pages,
                .page = page,
                .unit = unit,
                .span = several ? page - page / lines + 3 * unit : unit},
        .lines = lines,
        .walk = {.from = pages * page, .unit = unit},
        .chunk = (size_t)(CHUNK * inner / (double)unit),
        .large = (size_t)((outer > 1 ? LARGE_OUTER : LARGE) * inner / (double)unit),
        .sweep = (size_t)(ALL * inner / (double)unit),
        .most_ns = 2 * level[1].height_ns,
    };
    const double turns = lab->known.scattered ? SCATTERED * TURNS : TURNS;
    pair->walk.lines = (size_t)(turns * whole / (double)unit) + pair->sweep;
    if (pair->chunk == 0)
        *why = "the level inside it is too small";
    else if (pair->walk.from + pair->walk.lines * unit > fm_lab_limit(lab))
        *why = "there is not memory enough to drive lines out of it";
    return !*why;
}

static double middle(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* What was seen says of the level; NULL: nothing, and *why. */
static const char *verdict(const struct seen *seen, const char **why)
{
    *why = NULL;
    if (seen->cold > HOT)
        *why = "the level inside it does not keep what is in use";
    else if (!(seen->error < MOST_ERROR))
        *why = "the clock is too coarse for the few lines that the level inside it can keep in use";
    else if (seen->misses > SOME)
        return "inclusive";
    else if (fabs(seen->misses) < NONE && seen->beyond < NEAR)
        return "exclusive";
    else if (fabs(seen->misses) < NONE && seen->beyond > 1 - NEAR)
        return "none";
    else
        *why = "lines in use were lost now and then, but not as often as they would be";
    return NULL;
}

/* The middle of all passes speaks, unless one of them by itself says something else; NULL: nothing,
   and *why. */
static const char *judge(const struct seen seen[PASSES], const char **why)
{
    const struct seen all = {
        .cold = middle(seen[0].cold, seen[1].cold, seen[2].cold),
        .misses = middle(seen[0].misses, seen[1].misses, seen[2].misses),
        .error = middle(seen[0].error, seen[1].error, seen[2].error),
        .beyond = middle(seen[0].beyond, seen[1].beyond, seen[2].beyond),
    };
    const char *ignored;
    const char *says = verdict(&all, why);
    /* Whatever disturbs loses lines, as an inclusive level does: that must show each time. A level
       that spares what is in use inside looks now and then like an exclusive one: mostly. */
    size_t agree = 0;
    bool others = false;
    for (size_t i = 0; says && i < PASSES; i++) {
        const char *alone = verdict(&seen[i], &ignored);
        agree += alone && strcmp(alone, says) == 0;
        others |= alone && strcmp(alone, says) != 0;
    }
    const size_t least = !says || strcmp(says, "none") == 0 ? 0
                         : strcmp(says, "exclusive") == 0   ? PASSES - 1
                                                            : PASSES;
    if (says && (others || agree < least)) {
        says = NULL;
        *why = "of several looks one says this and one that";
    }
    return says;
}

/* Two ways that know nothing of each other: what becomes of hot lines, and what fills the level.
   `says` is NULL where hot lines say nothing, for the reason `why`. To be exclusive takes both:
   lines in use are now and then lost to what a system does meanwhile, are asked of the outer level
   again, and kept there for that, as if they had come with the victims. */
static void report(struct fm_finding *finding, const char *says, const char *why,
                   enum fm_filled filled, const char *meter)
{
    const bool exclusive = says && strcmp(says, "exclusive") == 0;
    const bool asked = filled != FM_FILLED_UNKNOWN;
    if (exclusive && !asked)
        fm_undetermined(finding, "lines in use are kept in it, and it could not be seen whether "
                                 "victims brought them there");
    else if (says && asked && exclusive != (filled == FM_FILLED_BY_VICTIMS))
        fm_undetermined(finding, "what becomes of lines in use is at odds with what fills it");
    else if (says && asked)
        fm_decided(finding, fm_text(says), 0.99, meter, "hot-lines, victims");
    else if (says)
        fm_decided(finding, fm_text(says), 0.95, meter, "hot-lines");
    else if (filled == FM_FILLED_BY_VICTIMS)
        fm_decided(finding, fm_text("exclusive"), 0.95, meter, "victims");
    else {
        if (asked) {
            finding->candidate_count = 2;
            finding->candidates[0] = fm_text("none");
            finding->candidates[1] = fm_text("inclusive");
        }
        fm_undetermined(finding, why);
    }
}

static bool ask(struct fm_lab *lab, size_t outer, struct fm_error *err)
{
    struct seen seen[PASSES];
    struct pair pair;
    const char *why;
    bool good = plan(lab, outer, &pair, &why);
    /* What is counted comes out the same each time, or nearly: an error is known to be small. */
    const size_t passes = fm_levels_are_fairly_counted(lab) ? 1 : PASSES;
    for (size_t i = 0; good && i < passes; i++) {
        if (!fm_lab_go_on(lab, 0.3 * (double)i, err) || !pass(lab, &pair, &seen[i], err))
            return false;
    }
    for (size_t i = passes; good && i < PASSES; i++)
        seen[i] = seen[0];
    enum fm_filled filled;
    if (!fm_ask_what_fills(lab, outer, &filled, err))
        return false;
    struct fm_finding *finding = fm_lab_finding(lab, outer, "inclusion", "");
    if (!finding)
        return true;
    const char *says = good ? judge(seen, &why) : NULL;
    report(finding, says, why, filled, fm_served_meter(lab));
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    if (!lab->known.memory_seen)
        return true;
    for (size_t outer = 1; outer + 1 < lab->known.count; outer++)
        if (!ask(lab, outer, err))
            return false;
    return true;
}

static const char *const outer_attributes[] = {"inclusion", NULL};

const struct fm_probe fm_probe_inclusion = {
    .name = "inclusion",
    .finds = "which levels hold what those inside hold",
    .needs = "levels,gap,latency,capacity",
    .share = 0.1,
    .detail = true,
    .run = run,
    .outer = outer_attributes,
    .second = "l2.inclusion",
    .no_second = FM_NO_SECOND_CACHE,
};
