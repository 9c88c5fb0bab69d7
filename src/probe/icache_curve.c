/* What fetching code adds to a jump over the footprint, and the line. */
#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
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
#define SHORTEST_LINE FM_SHORTEST_CODE_LINE
#define LONGEST_LINE  256
/* From half the shortest line to the longest. */
#define DISTANCES 6
/* Part of a rise that shows its cause, the same of lines that go anywhere, of which fewer may miss,
   and part of all that slots show that is a fall. */
#define SHOWS        0.5
#define SHOWS_SPREAD 0.3
#define A_FALL       0.3
/* Times what a miss costs at a rise that says that the next level misses as well. */
#define DEARER 1.5
/* Parts of a rise's ends that are within and outside of it; placements on which one jump in each
   line is timed; and part of what two show that one must. */
#define WITHIN     0.75
#define OUTSIDE    1.25
#define PLACEMENTS 3
#define SINGLY     0.4
/* Lines so far apart, and as many at the most, are more than the sets hold that they fall into. */
#define CONFLICT_STRIDE 65536u
#define CONFLICT_LINES  64u

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

bool fm_time_conflict(struct fm_lab *lab, struct fm_icache *icache, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .laps = 4, .steps = 64};
    const size_t page = lab->machine->info.page_size;
    const size_t room = fm_lab_limit(lab) / 4 / CONFLICT_STRIDE;
    const size_t most = room < CONFLICT_LINES ? room : CONFLICT_LINES;
    icache->conflict_ns = 0;
    if (!fm_lab_place(lab, (most + 1) * CONFLICT_STRIDE, err))
        return false;
    for (size_t count = 2; count <= most && icache->conflict_ns <= 0; count *= 2) {
        struct fm_code_fetch found;
        fm_code_lines_clear(&icache->lines);
        for (size_t i = 0; i < count; i++)
            fm_code_lines_add(&icache->lines, i * CONFLICT_STRIDE, i * CONFLICT_STRIDE + page / 2);
        if (!fm_lab_go_on(lab, 0, err) || !fm_time_fetch(lab, &icache->lines, &care, &found, err))
            return false;
        const double more_ns = found.miss_ns - icache->passed_ns;
        if (more_ns > fmax(FM_A_CYCLE * lab->known.cycle_ns, READING * found.one_ns))
            icache->conflict_ns = more_ns;
    }
    return true;
}

double fm_code_miss(const struct fm_icache *icache, const struct fm_tlb_step *rise)
{
    const double height = rise->cost - rise->cost_before;
    const double first = icache->first.cost - icache->first.cost_before;
    const double least = icache->first.held > 0 ? fmin(height, first) : height;
    return icache->conflict_ns > 0 ? fmin(least, icache->conflict_ns) : least;
}

/* Moves each line on, by any number of steps within its room. */
static void scatter(struct fm_code_lines *lines, size_t room, size_t step, uint64_t seed)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    for (size_t i = 0; i < lines->count; i++) {
        lines->one[i] += (uint32_t)(fm_rng_below(&rng, room / step) * step / FM_WORD);
        if (lines->other[i] != FM_NO_LINE)
            lines->other[i] += (uint32_t)(fm_rng_below(&rng, room / step) * step / FM_WORD);
    }
}

/* Where slots are to stand. */
struct spots {
    size_t bytes;
    bool scattered; /* anywhere in their room, and not at its beginning */
};

/* What slots `apart` show at each distance, in octaves from half the shortest line. */
static bool time_distances(struct fm_lab *lab, struct fm_icache *icache, const struct spots *spots,
                           double ns[DISTANCES], struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .steps = 256};
    const size_t page = lab->machine->info.page_size, room = 2 * LONGEST_LINE;
    if (!fm_lab_place(lab, spots->bytes + room, err))
        return false;
    for (size_t i = 0; i < DISTANCES; i++) {
        struct fm_code_fetch found;
        const size_t apart = (SHORTEST_LINE / 2) << i;
        fm_code_lines_fill(&icache->lines, spots->bytes, room, page);
        /* Two slots of a line stay in one. */
        if (spots->scattered)
            scatter(&icache->lines, room, 2 * apart, lab->placement_seed);
        icache->lines.apart = apart;
        const bool good = fm_time_fetch(lab, &icache->lines, &care, &found, err);
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
   make a fall before it, and their misses may cost more than those of lines: the last one counts.
   0: none is clear. */
static size_t last_fall(const double ns[DISTANCES], double least_ns)
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
        if ((split || before > least_ns) && before - after > A_FALL * most)
            split = at;
    }
    return split ? (size_t)(SHORTEST_LINE / 2) << split : 0;
}

static bool look_at(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                    const struct spots *spots, struct fm_code_line *look, struct fm_error *err)
{
    const double least_ns = (spots->scattered ? SHOWS_SPREAD : SHOWS) * fm_code_miss(icache, rise);
    double ns[DISTANCES];
    if (!time_distances(lab, icache, spots, ns, err))
        return false;
    /* What was passed over misses here too. */
    look->from_lines = ns[0] > rise->cost_before + least_ns;
    look->line = look->from_lines ? last_fall(ns, least_ns) : 0;
    look->too_dear = false;
    /* Those that go anywhere miss some of the next level too. */
    look->any_ns = ns[0];
    look->miss_ns = spots->scattered ? 0 : ns[0];
    return true;
}

/* What a jump takes where each line of a footprint has one, over some placements. */
static bool time_singly(struct fm_lab *lab, const struct fm_icache *icache, size_t bytes,
                        uint32_t *words, double *ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 4, .steps = 256, .jumps = true};
    const size_t count = bytes / icache->pitch;
    *ns = 0;
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)(i * icache->pitch / FM_WORD);
    for (int i = 0; i < PLACEMENTS; i++) {
        const struct fm_listed_plan plan = {
            .words = words, .count = count, .seed = fm_lab_seed(lab)};
        struct fm_string string;
        double one;
        if (!fm_lab_place(lab, bytes + FM_TURN, err) || !fm_listed_string(&string, &plan, err) ||
            !fm_lab_time(lab, &string, &care, &one, err))
            return false;
        *ns += one / PLACEMENTS;
    }
    return true;
}

bool fm_rises_singly(struct fm_lab *lab, const struct fm_icache *icache, size_t step, bool *yes,
                     struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const size_t near = (size_t)(WITHIN * rise->held), far = (size_t)(OUTSIDE * rise->missed);
    double before, after;
    uint32_t *words = malloc(far / icache->pitch * sizeof *words);
    *yes = true;
    if (!words)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of lines");
    const bool asked = near >= FIRST_LINES * icache->pitch;
    const bool good = !asked || (time_singly(lab, icache, near, words, &before, err) &&
                                 time_singly(lab, icache, far, words, &after, err));
    if (good && asked)
        *yes = after - before > SINGLY * (rise->cost - rise->cost_before);
    free(words);
    return good;
}

/* Elements stand far apart, and so few of them may fit where sets are few or odd in number. Then
   they go anywhere, into all sets, and as many are taken as the rise has shown to be too many when
   they stood close; but no more, if that is enough, than the next level has room for lines of any
   length: each takes a whole one there. */
bool fm_find_code_line(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       struct fm_code_line *look, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    /* Not so far that the next level's lines are asked for. */
    const double end = SHORT_OF * (step + 1 < icache->count ? rise[1].held : icache->far);
    const double beyond = BEYOND * rise->missed;
    const double near = fmax(rise->missed, fmin(beyond, end));
    const double few = fmax(rise->missed, fmin(beyond, end * (double)icache->pitch / LONGEST_LINE));
    const struct spots close = {(size_t)near, false}, closer = {(size_t)rise->missed, false},
                       anywhere = {(size_t)few / icache->pitch * 2 * LONGEST_LINE, true};
    if (!look_at(lab, icache, rise, &close, look, err))
        return false;
    /* Lines of the next level may be longer, and its misses cost more. */
    if (look->miss_ns > DEARER * (rise->cost_before + fm_code_miss(icache, rise)) &&
        !look_at(lab, icache, rise, &closer, look, err))
        return false;
    if (look->from_lines || anywhere.bytes > fm_lab_limit(lab) / 4)
        return true;
    if (!look_at(lab, icache, rise, &anywhere, look, err))
        return false;
    look->too_dear = step + 1 < icache->count && look->any_ns > DEARER * rise->cost;
    return true;
}
