/* Ways and physical capacity of every level, by crowding it until nothing more fits (crowd.h). */
#include <math.h>
#include <stdio.h>

#include "analysis/occupancy.h"
#include "probe/crowd_lines.h"
#include "probe/probe.h"

/* References that may be spent on a level, in each effort. */
static const double spend[] = {[FM_QUICK] = 2e6, [FM_NORMAL] = 8e6, [FM_THOROUGH] = 1e9};
/* … and what is left of that where an event is asked: a trial takes three laps instead of ten. */
#define COUNTED 0.3
/* Pages to choose from, in capacities and in footprints that miss wholly: the last class to be
   filled waits long for its last member. */
#define CAPACITIES 6
#define RISES      3
#define FEW_PAGES  64
/* Words at another place of some pages, to see whether they fall into the same sets. */
#define OTHERS 8
/* Times what the levels inside may hold that leave none of them alone in a set of theirs, where it
   would stay and never be asked for here. */
#define KEPT 4
/* What lies outside of this is not what the walk saw. */
#define BELOW 0.85
#define ABOVE 1.3
/* What the walk and the expected filling of sets may differ by and still agree. */
#define AGREE 0.05
/* Part of a class with one page too many that misses where all do, as under LRU. */
#define ALL 0.85

/* Those of a level inside; 0 where they are not known. */
static double ways_of(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *ways = fm_lab_finding(lab, index, "ways", "");
    return ways && ways->status == FM_MEASURED && ways->value.kind == FM_VALUE_NUMBER
               ? ways->value.number
               : 0;
}

static bool prepare(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                    struct fm_crowd_lines *lines)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double page = (double)lab->machine->info.page_size;
    const double pages = fmax(CAPACITIES * level->capacity, RISES * level->rise_to) / page;
    *lines = (struct fm_crowd_lines){.page = lab->machine->info.page_size};
    *crowd = (struct fm_crowd){.items = (size_t)pages + FEW_PAGES,
                               .most = (size_t)(ABOVE * level->rise_to / page) + FEW_PAGES / 8,
                               .hit_ns = level->height_ns - lab->known.levels[0].height_ns,
                               .penalty_ns = level[1].height_ns - level->height_ns,
                               .spend = spend[lab->options->effort]};
    lines->bit = (unsigned)index;
    lines->counted = fm_lab_counted(lab, lines->bit) && !(lab->by_stores & 1u << lines->bit);
    if (lines->counted)
        crowd->spend *= COUNTED;
    lines->offset = fm_lab_seed(lab) % (lines->page / FM_LONGEST_LINE) * FM_LONGEST_LINE;
    if (index > 0)
        crowd->shallow = (size_t)(2 * fmax(level[-1].capacity / page, ways_of(lab, index - 1))) + 1;
    crowd->kept = KEPT * crowd->shallow;
    if (crowd->most > crowd->items)
        crowd->most = crowd->items;
    return crowd->penalty_ns > 0 && level->rise_to > 0 && level->capacity > 0 &&
           (double)crowd->items * page <= (double)fm_lab_limit(lab);
}

/* How much of a page falls into sets of its own: words at another place of any pages find the sets
   full if they are the same. */
static bool find_granule(struct fm_lab *lab, struct fm_crowd *crowd, size_t page, size_t line,
                         size_t *granule, struct fm_error *err)
{
    *granule = page;
    for (size_t apart = page / 2; apart >= line; apart /= 2) {
        uint32_t others[OTHERS];
        double misses;
        for (size_t i = 0; i < OTHERS; i++)
            others[i] = crowd->pool[i] ^ (uint32_t)(apart / FM_WORD);
        if (!fm_crowd_misses(lab, crowd, others, OTHERS, &misses, err))
            return false;
        if (!fm_crowd_is_some(crowd, misses))
            break;
        *granule = apart;
    }
    return true;
}

static void leave_open(struct fm_lab *lab, size_t index, const char *reason)
{
    struct fm_finding *finding = fm_lab_finding(lab, index, "ways", "");
    if (finding)
        fm_undetermined(finding, reason);
    finding = fm_lab_finding(lab, index, "physical_capacity", "B");
    if (finding)
        fm_undetermined(finding, reason);
}

static void report_number(struct fm_finding *finding, double value, const char *meter)
{
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = meter,
                                                   .method = "crowd",
                                                   .value = fm_number(value),
                                                   .low = value,
                                                   .high = value,
                                                   .confidence = 0.97});
}

static void report(struct fm_lab *lab, size_t index, double ways, double bytes, bool counted)
{
    const char *meter = counted ? fm_lab_meter(lab, (unsigned)index) : "clock";
    report_number(fm_lab_finding(lab, index, "ways", ""), ways, meter);
    report_number(fm_lab_finding(lab, index, "physical_capacity", "B"), bytes, meter);
}

/* The footprint at which so many references miss a cache of so many classes, expected over
   placements: by how pages fall into classes, which is all that there is to it under LRU. */
static double expected_capacity(double page, double classes, uint32_t ways)
{
    double low = 1, high = 2 * classes * ways;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        if (fm_occupancy_misses_mean(middle, classes, ways) > FM_CAPACITY_MISSES)
            high = middle;
        else
            low = middle;
    }
    return low * page;
}

/* Two ways to the effective capacity: the walk over some placements, which luck moves, and what
   ways and classes lead to expect of all. Where the two agree the second is nearer. */
static void sharpen_capacity(struct fm_lab *lab, size_t index, const struct fm_crowded *shown,
                             size_t granule)
{
    struct fm_finding *capacity = fm_lab_finding(lab, index, "capacity", "B");
    const double ways = (double)shown->ways;
    const double page = (double)lab->machine->info.page_size;
    if (!capacity || capacity->status != FM_MEASURED || !lab->known.scattered ||
        (double)granule < page || shown->misses < ALL)
        return;
    const double expected = expected_capacity(page, (double)shown->held / ways, (uint32_t)ways);
    const double low = capacity->low.number, high = capacity->high.number;
    if (expected < low * (1 - AGREE) || expected > high * (1 + AGREE))
        return;
    fm_measured(capacity, expected, fmax(low, expected * (1 - AGREE)),
                fmin(high, expected * (1 + AGREE)), 0.97, "occupancy", "curve:cache-only");
    lab->known.levels[index].capacity = expected;
}

/* Why what was shown decides nothing; NULL: it does. */
static const char *doubt(const struct fm_lab *lab, const struct fm_known_level *level,
                         const struct fm_crowded *shown, size_t granule)
{
    const double bytes = (double)(shown->held * granule);
    const char *reason = fm_crowd_doubt(lab, shown);
    if (!reason && (bytes < BELOW * level->capacity || bytes > ABOVE * level->rise_to))
        reason = "what it holds when filled page by page is not what the walk shows";
    return reason;
}

static bool measure(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    struct fm_crowd crowd;
    struct fm_crowd_lines lines;
    struct fm_crowded shown = {.held = 0};
    size_t granule = 0;
    if (!prepare(lab, index, &crowd, &lines)) {
        leave_open(lab, index,
                   "where it begins and ends to miss is not known, or takes more memory "
                   "than may be touched");
        return true;
    }
    const size_t line = level->line ? level->line : FM_LONGEST_LINE;
    bool good =
        fm_crowd_lines_open(lab, &crowd, &lines, err) && fm_crowd_out(lab, &crowd, &shown, err);
    if (good && shown.full)
        good = find_granule(lab, &crowd, lines.page, line, &granule, err);
    fm_crowd_lines_close(&crowd);
    if (!good)
        return false;
    const char *reason = doubt(lab, level, &shown, granule);
    if (reason) {
        leave_open(lab, index, reason);
        return true;
    }
    report(lab, index, (double)shown.ways, (double)(shown.held * granule), lines.counted);
    sharpen_capacity(lab, index, &shown, granule);
    return true;
}

/* Whether the counters have shown which lines share a set: there is nothing to crowd then. */
static bool is_counted(const struct fm_lab *lab, size_t index)
{
    const struct fm_counted *found = fm_lab_counted(lab, (unsigned)index);
    return found && found->ways;
}

/* The gap test has answered for a first level, to the byte. */
static bool is_known(struct fm_lab *lab)
{
    const struct fm_finding *ways = fm_result_find(lab->result, "l1d.ways");
    const struct fm_finding *capacity = fm_result_find(lab->result, "l1d.capacity");
    if (!ways || !capacity || ways->status != FM_MEASURED || capacity->status != FM_MEASURED)
        return false;
    const double bytes = capacity->value.number;
    struct fm_finding *physical = fm_result_finding(lab->result, "l1d.physical_capacity", "B");
    if (physical)
        fm_measured(physical, bytes, bytes, bytes, 0.99, "gap", NULL);
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    for (size_t i = 0; i + 1 < lab->known.count; i++)
        if ((i > 0 || !is_known(lab)) && !is_counted(lab, i) && !measure(lab, i, err))
            return false;
    return true;
}

static const char *const properties[] = {"l1d.ways", "l1d.physical_capacity", NULL};

const struct fm_probe fm_probe_ways = {
    .name = "ways",
    .finds = "ways and physical capacity of every data cache",
    .needs = "cycle,levels,gap,latency,capacity",
    .share = 0.1,
    .detail = true,
    .run = run,
    .properties = properties,
};
