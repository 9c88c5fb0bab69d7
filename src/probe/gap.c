/* The gap test: n words, k bytes apart, all fall into one set of the first-level cache when k is a
 * multiple of its way. One more than there are ways, and they miss on every lap. The smallest n
 * that misses, at the smallest k, gives ways and capacity to the byte; moving the last word on
 * until it leaves the set gives the line. Only gaps that fit the walk's edge need be tried. */
#include <math.h>
#include <stdio.h>

#include "core/refstring.h"
#include "probe/conflict.h"
#include "probe/levels.h"
#include "probe/probe.h"

/* Times the edge at which nearly all references miss. */
#define BEYOND 1.6
/* Part of a hit that a miss adds at the least. */
#define LEAST_MISS 0.2
/* Multiples of a gap that are asked once more; the part of placements on which one conflicts that
   makes it the gap, and the part that noise makes of none. */
#define MOST_MULTIPLES 4
#define MOSTLY         0.7
#define SELDOM         0.15
/* Part of a hit below which the clock is not believed. */
#define GRAIN 0.02

/* Gaps that conflict on one placement and not on others after which no further ones are asked, and
   their part of those asked: where page placement decides, many do that, where noise does, few. */
#define MOST_REFUTED 24
#define REFUTED_PART 0.2

struct search {
    struct fm_conflict_gauge gauge;
    size_t line;
    double low, high; /* where the capacity must lie, from the walk */
    unsigned ways;
    size_t way_bytes;
    bool doubtful;           /* a multiple of the gap may be the true one */
    unsigned asked, refuted; /* gaps, and those that were not confirmed */
};

/* What a miss adds. The next plateau says so, unless it is that of a level further out, the second
   one's being blurred away; then the walk just beyond the edge says less. */
static double miss_ns(const struct fm_lab *lab)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const double next = first[1].height_ns - first->height_ns;
    const double beyond = fm_walk_at(&lab->walk, BEYOND * first->rise_from) - first->height_ns;
    return beyond > LEAST_MISS * first->height_ns ? fmin(next, beyond) : next;
}

/* A reading that noise spoiled may have passed over the true gap; half of it conflicts too, at
   twice as many words. So the multiples of what was found are asked once more, and those of what
   that shows. Where something else takes a place in each set, one word fewer conflicts as well, and
   nothing is shown but that the gap may be larger. */
static bool look_again(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    for (unsigned times = MOST_MULTIPLES; times > 1; times--) {
        const struct fm_gap gap = {.count = search->ways / times + 1,
                                   .stride = search->way_bytes * times};
        struct fm_conflict_shares shares;
        if (search->ways % times)
            continue;
        if (!fm_conflict_shares(lab, &search->gauge, &gap, &shares, err))
            return false;
        if (shares.sets > MOSTLY) {
            search->ways /= times;
            search->way_bytes *= times;
            search->doubtful = false;
            times = MOST_MULTIPLES + 1;
        } else {
            search->doubtful |= shares.sets > SELDOM || shares.any > MOSTLY;
        }
    }
    return true;
}

/* … and where the true gap was passed over, or lies below where the walk has it, words that are
   twice as far apart conflict just so. So parts of what was found are asked too. */
static bool look_closer(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    for (unsigned times = MOST_MULTIPLES; times > 1; times--) {
        const struct fm_gap gap = {.count = search->ways + 1, .stride = search->way_bytes / times};
        struct fm_conflict_shares shares;
        if (search->way_bytes % (times * search->line))
            continue;
        if (!fm_conflict_shares(lab, &search->gauge, &gap, &shares, err))
            return false;
        if (shares.sets > MOSTLY) {
            search->way_bytes /= times;
            return true;
        }
        search->doubtful |= shares.sets > SELDOM;
    }
    return true;
}

static bool is_hopeless(const struct search *search)
{
    return search->refuted > MOST_REFUTED && search->refuted > REFUTED_PART * search->asked;
}

/* What counters show is asked first: a gap that conflicts on all placements, with no word to spare,
   is the cache's, whoever pointed to it. */
static bool try_counted(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    const struct fm_counted *counted = fm_lab_counted(lab, 0);
    bool yes;
    if (!counted || !counted->sharp || !counted->ways || counted->bytes < search->low ||
        counted->bytes > search->high)
        return true;
    const struct fm_gap gap = {.count = (unsigned)counted->ways + 1,
                               .stride = (size_t)counted->bytes / counted->ways};
    if (!fm_conflict_confirmed(lab, &search->gauge, &gap, &yes, err))
        return false;
    if (yes) {
        search->ways = gap.count - 1;
        search->way_bytes = gap.stride;
    }
    return true;
}

static bool search_ways(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    const size_t arena = (size_t)(3 * search->high) + 2 * lab->machine->info.page_size;
    const unsigned most = (unsigned)(search->high / (double)search->line) + 2;
    if (!fm_lab_place(lab, arena, err))
        return false;
    for (unsigned count = 2; count <= most && !is_hopeless(search); count++) {
        const size_t from = (size_t)ceil(search->low / (count - 1) / (double)search->line);
        const size_t to = (size_t)floor(search->high / (count - 1) / (double)search->line);
        if (!fm_lab_go_on(lab, (double)count / most, err))
            return false;
        for (size_t lines = from ? from : 1; lines <= to && !is_hopeless(search); lines++) {
            bool yes;
            const struct fm_gap gap = {.count = count, .stride = lines * search->line};
            search->asked++;
            if (!fm_conflicts(lab, &search->gauge, &gap, 2, &yes, err))
                return false;
            if (!yes)
                continue;
            if (!fm_conflict_confirmed(lab, &search->gauge, &gap, &yes, err))
                return false;
            if (yes) {
                search->ways = count - 1;
                search->way_bytes = gap.stride;
                return true;
            }
            search->refuted++;
            if (!fm_lab_place(lab, arena, err))
                return false;
        }
    }
    return true;
}

static bool find_ways(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    return try_counted(lab, search, err) && (search->ways || search_ways(lab, search, err)) &&
           (!search->ways || (look_again(lab, search, err) && look_closer(lab, search, err)));
}

/* How far the last word must move to leave the set. */
static bool find_line(struct fm_lab *lab, const struct search *search, size_t *line,
                      struct fm_error *err)
{
    *line = 0;
    /* What was asked last may have been less. */
    if (!fm_lab_place(
            lab, (search->ways + 2) * search->way_bytes + 2 * lab->machine->info.page_size, err))
        return false;
    for (size_t offset = FM_WORD; offset < search->way_bytes && !*line; offset *= 2) {
        bool yes;
        const struct fm_gap gap = {search->ways + 1, search->way_bytes, offset};
        if (!fm_conflicts(lab, &search->gauge, &gap, 4, &yes, err))
            return false;
        if (!yes)
            *line = offset;
    }
    return true;
}

/* Where the capacity can lie: between the last footprint that shows no miss and the first that
   shows a full set's worth, with a margin for what one point can be off. */
static void bracket(const struct fm_lab *lab, struct search *search)
{
    const struct fm_walk *walk = &lab->walk;
    const struct fm_known_level *level = &lab->known.levels[0];
    search->low = level->flat_to > 0 ? level->flat_to : level->rise_from;
    search->high = level->rise_to;
    for (size_t i = 0; i < walk->count; i++) {
        const double bytes = (double)walk->points[i].bytes;
        if (fm_walk_mean(&walk->points[i]) > search->gauge.hit_ns + 0.3 * search->gauge.miss_ns) {
            search->high = fmin(search->high, bytes);
            break;
        }
    }
    search->low = fmin(search->low, search->high) / 1.25;
    search->high *= 1.1;
}

/* Lines further out were looked for from the first level's on: one that is as long may be shorter
   where the gap shows another. And of units longer than lines a hashed level has room for more. */
static void doubt_outer_lines(struct fm_lab *lab, double line, double by_gap)
{
    for (size_t i = 1; i + 1 < lab->known.count; i++) {
        struct fm_finding *finding = fm_lab_finding(lab, i, "line", "B");
        lab->known.levels[i].units_too_long |= by_gap < line;
        if (finding && finding->status == FM_MEASURED && finding->value.number == line)
            fm_undetermined(finding, "it is as long as the first level's, which is in doubt");
    }
}

static void report(struct fm_lab *lab, const struct search *search, size_t line)
{
    struct fm_known_level *level = &lab->known.levels[0];
    const double capacity = (double)search->ways * (double)search->way_bytes;
    level->capacity = capacity;
    struct fm_finding *finding = fm_lab_finding(lab, 0, "capacity", "B");
    if (finding)
        fm_measured(finding, capacity, capacity, capacity, 0.99, "gap", "curve:cache-only");
    finding = fm_lab_finding(lab, 0, "ways", "");
    if (finding && search->doubtful)
        fm_undetermined(finding, "half as many words twice as far apart, or fewer, conflict on "
                                 "some page placements and not on others");
    else if (finding) {
        fm_measured(finding, search->ways, search->ways, search->ways, 0.99, "gap", NULL);
        if (search->way_bytes == search->line)
            finding->value = finding->low = finding->high = fm_text("full");
    }
    finding = fm_lab_finding(lab, 0, "line", "B");
    /* A word that is moved to the other line of a pair brings the first along. */
    const bool pairs = level->flushed && line > level->line;
    if (!finding || !line || pairs)
        return;
    if (finding->status == FM_MEASURED && finding->value.number != (double)line) {
        finding->candidate_count = 2;
        finding->candidates[0] = finding->value;
        finding->candidates[1] = fm_number((double)line);
        doubt_outer_lines(lab, finding->value.number, (double)line);
        fm_undetermined(finding, "the linesize string and the gap string disagree");
    } else if (finding->status == FM_MEASURED) {
        finding->confidence = 0.99;
        fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, "clock/gap");
    } else {
        fm_measured(finding, (double)line, (double)line, (double)line, 0.95, "gap", NULL);
    }
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_known *known = &lab->known;
    struct fm_finding *ways = fm_result_finding(lab->result, "l1d.ways", "");
    if (!ways)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    if (known->count < 2) {
        fm_undetermined(ways, "the walk shows no first level to look into");
        return true;
    }
    struct search search = {
        .gauge = {.hit_ns = known->levels[0].height_low,
                  .miss_ns = miss_ns(lab),
                  .least_ns = GRAIN * known->levels[0].height_low},
        .line = known->levels[0].line ? known->levels[0].line : FM_WORD,
    };
    size_t line = 0;
    bracket(lab, &search);
    if (!find_ways(lab, &search, err) || (search.ways && !find_line(lab, &search, &line, err)))
        return false;
    if (!search.ways) {
        fm_undetermined(ways, "no gap conflicts on every page placement: the index may be "
                              "physical or hashed");
        return true;
    }
    report(lab, &search, line);
    const struct fm_known_ways first = {search.ways, known->levels[0].capacity,
                                        (double)lab->machine->info.page_size,
                                        1u << FM_KNEE_CONTIGUOUS, false};
    return search.doubtful || fm_reread_levels(lab, &first, err);
}

static const char *const properties[] = {"l1d.capacity", "l1d.ways", NULL};

const struct fm_probe fm_probe_gap = {
    .name = "gap",
    .finds = "the first data cache to the byte: capacity, ways, line",
    .needs = "levels",
    .share = 0.05,
    .vital = true,
    .run = run,
    .properties = properties,
};
