/* The first cache of code: capacity, line, ways, what a miss adds. A chain of jumps also fills the
 * branch predictor, the TLB and what holds decoded operations; docs/code.md says how each is kept
 * out. */
#include "probe/icache.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "probe/probe.h"
#include "refstring/refstring.h"

/* A first look goes this far: first caches of code are smaller. */
#define FIRST_FAR 0x1p20
/* Elements of the longest string; the shortest line is 16 bytes. */
#define MOST_ELEMENTS (1u << 20)
/* How far the curve goes beyond the first cache, in times of its end. */
#define AROUND 8
/* Ways that caches of code have, most of them. */
#define USUAL_WAYS 16
/* Times the code that the first look has shown to miss that surely does; the part of the lines that
 * misses then, and the placements that tell. */
#define FARTHER    1.25
#define A_PART     0.1
#define PLACEMENTS 3
/* Times that two looks at one edge differ at the most. */
#define LOOKS 1.5
/* Part of one cost of a miss that another is if they are of one cache. */
#define ALIKE 0.85

/* Whatever answers in place of a cache takes a cycle more, at the least. */
static bool is_clear(const struct fm_lab *lab, const struct fm_tlb_step *rise)
{
    return rise->cost - rise->cost_before > FM_A_CYCLE * lab->known.cycle_ns;
}

static bool same_look(const struct fm_code_line *a, const struct fm_code_line *b)
{
    return a->from_lines == b->from_lines && a->line == b->line;
}

/* The line, as two looks of three at the most have it; nothing decides if no two agree. */
static bool look_at_line(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                         struct fm_code_line *look, struct fm_error *err)
{
    struct fm_code_line one, other;
    if (!fm_find_code_line(lab, icache, step, &one, err) ||
        !fm_find_code_line(lab, icache, step, &other, err))
        return false;
    *look = one;
    if (!same_look(&one, &other) && !fm_find_code_line(lab, icache, step, look, err))
        return false;
    if (!same_look(look, &one) && !same_look(look, &other))
        *look = (struct fm_code_line){.from_lines = true};
    look->too_dear |= one.too_dear || other.too_dear;
    return true;
}

/* The first rise that is a cache's; its number, or the count of rises. The line is found on the
   way; where something stays open, no rise beyond is the first cache's either. */
static bool find_cache(struct fm_lab *lab, struct fm_icache *icache, size_t *step,
                       const char **open, struct fm_error *err)
{
    *open = "fetching adds nothing that grows with the code";
    for (*step = 0; *step < icache->count; ++*step) {
        struct fm_code_line look;
        enum fm_rise_of of;
        if (!is_clear(lab, &icache->steps[*step]))
            continue;
        if (!look_at_line(lab, icache, *step, &look, err))
            return false;
        icache->doubtful |= look.from_lines && look.too_dear;
        if (!look.from_lines || (look.too_dear && icache->passes))
            continue;
        icache->line = look.line;
        if (!look.line) {
            *open = "how far apart slots must be to lie in two lines does not show";
            return true;
        }
        bool singly;
        if (!fm_rises_singly(lab, icache, *step, &singly, err) ||
            !fm_tell_from_operations(lab, icache, *step, &look, &of, err))
            return false;
        if (!singly) {
            icache->crowded = true;
            *open = "code slows down here, but much less with one jump in each line: the branch "
                    "predictor may be the cause, not the cache";
            return true;
        }
        if (of == FM_RISE_OPERATIONS) {
            icache->passed_ns = icache->steps[*step].cost;
            if (!fm_time_conflict(lab, icache, err))
                return false;
            continue;
        }
        *open = of == FM_RISE_CACHE ? NULL : "it may be a cache, or hold decoded operations";
        return true;
    }
    return true;
}

static void mark(struct fm_lab *lab, const struct fm_icache *icache, size_t first, double capacity)
{
    const struct fm_curve *drawn = fm_result_find_curve(lab->result, "code");
    if (!drawn)
        return;
    struct fm_curve *curve = &lab->result->curves[drawn - lab->result->curves];
    for (size_t i = first; i < icache->count; i++) {
        struct fm_step *step = &curve->steps[curve->step_count++];
        step->x = i == first && capacity > 0 ? capacity : icache->steps[i].held;
        step->y = icache->steps[i].cost_before;
        snprintf(step->label, sizeof step->label, i == first ? "l1i" : "level %zu", i - first + 1);
    }
}

/* Part of the bytes of a footprint of the first look that were in lines which it touched. */
static double touched(const struct fm_icache *icache)
{
    return fmin(1, (double)icache->line / (double)icache->pitch);
}

/* The rise of the finer curve that the first look has shown. */
static size_t same_rise(const struct fm_lab *lab, const struct fm_icache *icache,
                        const struct fm_tlb_step *rough)
{
    for (size_t i = 0; i < icache->count; i++)
        if (is_clear(lab, &icache->steps[i]) &&
            icache->steps[i].missed * LOOKS > rough->held * touched(icache))
            return i;
    return icache->count;
}

/* Hands on what other probes build on. */
static void know(struct fm_lab *lab, const struct fm_icache *icache, const struct fm_tlb_step *rise,
                 double miss_ns)
{
    const double capacity = (double)icache->ways * (double)icache->way_bytes;
    lab->known.code_from = capacity;
    lab->known.code_to = fmax(capacity, rise->missed);
    lab->known.code_miss_ns = miss_ns;
    lab->known.code_unit = icache->line;
}

/* Whether lines, as groups have them, miss as those do where the first look has shown that they do.
   They seem not to where what is taken for a line holds two of them: groups are then of the level
   behind. */
static bool do_miss(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                    const struct fm_code_groups *groups, bool *yes, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .steps = 256};
    /* Of two curves on pages of their own the first may have been unlucky with them. */
    const double missed =
        fmax(icache->first.missed, fmin(rise->missed, LOOKS * icache->first.missed));
    const size_t bytes = (size_t)(FARTHER * missed);
    double sum = 0;
    for (int i = 0; i < PLACEMENTS; i++) {
        struct fm_code_fetch found;
        icache->lines.apart = groups->line / 2;
        fm_code_lines_fill(&icache->lines, bytes, groups->line, lab->machine->info.page_size);
        const bool good = fm_lab_place(lab, bytes + FM_TURN, err) &&
                          fm_time_fetch(lab, &icache->lines, &care, &found, err);
        icache->lines.apart = FM_WORD;
        if (!good)
            return false;
        sum += found.miss_ns / PLACEMENTS;
    }
    *yes = sum > A_PART * groups->miss_ns;
    return true;
}

/* Whether what distances have shown is where the first look saw misses begin. More is what the
   level behind holds, and far less what holds decoded operations. */
static bool is_there(const struct fm_icache *icache)
{
    const double capacity = (double)icache->ways * (double)icache->way_bytes;
    return capacity < FM_TOO_MUCH * icache->first.missed &&
           FM_TOO_MUCH * capacity > touched(icache) * icache->first.held;
}

/* By distances: ways that are there, of any number in a range. */
static bool find_ways_there(struct fm_lab *lab, struct fm_icache *icache,
                            const struct fm_tlb_step *rise, const struct fm_code_ways_range *range,
                            struct fm_error *err)
{
    if (!fm_find_code_ways(lab, icache, rise, range, err))
        return false;
    if (!is_there(icache))
        icache->ways = 0;
    return true;
}

static const struct fm_code_ways_range usual = {.least = 1, .most = USUAL_WAYS};

/* By distances, and where the usual numbers of ways do not show, by groups: to try every distance
   for every number takes long, and shows nothing where pages decide. */
static bool try_line(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                     struct fm_code_groups *groups, struct fm_error *err)
{
    bool yes = true;
    *groups = (struct fm_code_groups){0};
    if (!find_ways_there(lab, icache, rise, &usual, err))
        return false;
    if (icache->ways)
        return true;
    if (!fm_find_code_groups(lab, icache, rise, groups, err) ||
        (groups->ways && !do_miss(lab, icache, rise, groups, &yes, err)))
        return false;
    groups->ways = yes ? groups->ways : 0;
    return true;
}

static bool find_ways(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                      struct fm_code_groups *groups, struct fm_error *err)
{
    if (!try_line(lab, icache, rise, groups, err))
        return false;
    if (icache->ways || (groups->ways && groups->ways <= USUAL_WAYS))
        return true;
    const struct fm_code_ways_range more = {.least = USUAL_WAYS + 1, .most = UINT_MAX - 1},
                                    these = {.least = groups->ways, .most = groups->ways};
    return find_ways_there(lab, icache, rise, groups->ways ? &these : &more, err);
}

/* The curve by what is taken for the line, the rise that the first look has shown, whose number is
   the count of rises where it is not there, and what shares a set; NULL: by distances alone. */
static bool try_sets(struct fm_lab *lab, struct fm_icache *icache, size_t *step,
                     struct fm_code_groups *groups, struct fm_error *err)
{
    const double far = fmin((double)fm_lab_limit(lab) / 4, AROUND * icache->first.missed);
    icache->ways = 0;
    icache->lines.apart = icache->line / 2;
    const bool drawn = fm_read_fetch_curve(lab, icache, icache->line, far, "code", err);
    icache->lines.apart = FM_WORD;
    if (!drawn)
        return false;
    *step = same_rise(lab, icache, &icache->first);
    if (*step == icache->count)
        return true;
    const struct fm_tlb_step rise = icache->steps[*step];
    return groups ? find_ways(lab, icache, &rise, groups, err)
                  : find_ways_there(lab, icache, &rise, &usual, err);
}

/* What shares a set by half a line may do so in what holds decoded operations. */
static bool drop_operations(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                            struct fm_code_groups *groups, struct fm_error *err)
{
    const struct fm_code_line look = {.from_lines = true, .line = icache->line};
    const size_t line = icache->line;
    enum fm_rise_of of;
    if (step == icache->count || (!icache->ways && !groups->ways))
        return true;
    if (!fm_tell_from_operations(lab, icache, step, &look, &of, err))
        return false;
    if (of != FM_RISE_CACHE || icache->line != line)
        icache->ways = groups->ways = 0;
    icache->line = line;
    return true;
}

/* Whether lines share a set at some distance by half of what seems to be the line, and miss at the
   cost that the first look has shown. */
static bool half_tells(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       struct fm_code_groups *groups, bool *yes, struct fm_error *err)
{
    const double first_ns = icache->first.cost - icache->first.cost_before;
    double miss_ns = 0;
    *yes = false;
    if (!drop_operations(lab, icache, step, groups, err))
        return false;
    if (icache->ways && !fm_time_code_set(lab, icache, &miss_ns, err))
        return false;
    *yes = miss_ns > ALIKE * first_ns && first_ns > ALIKE * miss_ns;
    if (!*yes)
        icache->ways = 0;
    return true;
}

/* Where the level behind misses as well what seems to be a line may be one of that, and slots half
   of it apart lie in two lines of this cache, whose misses fall out: where nothing shares a set,
   the half is tried; and where it takes groups to show that something does, unless they show the
   line. */
static bool find_sets(struct fm_lab *lab, struct fm_icache *icache, size_t *step,
                      struct fm_code_groups *groups, struct fm_error *err)
{
    if (!try_sets(lab, icache, step, groups, err))
        return false;
    if (!icache->ways && groups->ways && groups->line < icache->line) {
        icache->line = groups->line;
        icache->halved = true;
        return try_sets(lab, icache, step, NULL, err);
    }
    const struct fm_icache seen = *icache;
    const size_t seen_step = *step;
    struct fm_code_groups by_half = {0};
    bool told = icache->ways > 0;
    while (!told && !by_half.ways && icache->line > FM_SHORTEST_CODE_LINE) {
        icache->line /= 2;
        icache->halved = true;
        if (!try_sets(lab, icache, step, groups->ways ? NULL : &by_half, err) ||
            !half_tells(lab, icache, *step, &by_half, &told, err))
            return false;
        /* Groups by half of it tell no more than those by the whole. */
        if (groups->ways)
            break;
    }
    if (!told && !groups->ways && by_half.ways) {
        *groups = by_half;
        told = true;
    }
    if (!told) {
        *icache = seen;
        *step = seen_step;
    }
    return true;
}

/* Lines shorter than the usual pitch leave sets of some levels out, and make much of them: such may
   begin to miss before the first does. */
static bool look_first(struct fm_lab *lab, struct fm_icache *icache, size_t *step,
                       const char **open, struct fm_error *err)
{
    const double far = fmin((double)fm_lab_limit(lab) / 4, FIRST_FAR);
    static const size_t pitches[] = {FM_FIRST_PITCH, FM_SHORTEST_CODE_LINE};
    *open = "";
    for (size_t i = 0; i < sizeof pitches / sizeof *pitches && *open && !icache->crowded; i++) {
        icache->pitch = pitches[i];
        icache->passed_ns = 0;
        if (!fm_read_fetch_curve(lab, icache, icache->pitch, far, NULL, err) ||
            !fm_time_conflict(lab, icache, err) || !find_cache(lab, icache, step, open, err))
            return false;
    }
    return true;
}

/* What a miss adds beyond the ways. None shows where the line is too long, as one of the level
   behind may have seemed to be: two slots of it are then in two lines. */
static bool show_misses(struct fm_lab *lab, struct fm_icache *icache,
                        const struct fm_tlb_step *rise, struct fm_code_miss_cost *miss, bool *shown,
                        struct fm_error *err)
{
    const double capacity = (double)icache->ways * (double)icache->way_bytes;
    *shown = false;
    for (size_t line = icache->line; line >= FM_SHORTEST_CODE_LINE && !*shown; line /= 2) {
        icache->line = line;
        if (!fm_time_code_miss(lab, icache, capacity, miss, err))
            return false;
        *shown = miss->ns >= FM_SHOWN * fm_code_miss(icache, rise);
    }
    return true;
}

static bool measure(struct fm_lab *lab, struct fm_icache *icache, struct fm_error *err)
{
    const char *open;
    size_t step;
    if (!look_first(lab, icache, &step, &open, err))
        return false;
    if (open) {
        fm_give_up_l1i(lab, open);
        return true;
    }
    icache->first = icache->steps[step];
    struct fm_code_groups groups = {0};
    if (!find_sets(lab, icache, &step, &groups, err))
        return false;
    if (step == icache->count) {
        fm_give_up_l1i(lab, "two looks at the same code do not agree");
        return true;
    }
    const struct fm_tlb_step rise = icache->steps[step];
    const size_t brought = icache->line;
    if (icache->ways && !fm_refine_code_line(lab, icache, fm_code_miss(icache, &rise), err))
        return false;
    if (!icache->ways && !fm_measure_moved(lab, icache, &rise, &groups, err))
        return false;
    if (!icache->ways)
        return true;
    const double capacity = (double)icache->ways * (double)icache->way_bytes;
    struct fm_code_miss_cost miss;
    bool shown;
    if (!show_misses(lab, icache, &rise, &miss, &shown, err))
        return false;
    if (!shown) {
        fm_give_up_l1i(lab, FM_DO_NOT_MISS);
        return true;
    }
    const bool first = icache->passed_ns <= 0 && !icache->passes;
    if (!first && fm_may_be_of_data(lab, icache->line, capacity, capacity)) {
        fm_give_up_l1i(lab, FM_OF_DATA);
        return true;
    }
    mark(lab, icache, step, capacity);
    know(lab, icache, &rise, miss.ns);
    fm_report_l1i_line(lab, icache, brought);
    fm_report_l1i_miss(lab, &miss);
    fm_report_l1i_ways(lab, icache);
    return true;
}

/* The rise on both sides of a capacity; its number, or the count of rises. */
static size_t rise_around(const struct fm_lab *lab, const struct fm_icache *icache, double bytes)
{
    for (size_t i = 0; i < icache->count; i++)
        if (is_clear(lab, &icache->steps[i]) && icache->steps[i].held <= LOOKS * bytes &&
            icache->steps[i].missed * LOOKS >= bytes)
            return i;
    return icache->count;
}

/* Where the counters have shown line, capacity and ways, the clock need not search: it draws the
   curve around that place, looks for the line there, and sees whether one line more than there are
   ways conflicts, and as many do not. If it sees anything else, *agrees is false. */
static bool second(struct fm_lab *lab, struct fm_icache *icache, const struct fm_counted *counted,
                   bool *agrees, struct fm_error *err)
{
    const double limit = fmin((double)fm_lab_limit(lab) / 4, AROUND * counted->bytes);
    const size_t ways = counted->ways;
    const size_t way_bytes = (size_t)(counted->bytes / (double)ways);
    *agrees = false;
    icache->pitch = counted->line;
    icache->lines.apart = counted->line / 2;
    const bool drawn = fm_read_fetch_curve(lab, icache, icache->pitch, limit, "code", err);
    icache->lines.apart = FM_WORD;
    if (!drawn)
        return false;
    const size_t step = rise_around(lab, icache, counted->bytes);
    if (step == icache->count)
        return true;
    const double miss_ns = fm_code_miss(icache, &icache->steps[step]);
    struct fm_code_line look;
    if (!look_at_line(lab, icache, step, &look, err))
        return false;
    if (!look.from_lines || look.line != counted->line)
        return true;
    icache->line = look.line;
    if (!fm_confirm_code_ways(lab, icache, (unsigned)ways, way_bytes, miss_ns, agrees, err))
        return false;
    struct fm_code_miss_cost miss;
    if (!*agrees)
        return true;
    if (!fm_time_code_miss(lab, icache, counted->bytes, &miss, err))
        return false;
    icache->ways = (unsigned)ways;
    icache->way_bytes = way_bytes;
    mark(lab, icache, step, counted->bytes);
    know(lab, icache, &icache->steps[step], miss.ns);
    fm_report_l1i(lab, "line", "B", (double)icache->line, "lines");
    fm_report_l1i_ways(lab, icache);
    fm_report_l1i_miss(lab, &miss);
    return true;
}

static const char *const properties[] = {"l1i.capacity", "l1i.line", "l1i.ways", "l1i.miss_latency",
                                         NULL};

static bool is_told(const struct fm_lab *lab)
{
    const struct fm_finding *capacity = fm_result_find(lab->result, "l1i.capacity");
    return capacity && capacity->status == FM_MEASURED;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    struct fm_icache icache = {0};
    bool runs;
    if (!fm_code_runs(lab, properties, &runs, err))
        return false;
    if (!runs)
        return true;
    const struct fm_counted *counted = fm_lab_counted(lab, FM_CODE_EVENT);
    bool agrees = false;
    bool good = fm_code_lines_open(&icache.lines, MOST_ELEMENTS, err);
    if (good && counted && counted->ways)
        good = second(lab, &icache, counted, &agrees, err);
    good = good && (agrees || measure(lab, &icache, err));
    if (good && !agrees && icache.doubtful && !icache.crowded && !is_told(lab)) {
        struct fm_icache again = {.lines = icache.lines, .passes = true};
        again.lines.apart = FM_WORD;
        good = measure(lab, &again, err);
        icache.lines = again.lines;
    }
    fm_code_lines_close(&icache.lines);
    return good;
}

const struct fm_probe fm_probe_icache = {
    .name = "icache",
    .finds = "the first instruction cache: capacity, line, ways, what a miss adds",
    .needs = "cycle",
    .curve = "code",
    .share = 0.4,
    .run = run,
    .properties = properties,
};
