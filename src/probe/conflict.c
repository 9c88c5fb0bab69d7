#include "probe/conflict.h"

#include <math.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* Half a miss in a lap is the least that can be told from none. */
#define A_MISS 0.5
/* A conflict makes more than a tenth of a difference: a coarse reading shows it. */
#define STEPS 24
/* Fresh placements on which a conflict must show: on the first ones, and on all but so many of the
   others, which noise may spoil. Some hundred gaps are asked of a cache that page placement fills
   unevenly, and luck has as many chances to look like a set. */
#define CERTAIN         3
#define CONFIRMATIONS   8
#define SPOILT          1
#define CONFIRM_REPEATS 6
/* Times the least rise that is believed by which words must conflict where one fewer must not rise
   by it: among many words a miss is too little to be seen, and readings that all lie near the least
   are on either side of it by chance. */
#define CLEAR 3
/* Of twice as many words as a set holds nearly all miss, whatever the policy. Their part that must,
   and the part of a hit that this must add at the least: small differences between many words are
   what a busy machine shows too. */
#define MOST_MISS  0.4
#define LEAST_RISE 0.1
/* … and the part of a hit that is enough, where the next plateau is not that of the next level. */
#define CLEAR_RISE 1

/* What reads the clock has lines of its own. One of them in the set costs a lap of misses at the
   most, which laps times as many as words dilute to so small a part of a miss in a lap; a run no
   longer than this. */
#define DILUTED     0.125
#define LONGEST_RUN 32768

static uint64_t diluting(unsigned words)
{
    return (uint64_t)fmin(words * (words / DILUTED), LONGEST_RUN);
}

/* Where the words lie in their pages: in other sets each time, so that lines which something else
   keeps in one do not decide. But always where a line begins, whatever its length: from within one
   a gap that is shorter than a way by less than a line conflicts as well, and the last word must
   leave its line just where it would from the first. */
static size_t first_word(struct fm_lab *lab, const struct fm_gap *gap)
{
    const size_t moved = 2 * gap->offset;
    const size_t step = moved > FM_LONGEST_LINE ? moved : FM_LONGEST_LINE;
    const size_t places = lab->machine->info.page_size / step;
    return places ? fm_lab_seed(lab) % places * step : 0;
}

static bool time_gap(struct fm_lab *lab, const struct fm_gap_plan *plan, bool control,
                     unsigned repeats, uint64_t least, double *ns, struct fm_error *err)
{
    const struct fm_care care = {.repeats = repeats, .least = least, .laps = 4, .steps = STEPS};
    struct fm_string string;
    const bool built = control
                           ? fm_gap_control_string(&string, plan, lab->machine->info.page_size, err)
                           : fm_gap_string(&string, plan, err);
    return built && fm_lab_time(lab, &string, &care, ns, err);
}

/* Whether a reference to these words takes so much longer than a hit, and than one to the same
   pages with the words spread out. */
static bool rises(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                  const struct fm_gap *gap, double least, unsigned repeats, bool *yes,
                  struct fm_error *err)
{
    const struct fm_gap_plan plan = {.count = gap->count,
                                     .stride = gap->stride,
                                     .offset = gap->offset,
                                     .first = first_word(lab, gap),
                                     .seed = fm_lab_seed(lab)};
    double ns, spread_ns;
    *yes = false;
    if (!time_gap(lab, &plan, false, repeats, 0, &ns, err))
        return false;
    if (ns - gauge->hit_ns < least)
        return true;
    if (!time_gap(lab, &plan, false, repeats, diluting(gap->count), &ns, err))
        return false;
    if (ns - gauge->hit_ns < least)
        return true;
    if (!time_gap(lab, &plan, true, repeats, 0, &spread_ns, err))
        return false;
    *yes = ns - fmax(spread_ns, gauge->hit_ns) >= least;
    return true;
}

/* The rise of a reference that one miss in a lap makes, or the least that is believed. */
static double least_rise(const struct fm_conflict_gauge *gauge, unsigned count)
{
    return fmax(A_MISS * gauge->miss_ns / count, gauge->least_ns);
}

bool fm_conflicts(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                  const struct fm_gap *gap, unsigned repeats, bool *yes, struct fm_error *err)
{
    return rises(lab, gauge, gap, least_rise(gauge, gap->count), repeats, yes, err);
}

/* Whether a gap conflicts on one fresh placement, and as the words of a set do. */
static bool is_a_set(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                     const struct fm_gap *gap, bool *rose, bool *yes, struct fm_error *err)
{
    const struct fm_gap one_fewer = {gap->count - 1, gap->stride, gap->offset};
    const struct fm_gap twice = {2 * one_fewer.count, gap->stride, 0};
    const size_t bytes = (twice.count + 1) * gap->stride + 2 * lab->machine->info.page_size;
    const double least = fmax(least_rise(gauge, gap->count), CLEAR * gauge->least_ns);
    const double most = fmax(fmin(MOST_MISS * gauge->miss_ns, CLEAR_RISE * gauge->hit_ns),
                             LEAST_RISE * gauge->hit_ns);
    bool fewer = false;
    if (!fm_lab_place(lab, bytes, err) ||
        !rises(lab, gauge, gap, least, CONFIRM_REPEATS, rose, err) ||
        (*rose && gap->count > 2 &&
         !fm_conflicts(lab, gauge, &one_fewer, CONFIRM_REPEATS, &fewer, err)))
        return false;
    *yes = *rose && !fewer;
    return !*yes || rises(lab, gauge, &twice, most, CONFIRM_REPEATS, yes, err);
}

bool fm_conflict_confirmed(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                           const struct fm_gap *gap, bool *yes, struct fm_error *err)
{
    int spoilt = 0;
    *yes = true;
    for (int i = 0; i < CONFIRMATIONS && *yes; i++) {
        bool rose, good;
        if (!is_a_set(lab, gauge, gap, &rose, &good, err))
            return false;
        spoilt += !good;
        *yes = spoilt == 0 || (spoilt <= SPOILT && i >= CERTAIN);
    }
    return true;
}

bool fm_conflict_shares(struct fm_lab *lab, const struct fm_conflict_gauge *gauge,
                        const struct fm_gap *gap, struct fm_conflict_shares *shares,
                        struct fm_error *err)
{
    int sets = 0, conflicts = 0;
    for (int i = 0; i < CONFIRMATIONS; i++) {
        bool rose, yes;
        if (!is_a_set(lab, gauge, gap, &rose, &yes, err))
            return false;
        conflicts += rose;
        sets += yes;
    }
    shares->any = (double)conflicts / CONFIRMATIONS;
    shares->sets = (double)sets / CONFIRMATIONS;
    return true;
}
