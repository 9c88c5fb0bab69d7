/* What fetching code adds to a jump over the footprint; the line; op caches told from caches. */
#include <math.h>

#include "probe/icache.h"
#include "refstring/refstring.h"

#define MOST_POINTS 96
#define FIRST_LINES 4
/* Points to an octave. */
#define DENSITY 4
/* What a reading can be off by, as a part of all that a jump takes. */
#define READING 0.008
/* Times its edge that a footprint is well beyond it, whatever the sets; and part of the next edge
   that is short of it. */
#define BEYOND   2.0
#define SHORT_OF 0.9
/* The shortest and the longest line looked for; elements of the search stand twice as far apart as
   the longest is long. Shorter ones have no room for two slots. */
#define SHORTEST_LINE 16
#define LONGEST_LINE  256
/* From half the shortest line to the longest. */
#define DISTANCES 6
/* Part of a rise that shows its cause, and of all that slots show that is a fall. */
#define SHOWS  0.5
#define A_FALL 0.3
/* … and part of the lines that fitted without filler: full ones take twice the entries at least. */
#define FEWER 0.85

static bool time_footprint(struct fm_lab *lab, struct fm_icache *icache, size_t bytes, size_t pitch,
                           unsigned repeats, struct fm_code_fetch *found, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .steps = 256};
    fm_code_lines_fill(&icache->lines, bytes, pitch, lab->machine->info.page_size);
    return fm_time_fetch(lab, &icache->lines, &care, found, err);
}

static void draw(struct fm_lab *lab, const char *id, const struct fm_tlb_point *points, size_t n)
{
    struct fm_curve *curve = id ? fm_result_curve(lab->result, id) : NULL;
    if (!curve)
        return;
    curve->x = (struct fm_axis){"code", "B"};
    curve->y = (struct fm_axis){"fetch", "ns"};
    for (size_t i = 0; i < n; i++)
        fm_curve_add(curve, (struct fm_point){points[i].pages, points[i].cost,
                                              points[i].cost - points[i].error,
                                              points[i].cost + points[i].error});
}

bool fm_read_fetch_curve(struct fm_lab *lab, struct fm_icache *icache, size_t pitch, double most,
                         const char *id, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS];
    size_t n = 0;
    double placed = 0;
    for (double lines = FIRST_LINES; lines * (double)pitch <= most && n < MOST_POINTS;) {
        const size_t bytes = (size_t)lines * pitch;
        struct fm_code_fetch found;
        if ((double)bytes > placed) {
            placed = fmin(most, 4.0 * (double)bytes);
            if (!fm_lab_place(lab, (size_t)placed + FM_TURN, err))
                return false;
        }
        if (!fm_lab_go_on(lab, 0, err) ||
            !time_footprint(lab, icache, bytes, pitch, 4, &found, err))
            return false;
        points[n++] = (struct fm_tlb_point){(double)bytes, found.miss_ns,
                                            READING * fmax(found.one_ns, found.burst_ns)};
        icache->far = (double)bytes;
        lines = fmax(floor(lines) + 1, lines * exp2(1.0 / DENSITY));
    }
    draw(lab, id, points, n);
    if (!fm_smooth_tlb_points(points, n))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to smooth the curve");
    icache->count = fm_read_tlb_steps(points, n, icache->steps, FM_CACHE_LEVELS);
    return true;
}

/* What slots `apart` show at each distance, in octaves from half the shortest line. */
static bool time_distances(struct fm_lab *lab, struct fm_icache *icache, size_t bytes,
                           double ns[DISTANCES], struct fm_error *err)
{
    if (!fm_lab_place(lab, bytes + 2 * LONGEST_LINE, err))
        return false;
    for (size_t i = 0; i < DISTANCES; i++) {
        struct fm_code_fetch found;
        icache->lines.apart = (SHORTEST_LINE / 2) << i;
        const bool good = time_footprint(lab, icache, bytes, 2 * LONGEST_LINE, 6, &found, err);
        icache->lines.apart = FM_WORD;
        if (!good)
            return false;
        ns[i] = found.miss_ns;
    }
    return true;
}

/* The distance from which on slots lie in two lines: all before it show misses, all from it on show
   far fewer. A core that fetches ahead leaves some of them, and how many varies, so it is the fall
   that counts and not how low it goes. Windows of decoded operations, which are shorter than lines,
   make a fall before it: the last one counts. 0: none is clear. */
static size_t first_apart(const double ns[DISTANCES], double least_ns)
{
    double most = 0;
    size_t split = 0;
    for (size_t i = 0; i < DISTANCES; i++)
        most = fmax(most, ns[i]);
    for (size_t at = 1; at < DISTANCES; at++) {
        double before = INFINITY, after = 0;
        for (size_t i = 0; i < DISTANCES; i++)
            if (i < at)
                before = fmin(before, ns[i]);
            else
                after = fmax(after, ns[i]);
        if (before > least_ns && before - after > A_FALL * most)
            split = at;
    }
    return split ? (size_t)(SHORTEST_LINE / 2) << split : 0;
}

static bool look_at(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                    double bytes, struct fm_code_line *look, struct fm_error *err)
{
    const double least_ns = SHOWS * (rise->cost - rise->cost_before);
    double ns[DISTANCES];
    if (!time_distances(lab, icache, (size_t)bytes, ns, err))
        return false;
    look->from_lines = ns[0] > least_ns;
    look->line = look->from_lines ? first_apart(ns, least_ns) : 0;
    return true;
}

/* Elements stand far apart, and so few of them may fit where sets are many or odd in number. Then
   as many are taken as the rise has shown to be too many when they stood close. */
bool fm_find_code_line(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       struct fm_code_line *look, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    /* Not so far that the next level's lines are asked for. */
    const double end = SHORT_OF * (step + 1 < icache->count ? rise[1].held : icache->far);
    const double near = fmax(rise->missed, fmin(BEYOND * rise->missed, end));
    const double wide = fmin(2.0 * LONGEST_LINE / FM_FIRST_PITCH * rise->missed, end);
    if (!look_at(lab, icache, rise, near, look, err))
        return false;
    return look->from_lines || wide < near || look_at(lab, icache, rise, wide, look, err);
}

/* One jump to a line, after as many operations as the line has room for, or none. */
static bool time_filled(struct fm_lab *lab, struct fm_icache *icache, size_t lines, size_t pitch,
                        unsigned filler, double *ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .jumps = true, .steps = 256};
    const size_t page = lab->machine->info.page_size;
    fm_code_lines_fill(&icache->lines, lines * pitch, pitch, page);
    struct fm_string string;
    struct fm_lines_plan plan = {.one = icache->lines.one,
                                 .other = icache->lines.other,
                                 .count = icache->lines.count,
                                 .apart = FM_WORD,
                                 .seed = lab->placement_seed};
    if (!fm_lines_string(&string, &plan, err))
        return false;
    /* Of the two sweeps the second goes to the first slots: those are kept. */
    struct fm_order *order = &string.orders[0];
    const size_t half = icache->lines.lines, dropped = order->count - half;
    for (size_t i = 0; i < half; i++)
        order->word[i] = order->word[i + dropped];
    order->count = half;
    order->filler = filler;
    string.bytes = lines * pitch + FM_TURN;
    return fm_lab_time(lab, &string, &care, ns, err);
}

bool fm_is_op_cache(struct fm_lab *lab, struct fm_icache *icache, size_t step, bool *yes,
                    struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const size_t pitch = icache->line > FM_FIRST_PITCH ? icache->line : FM_FIRST_PITCH;
    const size_t fit = (size_t)(FEWER * rise->held) / pitch, few = fit / 8;
    const unsigned full = (unsigned)((icache->line - FM_WORD) / FM_FILLER);
    double few_ns, fit_ns, few_full_ns, fit_full_ns;
    *yes = false;
    if (few < 2)
        return true;
    if (!fm_lab_place(lab, fit * pitch + FM_TURN, err) ||
        !time_filled(lab, icache, few, pitch, 0, &few_ns, err) ||
        !time_filled(lab, icache, fit, pitch, 0, &fit_ns, err) ||
        !time_filled(lab, icache, few, pitch, full, &few_full_ns, err) ||
        !time_filled(lab, icache, fit, pitch, full, &fit_full_ns, err))
        return false;
    const double more = (fit_full_ns - few_full_ns) - (fit_ns - few_ns);
    *yes = more > SHOWS * (rise->cost - rise->cost_before);
    return true;
}
