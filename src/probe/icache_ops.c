/* What holds decoded operations told from a cache. */
#include <math.h>

#include "probe/icache.h"
#include "refstring/refstring.h"

/* Part of the lines that fitted without filler: full ones take twice the entries at least. */
#define FEWER 0.85
/* Part of a rise that is all of it. */
#define ALL_OF_IT 0.7
/* Operations that any entry of an op cache has room for: a unit with no more of them takes one
   entry, however it is filled. */
#define FEWEST_OPS 4
/* Part of what a second cache adds that is too little for one. */
#define CHEAP 0.4
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

/* Whether all of a rise is that of decoded operations: with more of them on the same lines it comes
   at fewer lines. What is left of it otherwise is that of a cache which ends there too. The curve
   may have a rise end before all lines miss; well beyond it a fetch adds `all_ns`. */
static bool comes_sooner(struct fm_lab *lab, struct fm_icache *icache, size_t step, double all_ns,
                         bool *yes, struct fm_error *err)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const size_t pitch = icache->line > icache->pitch ? icache->line : icache->pitch;
    const size_t fit = (size_t)(FEWER * rise->held) / pitch, few = fit < 16 ? 2 : fit / 8;
    /* What seems to be a long line may be several that come together. */
    const size_t room = icache->line < FM_FIRST_PITCH ? icache->line : FM_FIRST_PITCH;
    const unsigned full = (unsigned)((room - FM_WORD) / FM_FILLER);
    double few_ns, fit_ns, few_full_ns, fit_full_ns;
    *yes = false;
    if (fit < 3 * few)
        return true;
    if (!fm_lab_place(lab, fit * pitch + FM_TURN, err) ||
        !time_filled(lab, icache, few, pitch, 0, &few_ns, err) ||
        !time_filled(lab, icache, fit, pitch, 0, &fit_ns, err) ||
        !time_filled(lab, icache, few, pitch, full, &few_full_ns, err) ||
        !time_filled(lab, icache, fit, pitch, full, &fit_full_ns, err))
        return false;
    const double more = (fit_full_ns - few_full_ns) - (fit_ns - few_ns);
    *yes = more > ALL_OF_IT * (fmax(all_ns, rise->cost) - rise->cost_before);
    return true;
}

/* Caches of data that end within as much code as was run. */
static size_t caches_of_data(const struct fm_lab *lab, double bytes)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < lab->known.count; i++)
        count += lab->known.levels[i].rise_from < bytes;
    return count;
}

/* Whether code has a level more than data before the first that they share, of which the given one
   is the last. A first cache may have a second one of code alone behind it, but then data has two
   of its own as well. */
static bool has_one_more(struct fm_lab *lab, const struct fm_icache *icache, size_t step, bool *yes,
                         struct fm_error *err)
{
    enum fm_code_fate fate;
    *yes = icache->count > caches_of_data(lab, icache->far);
    /* What data shares may lie beyond the code that was run. */
    if (*yes || !fm_ask_second_of_data(lab, icache, step, &fate, err))
        return *yes;
    *yes = fate == FM_CODE_PUSHED_OUT;
    return true;
}

/* Code that ends between a rise and the next: half way, or, `late`, just before that. */
static size_t beyond(const struct fm_icache *icache, size_t step, bool late)
{
    const struct fm_tlb_step *rise = &icache->steps[step];
    const double next = step + 1 < icache->count ? rise[1].held : icache->far;
    return (size_t)fmax(rise->missed, late ? FEWER * next : sqrt(rise->missed * next));
}

/* What slots so far apart show in so much code: what a miss adds of all whose lines, or units, hold
   two of them. */
static bool time_apart(struct fm_lab *lab, struct fm_icache *icache, size_t bytes, size_t apart,
                       double *miss_ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 6, .steps = 256};
    const size_t pitch = icache->pitch > 2 * apart ? icache->pitch : 2 * apart;
    struct fm_code_fetch found = {0};
    fm_code_lines_fill(&icache->lines, bytes, pitch, lab->machine->info.page_size);
    icache->lines.apart = apart;
    const bool good = fm_lab_place(lab, bytes + FM_TURN, err) &&
                      fm_time_fetch(lab, &icache->lines, &care, &found, err);
    icache->lines.apart = FM_WORD;
    *miss_ns = found.miss_ns;
    return good;
}

/* Whether slots in two units lie in one line of something that misses there. */
static bool share_a_line(struct fm_lab *lab, struct fm_icache *icache, size_t bytes, size_t apart,
                         bool *yes, struct fm_error *err)
{
    double miss_ns;
    if (!time_apart(lab, icache, bytes, apart, &miss_ns, err))
        return false;
    *yes = miss_ns > FM_A_CYCLE * lab->known.cycle_ns;
    return true;
}

/* Before a level that data shares there may be two that end at one place, and show but one rise:
   what holds operations, and a cache with longer lines. Slots in two units that lie in one line
   then miss. The rise is that of both, and the line is the cache's. Where they do not half way to
   the next rise but do just before it, a cache lies between that fills so unevenly that it shows no
   rise of its own. */
static bool ask_between(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                        enum fm_rise_of *of, struct fm_error *err)
{
    const size_t unit = icache->line, middle = beyond(icache, step, false);
    double both_ns, one_ns;
    bool longer = true;
    *of = FM_RISE_CACHE;
    for (size_t apart = unit; longer && apart < FM_FIRST_PITCH; apart *= 2) {
        if (!share_a_line(lab, icache, middle, apart, &longer, err))
            return false;
        icache->line = longer ? 2 * apart : apart;
    }
    if (!longer && icache->line == unit &&
        !share_a_line(lab, icache, beyond(icache, step, true), unit, &longer, err))
        return false;
    /* Slots stand no further apart here: it may be longer still. */
    if (longer)
        *of = FM_RISE_UNCLEAR;
    if (longer || icache->line == unit)
        return true;
    if (!time_apart(lab, icache, middle, unit / 2, &both_ns, err) ||
        !time_apart(lab, icache, middle, unit, &one_ns, err))
        return false;
    icache->passed_ns = fmax(0, both_ns - one_ns);
    return true;
}

/* The same of the last rise that was seen. Where data has no more caches than code shows there is
   nothing between it and what data shares. */
static bool ask_last(struct fm_lab *lab, struct fm_icache *icache, size_t step, enum fm_rise_of *of,
                     struct fm_error *err)
{
    const size_t of_data = caches_of_data(lab, icache->far);
    *of = FM_RISE_CACHE;
    return (of_data > 0 && of_data <= icache->count) || ask_between(lab, icache, step, of, err);
}

/* Whether it adds far less than a second cache of data takes longer than the first. */
static bool is_cheap(const struct fm_lab *lab, const struct fm_tlb_step *rise)
{
    const struct fm_known_level *levels = lab->known.levels;
    return lab->known.count > 2 &&
           rise->cost - rise->cost_before < CHEAP * (levels[1].height_ns - levels[0].height_ns);
}

/* What is to be made of a rise whose units are so short that filling them tells nothing. A cache
   that no data pushes code out of is a first one, and what stands before it with so short a unit is
   what cores keep operations in; unless code has no more levels than data then, and may have a
   second one of its own, which would take about as long as that of data. */
static bool ask_behind(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       enum fm_rise_of *of, struct fm_error *err)
{
    if (step + 1 == icache->count)
        return ask_last(lab, icache, step, of, err);
    *of = FM_RISE_UNCLEAR;
    for (size_t next = step + 1; next < icache->count; next++) {
        enum fm_code_fate fate;
        bool one_more, longer;
        if (!fm_ask_data(lab, icache, next, &fate, err))
            return false;
        if (fate == FM_CODE_PUSHED_OUT)
            return ask_between(lab, icache, next - 1, of, err);
        if (fate == FM_CODE_UNCLEAR)
            return true;
        if (!has_one_more(lab, icache, next, &one_more, err) ||
            !share_a_line(lab, icache, beyond(icache, next, false), icache->line, &longer, err))
            return false;
        if (longer) {
            const bool theirs = one_more || is_cheap(lab, &icache->steps[step]);
            *of = theirs ? FM_RISE_OPERATIONS : FM_RISE_UNCLEAR;
            return true;
        }
        /* What holds operations has shorter units than the cache behind it: the first rise is that
           of a cache. This one is of the same, which luck with pages has rise twice, or of a second
           one. */
    }
    *of = FM_RISE_CACHE;
    return true;
}

bool fm_tell_from_operations(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                             const struct fm_code_line *look, enum fm_rise_of *of,
                             struct fm_error *err)
{
    bool sooner;
    if (icache->line / FM_FILLER <= FEWEST_OPS)
        return ask_behind(lab, icache, step, of, err);
    if (!comes_sooner(lab, icache, step, look->miss_ns, &sooner, err))
        return false;
    *of = sooner ? FM_RISE_OPERATIONS : FM_RISE_CACHE;
    return true;
}
