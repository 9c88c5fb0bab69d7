/* The first cache of code where pages, or a hash, decide which lines share a set. */
#include <math.h>
#include <stdio.h>

#include "probe/icache.h"

/* An interval wider than this is no answer. */
#define TOO_WIDE 1.5

static bool is_told(const struct fm_crossing *crossing)
{
    return crossing->inside && crossing->low > 0 && crossing->high < TOO_WIDE * crossing->low;
}

static void report_capacity(struct fm_lab *lab, const struct fm_icache *icache,
                            const struct fm_crossing *crossing)
{
    struct fm_finding *capacity = fm_l1i_finding(lab, "capacity", "B");
    const double line = (double)icache->line;
    if (capacity)
        fm_measured(capacity, floor(crossing->at / line) * line, floor(crossing->low / line) * line,
                    ceil(crossing->high / line) * line, 0.95, "placements", "curve:code");
}

/* Hands on what other probes build on. */
static void know(struct fm_lab *lab, const struct fm_icache *icache, double from, double to,
                 double miss_ns)
{
    lab->known.code_from = from;
    lab->known.code_to = to;
    lab->known.code_miss_ns = miss_ns;
    lab->known.code_unit = icache->line;
    lab->known.code_moved = true;
}

/* Nothing tells which lines share a set; what misses cost may help the walk through outer levels.
 */
static bool leave_open(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                       struct fm_error *err)
{
    struct fm_code_miss_cost miss;
    char reason[sizeof((struct fm_finding *)0)->note];
    if (!fm_time_code_miss(lab, icache, rise->missed, &miss, err))
        return false;
    if (miss.ns < FM_SHOWN * fm_code_miss(icache, rise)) {
        fm_give_up_l1i(lab, FM_DO_NOT_MISS);
        return true;
    }
    snprintf(reason, sizeof reason,
             "misses begin after %.0f bytes and are many at %.0f, but no lines conflict on every "
             "page placement, and groups that do on one do not agree",
             rise->held, rise->missed);
    fm_give_up_l1i(lab, reason);
    fm_report_l1i_miss(lab, &miss);
    /* Nothing has shown that it is the first cache, and not what was before it. */
    if (icache->passed_ns <= 0)
        know(lab, icache, rise->held, rise->missed, miss.ns);
    return true;
}

/* Where misses begin at the same place on all placements, lines may conflict at some distance after
   all: the curve had shown the wrong bracket to look in, or noise spoilt the look. */
static bool look_at_distances(struct fm_lab *lab, struct fm_icache *icache,
                              const struct fm_tlb_step *rise, const struct fm_code_groups *groups,
                              const struct fm_crossing *crossing, struct fm_error *err)
{
    const struct fm_code_ways_range these = {.least = groups->ways, .most = groups->ways};
    struct fm_tlb_step around = *rise;
    const size_t line = icache->line;
    around.held = crossing->low;
    around.missed = crossing->high;
    icache->line = groups->line;
    if (!fm_find_code_ways(lab, icache, &around, &these, err))
        return false;
    if (!icache->ways)
        icache->line = line;
    return true;
}

bool fm_may_be_of_data(const struct fm_lab *lab, size_t line, double low, double high)
{
    for (size_t i = 1; i + 1 < lab->known.count; i++) {
        const struct fm_known_level *level = &lab->known.levels[i];
        if (level->line == line && high > level->rise_from && low < level->rise_to)
            return true;
    }
    return false;
}

bool fm_measure_moved(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                      const struct fm_code_groups *groups, struct fm_error *err)
{
    const size_t brought = icache->line;
    struct fm_code_average average;
    struct fm_code_miss_cost miss;
    if (!groups->ways)
        return leave_open(lab, icache, rise, err);
    if (!fm_average_code_capacity(lab, icache, rise, groups, &average, err))
        return false;
    if (average.all <= 0 || average.crossing.at > FM_TOO_MUCH * icache->first.missed) {
        fm_give_up_l1i(lab, FM_DO_NOT_MISS);
        return true;
    }
    if (average.crossing.inside &&
        !look_at_distances(lab, icache, rise, groups, &average.crossing, err))
        return false;
    if (icache->ways)
        return true;
    if (fm_may_be_of_data(lab, groups->line, average.crossing.low, average.crossing.high)) {
        fm_give_up_l1i(lab, FM_OF_DATA);
        return true;
    }
    if (!fm_time_code_miss(lab, icache, average.all, &miss, err))
        return false;
    know(lab, icache, average.crossing.at, average.all, miss.ns);
    fm_report_l1i_miss(lab, &miss);
    /* Groups whose misses do not add up to a capacity may be those of the level behind. */
    if (!is_told(&average.crossing)) {
        fm_give_up_l1i(lab, "its misses differed too much between placements of its pages");
        return true;
    }
    report_capacity(lab, icache, &average.crossing);
    icache->line = groups->line;
    fm_report_l1i_line(lab, icache, brought);
    fm_report_l1i(lab, "ways", "", groups->ways, "code-groups");
    return true;
}
