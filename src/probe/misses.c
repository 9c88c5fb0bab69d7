/* Counting before anything is timed: every structure that has an event which can be believed, from
 * the inside out. What is found here is kept in the lab: the clock has less to look for then, and
 * the probe "counters" sets it beside what the clock says. */
#include <math.h>
#include <stdio.h>

#include "probe/believe.h"
#include "probe/counted.h"
#include "probe/probe.h"

/* No line is shorter than this. */
#define SHORTEST_LINE 16
#define LONGEST_LINE  512
/* Pieces of a page that an entry might map, and pages it might map together. */
#define PIECES     16
#define MOST_PAGES 16
#define SMALLEST   512
/* Footprints end here, as they do for the clock; those of code are small. */
static const double ends[] = {[FM_QUICK] = 0x1p26, [FM_NORMAL] = 0x1p27, [FM_THOROUGH] = 0x1p30};
#define CODE_END 0x1p24

/* Structures of one kind, from the core outward. */
struct row {
    unsigned first, count; /* events */
    size_t unit, longest;
    double to;
    bool jumps;
};

/* From the inside out: a level's line is at least as long as that of the one inside it, and what
   fits there says nothing of this one. */
static bool count_row(struct fm_lab *lab, const struct row *row, struct fm_error *err)
{
    double inner = 0;
    size_t unit = row->unit;
    for (unsigned bit = row->first; bit < row->first + row->count; bit++) {
        char curve[32];
        struct fm_counted *found = &lab->counted[bit];
        snprintf(curve, sizeof curve, "misses-%s", fm_event_structure(bit));
        const struct fm_counted_plan plan = {.bit = bit,
                                             .unit = unit,
                                             .longest_line = row->longest,
                                             .from =
                                                 inner > 0 ? inner : fmax(SMALLEST, (double)unit),
                                             .to = row->to,
                                             .inner = inner,
                                             .jumps = row->jumps,
                                             .curve = curve};
        lab->part = (double)bit / FM_EVENTS;
        if (!(lab->believed & 1u << bit))
            continue;
        if (!fm_count_structure(lab, &plan, found, err))
            return false;
        if (!found->missed)
            continue;
        inner = found->bytes;
        /* Footprints are made of whole pages: entries that map several are not units of theirs. */
        if (found->line > unit && found->line <= lab->machine->info.page_size)
            unit = found->line;
    }
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const double end = fmin(ends[lab->options->effort], (double)fm_lab_limit(lab)) / 2;
    const size_t page = lab->machine->info.page_size;
    const struct row rows[] = {
        {0, FM_CACHE_LEVELS, SHORTEST_LINE, LONGEST_LINE, end, false},
        {FM_CACHE_LEVELS, FM_TLB_LEVELS, page / PIECES, page * MOST_PAGES, end, false},
        {FM_CODE_EVENT, 1, SHORTEST_LINE, LONGEST_LINE, fmin(end, CODE_END), true},
        {FM_CODE_EVENT + 1, 1, page / PIECES, page * MOST_PAGES, fmin(end, CODE_END), true},
    };
    if (!fm_believe_counters(lab, err))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!count_row(lab, &rows[i], err))
            return false;
    return true;
}

static const char *const properties[] = {NULL};

const struct fm_probe fm_probe_misses = {
    .name = "misses",
    .finds = "misses over footprint of every cache and TLB that has an event, before the clock",
    .needs = "",
    .curve = "misses-l1d",
    .share = 0.2,
    .reads = FM_READS_COUNTERS,
    .run = run,
    .properties = properties,
};
