/* The gap test: n words, k bytes apart, all fall into one set of the first-level cache when k is a
 * multiple of its way. One more than there are ways, and they miss on every lap. The smallest n
 * that misses, at the smallest k, gives ways and capacity to the byte; moving the last word on
 * until it leaves the set gives the line. Only gaps that fit the walk's edge need be tried. */
#include <math.h>
#include <stdio.h>

#include "probe/probe.h"
#include "refstring/refstring.h"

/* Half a miss in a lap is the least that can be told from none. */
#define A_MISS 0.5
/* Fresh placements on which a conflict must show, or page placement decides it, not the index. */
#define CONFIRMATIONS 3

struct search {
    double hit_ns;  /* a reference served by the first level */
    double miss_ns; /* what a miss adds */
    size_t line;
    double low, high; /* where the capacity must lie, from the walk */
    unsigned ways;
    size_t way_bytes;
};

static bool time_gap(struct fm_lab *lab, const struct fm_gap_plan *plan, bool control,
                     unsigned repeats, double *ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .laps = 4};
    struct fm_string string;
    const bool built = control ? fm_gap_control_string(&string, plan,
                                                       lab->machine->info.page_size, err)
                               : fm_gap_string(&string, plan, err);
    return built && fm_lab_time(lab, &string, &care, ns, err);
}

/* Whether the words of a gap string conflict in the cache: they take longer than in the cache, and
   the same pages with the words spread out do not. */
static bool conflicts(struct fm_lab *lab, const struct search *search, unsigned count,
                      size_t stride, size_t offset, unsigned repeats, bool *yes,
                      struct fm_error *err)
{
    const struct fm_gap_plan plan = {
        .count = count, .stride = stride, .offset = offset, .seed = fm_lab_seed(lab)};
    const double least = A_MISS * search->miss_ns / count;
    double ns, spread_ns;
    *yes = false;
    if (!time_gap(lab, &plan, false, repeats, &ns, err))
        return false;
    /* Below the clock's confidence nothing is believed. */
    if (ns - search->hit_ns < fmax(least, 0.02 * search->hit_ns))
        return true;
    if (!time_gap(lab, &plan, true, repeats, &spread_ns, err))
        return false;
    *yes = ns - fmax(spread_ns, search->hit_ns) >= fmax(least, 0.02 * search->hit_ns);
    return true;
}

/* The conflict shows on fresh pages too, and one word fewer never conflicts. */
static bool confirmed(struct fm_lab *lab, const struct search *search, unsigned count,
                      size_t stride, bool *yes, struct fm_error *err)
{
    const size_t bytes = count * stride + lab->machine->info.page_size;
    *yes = true;
    for (int i = 0; i < CONFIRMATIONS && *yes; i++) {
        bool more, fewer = false;
        if (!fm_lab_place(lab, bytes, err) ||
            !conflicts(lab, search, count, stride, 0, 6, &more, err) ||
            (count > 2 && !conflicts(lab, search, count - 1, stride, 0, 6, &fewer, err)))
            return false;
        *yes = more && !fewer;
    }
    return true;
}

static bool find_ways(struct fm_lab *lab, struct search *search, struct fm_error *err)
{
    const size_t arena = (size_t)(3 * search->high) + 2 * lab->machine->info.page_size;
    const unsigned most = (unsigned)(search->high / (double)search->line) + 2;
    if (!fm_lab_place(lab, arena, err))
        return false;
    for (unsigned count = 2; count <= most && !search->ways; count++) {
        const size_t from = (size_t)ceil(search->low / (count - 1) / (double)search->line);
        const size_t to = (size_t)floor(search->high / (count - 1) / (double)search->line);
        if (!fm_lab_go_on(lab, (double)count / most, err))
            return false;
        for (size_t lines = from ? from : 1; lines <= to && !search->ways; lines++) {
            bool yes;
            const size_t stride = lines * search->line;
            if (!conflicts(lab, search, count, stride, 0, 2, &yes, err))
                return false;
            if (!yes)
                continue;
            if (!confirmed(lab, search, count, stride, &yes, err))
                return false;
            if (yes) {
                search->ways = count - 1;
                search->way_bytes = stride;
            } else if (!fm_lab_place(lab, arena, err)) {
                return false;
            }
        }
    }
    return true;
}

/* How far the last word must move to leave the set. */
static bool find_line(struct fm_lab *lab, const struct search *search, size_t *line,
                      struct fm_error *err)
{
    const unsigned count = search->ways + 1;
    *line = 0;
    for (size_t offset = FM_WORD; offset < search->way_bytes && !*line; offset *= 2) {
        bool yes;
        if (!conflicts(lab, search, count, search->way_bytes, offset, 4, &yes, err))
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
        if (fm_walk_mean(&walk->points[i]) > search->hit_ns + 0.3 * search->miss_ns) {
            search->high = fmin(search->high, bytes);
            break;
        }
    }
    search->low = fmin(search->low, search->high) / 1.25;
    search->high *= 1.1;
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
    if (finding) {
        fm_measured(finding, search->ways, search->ways, search->ways, 0.99, "gap", NULL);
        if (search->way_bytes == search->line)
            finding->value = finding->low = finding->high = fm_text("full");
    }
    finding = fm_lab_finding(lab, 0, "line", "B");
    if (!finding || !line)
        return;
    if (finding->status == FM_MEASURED && finding->value.number != (double)line) {
        finding->candidate_count = 2;
        finding->candidates[0] = finding->value;
        finding->candidates[1] = fm_number((double)line);
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
        .hit_ns = known->levels[0].height_low,
        .miss_ns = known->levels[1].height_ns - known->levels[0].height_ns,
        .line = known->levels[0].line ? known->levels[0].line : FM_WORD,
    };
    size_t line = 0;
    bracket(lab, &search);
    if (!find_ways(lab, &search, err) || (search.ways && !find_line(lab, &search, &line, err)))
        return false;
    if (search.ways)
        report(lab, &search, line);
    else
        fm_undetermined(ways, "no gap conflicts on every page placement: the index may be "
                              "physical or hashed");
    return true;
}

static const char *const properties[] = {"l1d.capacity", "l1d.ways", NULL};

const struct fm_probe fm_probe_gap = {
    .name = "gap",
    .finds = "the first data cache to the byte: capacity, ways, line",
    .needs = "levels",
    .share = 0.05,
    .run = run,
    .properties = properties,
};
