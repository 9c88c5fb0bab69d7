/* Every structure that has an event which can be believed, from the inside out. */
#include <math.h>
#include <stdio.h>

#include "probe/counted.h"
#include "probe/lab.h"

/* No line is shorter than this. */
#define SHORTEST_LINE 16
#define LONGEST_LINE  512
/* Pieces of a page that an entry might map, and pages it might map together. */
#define PIECES     16
#define MOST_PAGES 16
#define SMALLEST   512
/* Footprints of code are small. */
#define CODE_END 0x1p24

/* Structures of one kind, from the core outward. */
struct row {
    unsigned first, count; /* events */
    size_t unit, longest;
    double to;
    bool jumps;
};

static bool count_row(struct fm_lab *lab, const struct fm_counted_round *round,
                      const struct row *row, struct fm_counted all[], struct fm_error *err)
{
    double inner = 0;
    size_t unit = row->unit;
    for (unsigned bit = row->first; bit < row->first + row->count; bit++) {
        char curve[48];
        struct fm_counted *found = &all[bit];
        snprintf(curve, sizeof curve, "%s-%s%s", round->curves, fm_event_structure(bit),
                 round->kind);
        struct fm_counted_plan plan = {.bit = bit,
                                       .unit = unit,
                                       .longest_line = row->longest,
                                       .from = inner > 0 ? inner : fmax(SMALLEST, (double)unit),
                                       .to = row->to,
                                       .inner = inner,
                                       .manner = round->manner,
                                       .curve = curve};
        plan.manner.jumps = row->jumps;
        lab->part = (double)bit / FM_EVENTS;
        *found = (struct fm_counted){0};
        if (!(lab->believed & round->events & 1u << bit))
            continue;
        if (!round->ask(lab, &plan, found, round->context, err))
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

bool fm_count_round(struct fm_lab *lab, const struct fm_counted_round *round,
                    struct fm_counted found[], struct fm_error *err)
{
    const double end = fmin(fm_lab_far_end(lab), (double)fm_lab_limit(lab)) / 2;
    const size_t page = lab->machine->info.page_size;
    const struct row rows[] = {
        {0, FM_CACHE_LEVELS, SHORTEST_LINE, LONGEST_LINE, end, false},
        {FM_CACHE_LEVELS, FM_TLB_LEVELS, page / PIECES, page * MOST_PAGES, end, false},
        {FM_CODE_EVENT, 1, SHORTEST_LINE, LONGEST_LINE, fmin(end, CODE_END), true},
        {FM_CODE_EVENT + 1, 1, page / PIECES, page * MOST_PAGES, fmin(end, CODE_END), true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!count_row(lab, round, &rows[i], found, err))
            return false;
    return true;
}
