/* The gap test as published: G(n, k, 0) for n of 2 and odd numbers, k four to an octave, up to the
 * first that is slower than the baseline G(2, 1 KiB, 0); then G(n, k, o) with o in powers of two
 * until it is as fast again.
 *
 * Two things are added, since the published sweep is wrong without them on machines of its own
 * table. A gap counts only if the same pages without the conflict are fast: four-way TLBs conflict
 * before eight-way caches do. And where the sweep's coarse steps may have passed over the smallest
 * n and k that conflict, they are looked for between the steps. */
#include "core/refstring.h"
#include "probe/conflict.h"
#include "probe/lab.h"
#include "probe/published.h"
#include "refstring/refstring.h"

/* The largest first level looked for, and the most ways. */
#define LARGEST   ((size_t)1 << 24)
#define MOST_WAYS 32
#define REPEATS   2

size_t fm_published_next(size_t bytes)
{
    size_t power = FM_PUBLISHED_SMALLEST;
    while (2 * power <= bytes)
        power *= 2;
    return bytes + (power / 4 > 1024 ? power / 4 : 1024);
}

static bool time_baseline(struct fm_lab *lab, double *ns, struct fm_error *err)
{
    const struct fm_gap_plan plan = {
        .count = 2, .stride = FM_PUBLISHED_SMALLEST, .seed = fm_lab_seed(lab)};
    const struct fm_care care = {.repeats = 8};
    struct fm_string string;
    return fm_gap_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

static size_t arena_for(const struct fm_lab *lab, const struct fm_gap *gap)
{
    return gap->count * gap->stride + 2 * lab->machine->info.page_size;
}

/* The smallest conflict at or below one that the sweep met. */
static bool narrow(struct fm_lab *lab, const struct fm_conflict_gauge *gauge, struct fm_gap *gap,
                   struct fm_error *err)
{
    for (bool yes = true; yes && gap->count > 2;) {
        const struct fm_gap fewer = {.count = gap->count - 1, .stride = gap->stride};
        if (!fm_conflicts(lab, gauge, &fewer, REPEATS, &yes, err))
            return false;
        gap->count -= yes;
    }
    for (bool yes = true; yes && gap->stride > FM_WORD;) {
        const struct fm_gap closer = {.count = gap->count, .stride = gap->stride / 2};
        if (!fm_conflicts(lab, gauge, &closer, REPEATS, &yes, err))
            return false;
        if (yes)
            gap->stride /= 2;
    }
    return true;
}

/* All gaps of so many words; *found when one of them conflicts. */
static bool sweep_strides(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                          struct fm_gap *gap, bool *found, struct fm_error *err)
{
    const size_t limit = fm_lab_limit(lab) / (2 * gap->count);
    const size_t widest = LARGEST / (gap->count - 1);
    const struct fm_gap last = {.count = gap->count, .stride = widest < limit ? widest : limit};
    if (!fm_lab_place(lab, arena_for(lab, &last), err))
        return false;
    for (size_t k = FM_PUBLISHED_SMALLEST; k <= last.stride; k = fm_published_next(k)) {
        *gap = (struct fm_gap){.count = last.count, .stride = k};
        if (!fm_conflicts(lab, gauge, gap, REPEATS, found, err))
            return false;
        if (!*found)
            continue;
        if (!narrow(lab, gauge, gap, err) || !fm_conflict_confirmed(lab, gauge, gap, found, err))
            return false;
        if (*found)
            return true;
        if (!fm_lab_place(lab, arena_for(lab, &last), err))
            return false;
    }
    return true;
}

static bool find_line(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                      const struct fm_gap *gap, size_t *line, struct fm_error *err)
{
    *line = 0;
    for (size_t o = FM_WORD; o < gap->stride && !*line; o *= 2) {
        bool yes;
        const struct fm_gap moved = {gap->count, gap->stride, o};
        if (!fm_conflicts(lab, gauge, &moved, REPEATS, &yes, err))
            return false;
        if (!yes)
            *line = o;
    }
    return true;
}

bool fm_published_gap(struct fm_lab *lab, struct fm_published_first *first, struct fm_error *err)
{
    /* Times are compared in whole adds. */
    struct fm_conflict_gauge gauge = {.least_ns = lab->known.add_ns / 2};
    struct fm_gap gap = {.count = 2, .stride = FM_PUBLISHED_SMALLEST};
    bool found = false;
    *first = (struct fm_published_first){0};
    if (!fm_lab_place(lab, arena_for(lab, &gap), err) || !time_baseline(lab, &gauge.hit_ns, err))
        return false;
    for (unsigned n = 2; n <= MOST_WAYS + 1 && !found; n += n == 2 ? 1 : 2) {
        gap.count = n;
        if (!fm_lab_go_on(lab, 0.3 * n / MOST_WAYS, err) ||
            !sweep_strides(lab, &gauge, &gap, &found, err))
            return false;
    }
    if (!found)
        return true;
    first->ways = gap.count - 1;
    first->way_bytes = gap.stride;
    if (!find_line(lab, &gauge, &gap, &first->line, err))
        return false;
    /* No word leaves a single set; its words still conflict a line apart, but not closer. */
    first->full = first->line == 0;
    if (first->full)
        first->line = gap.stride;
    return true;
}
