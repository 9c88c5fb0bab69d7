#include "probe/counted.h"

#include <math.h>
#include <string.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* Laps of the two runs that are held against each other. The longer one has this many references
   where that makes more laps, so that what a meter adds now and then is little in each. */
#define SHORT      1
#define LONG       2
#define MOST_LAPS  8
#define REFERENCES 8192
/* Misses that are few may be others' doing, who only ever add some: then the least of so many tries
   counts. */
#define FEW   0.02
#define TRIES 3
/* A run that misses this often needs no comparison, if it is long: what a meter adds is more than a
   short one has references. What it pushes out of a full structure can make all of the first lap
   miss, but none of the next. */
#define MOST_MISS 0.9
#define LONG_RUN  2048
/* Laps that miss less than this part of what the first one does may miss for what the meter pushed
   out as well: in a single set that is full, the code that a meter runs takes more than a lap to be
   gone. */
#define DYING 0.5
/* Policies other than LRU take a few laps to forget what was there before. */
#define SETTLE      3
#define SETTLE_LONG 2
#define LONG_STRING 8192
/* Lines that are given up by lot find their places one after another: the last of a set of 16 takes
   16 laps on an average, and the last of a hundred such sets five times that. In references where
   that is too many. */
#define SETTLE_LOTS 128
/* … after which all but a few have. */
#define SETTLE_MOST_LOTS 24
#define MOST_REFERENCES  ((size_t)1 << 21)
#define PATIENT_TRIES    8
/* What still misses after so many laps and misses less than so much of what it did has settled. */
#define SETTLED 0.5

/* How a string is given time to settle: as long as most policies take, or as lots do, or for one
   lap, which shows where all fits or hardly anything does; or it goes on from the run before. */
enum settling { SETTLE_USUALLY, SETTLE_BY_LOT, SETTLE_BRIEFLY, SETTLED_BEFORE };

static unsigned settling_laps(size_t count, enum settling settling, bool lots)
{
    const size_t most = MOST_REFERENCES / count;
    if (settling == SETTLE_BRIEFLY)
        return 1;
    if (settling == SETTLE_USUALLY && lots)
        return count <= LONG_STRING ? SETTLE_MOST_LOTS : SETTLE;
    if (settling == SETTLE_USUALLY)
        return count <= LONG_STRING ? SETTLE : SETTLE_LONG;
    return most > SETTLE_LOTS ? SETTLE_LOTS : most < SETTLE ? SETTLE : (unsigned)most;
}

/* Whether a structure was seen to draw lots, and none inside it. */
static bool draws_lots(const struct fm_lab *lab, unsigned bit)
{
    return bit < FM_CACHE_LEVELS && fm_counts_vary(lab, bit) &&
           (bit == 0 || !fm_counts_vary(lab, bit - 1));
}

static void settle(const struct fm_lab *lab, struct fm_string *string,
                   const struct fm_count_care *care, enum settling settling)
{
    const size_t count = string->orders[0].count;
    /* Pseudo-LRU settles when all of a string comes anew, and may not when half of it is there. */
    fm_string_flush(string);
    /* Jumps know no parts of an order. */
    if (care->warmth == FM_WARM_GROWN && !care->manner.jumps)
        fm_string_grow(string);
    fm_string_prime(string, settling_laps(count, settling, draws_lots(lab, care->bit)));
}

static void add_phases(const struct fm_lab *lab, struct fm_string *string, unsigned laps,
                       const struct fm_count_care *care, enum settling settling)
{
    string->phase_count = 0;
    if (settling != SETTLED_BEFORE)
        settle(lab, string, care, settling);
    fm_string_time(string, laps * string->orders[0].count);
    if (care->manner.jumps)
        fm_string_jump(string);
    else if (care->manner.real)
        fm_string_load_real(string);
    else if (lab->by_stores & 1u << care->bit)
        fm_string_store_instead(string);
}

/* What an event counts over the metered phase of a string. */
static bool count_run(struct fm_lab *lab, const struct fm_string *string, unsigned bit,
                      double *misses, struct fm_error *err)
{
    struct fm_sample sample;
    if (!fm_lab_go_on(lab, lab->part, err) ||
        !lab->machine->ops->count(lab->machine, string, 1, &sample, err))
        return false;
    *misses = (double)fm_event_count(&sample.counts, bit);
    return true;
}

static bool count_laps(struct fm_lab *lab, struct fm_string *string,
                       const struct fm_count_care *care, unsigned laps, enum settling settling,
                       double *misses, struct fm_error *err)
{
    add_phases(lab, string, laps, care, settling);
    return count_run(lab, string, care->bit, misses, err);
}

/* Times that a meter must have added nothing. Strings that miss in part fill the sets they are in:
   whatever lines a meter touches push out some of theirs, whether its own misses are counted or
   not. And times that laps which differ may have come out otherwise when done over. */
#define OFTEN  8
#define RARELY 1

/* Whether laps that differed did so for the policy's sake. */
static bool is_steady(const struct fm_count_record *record)
{
    const bool always = record->unlike == 0;
    return record->alike + record->unlike == 0 ||
           (record->none && (record->varied || record->nothing) &&
            (always || (record->alike >= OFTEN && record->unlike <= RARELY)));
}

/* Whether its counts can be exact at all; a model that is all there is has no second witness. */
static bool can_be_exact(const struct fm_lab *lab, unsigned bit)
{
    return lab->believed & 1u << bit && !(lab->by_stores & 1u << bit) &&
           !fm_event_is_of_code(bit) && !lab->machine->info.counters.alone;
}

/* Whether a meter was seen to add nothing to caches. None adds as much each time, nothing to one
   string, this to another and that to a third; what it pushes out misses in the first lap; and one
   that touches no line of the first level touches none of another, so any event that it counts will
   tell. */
static bool adds_nothing(const struct fm_lab *lab, const char *meter)
{
    bool nothing = lab->adds_nothing >= OFTEN;
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS && !nothing; bit++) {
        const struct fm_count_record *record = &lab->records[bit];
        nothing = record->none && record->varied && record->later && record->alike >= OFTEN &&
                  record->unlike == 0 && can_be_exact(lab, bit) &&
                  strcmp(fm_lab_meter(lab, bit), meter) == 0;
    }
    return nothing;
}

bool fm_counts_are_steady(const struct fm_lab *lab, unsigned bit)
{
    return can_be_exact(lab, bit) && is_steady(&lab->records[bit]);
}

bool fm_counts_are_exact(const struct fm_lab *lab, unsigned bit)
{
    return !fm_event_is_tlb(bit) && fm_counts_are_steady(lab, bit) &&
           adds_nothing(lab, fm_lab_meter(lab, bit));
}

bool fm_counts_are_fair(const struct fm_lab *lab, unsigned bit)
{
    bool fair = fm_counts_are_exact(lab, bit) ||
                (can_be_exact(lab, bit) && lab->records[bit].none >= OFTEN);
    for (unsigned outer = bit + 1; outer < FM_CACHE_LEVELS && !fair && can_be_exact(lab, bit);
         outer++)
        fair = fm_counts_are_exact(lab, outer) && lab->records[outer].nothing >= OFTEN / 2;
    return fair;
}

bool fm_counts_vary(const struct fm_lab *lab, unsigned bit)
{
    return lab->records[bit].unlike > RARELY;
}

static unsigned long_laps(size_t count, unsigned least)
{
    const size_t laps = REFERENCES / count;
    return laps < least ? least : laps > MOST_LAPS ? MOST_LAPS : (unsigned)laps;
}

/* What was counted over several laps, and over the least. */
struct laps {
    unsigned count;
    double many, few;
};

/* Whether the meter has added anything. Under a policy that is no true LRU laps differ by
   themselves, from string to string by another number, and come out the same when all is done over.
   What a meter adds is the same for all strings; what somebody else adds, and lots that are drawn,
   come out otherwise. */
static bool note_addition(struct fm_lab *lab, struct fm_string *string,
                          const struct fm_count_care *care, enum settling settling,
                          const struct laps *laps, struct fm_error *err)
{
    struct fm_count_record *record = &lab->records[care->bit];
    const double more = laps->many - laps->few * laps->count;
    double again;
    if (more == 0) {
        lab->adds_nothing += !fm_event_is_tlb(care->bit);
        record->nothing++;
        return true;
    }
    const double each = more / (laps->count - SHORT);
    record->varied |= record->alike + record->unlike > 0 && each != record->more;
    record->later |= each > 0;
    record->more = each;
    if (record->alike >= OFTEN || record->unlike > RARELY)
        return true;
    if (!count_laps(lab, string, care, laps->count, settling, &again, err))
        return false;
    record->alike += again == laps->many;
    record->unlike += again != laps->many;
    return true;
}

/* By an event that adds nothing: what settles is seen lap by lap. */
static bool count_exactly(struct fm_lab *lab, struct fm_string *string,
                          const struct fm_count_care *care, enum settling settling, double *misses,
                          struct fm_error *err)
{
    const size_t lap = string->orders[0].count;
    const unsigned laps = long_laps(lap, SHORT);
    const bool briefly = settling == SETTLE_USUALLY && lap > LONG_STRING;
    if (!count_laps(lab, string, care, laps, briefly ? SETTLE_BRIEFLY : settling, misses, err))
        return false;
    const bool settled = *misses <= care->none || *misses >= MOST_MISS * (double)(laps * lap);
    if (briefly && !settled && !count_laps(lab, string, care, laps, SETTLED_BEFORE, misses, err))
        return false;
    lab->records[care->bit].none += *misses == 0;
    *misses /= laps;
    return true;
}

static bool count_difference(struct fm_lab *lab, struct fm_string *string,
                             const struct fm_count_care *care, enum settling settling,
                             double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    const unsigned laps = long_laps(string->orders[0].count, LONG);
    double many, few;
    if (fm_counts_are_exact(lab, care->bit))
        return count_exactly(lab, string, care, settling, misses, err);
    if (!count_laps(lab, string, care, laps, settling, &many, err))
        return false;
    *misses = many / laps;
    lab->records[care->bit].none += many == 0;
    const bool mostly = *misses >= MOST_MISS * lap;
    if (*misses <= care->none || (mostly && laps * lap >= LONG_RUN))
        return true;
    if (!count_laps(lab, string, care, SHORT, settling, &few, err))
        return false;
    *misses = fmax(0, many - few) / (laps - SHORT);
    if (*misses > care->none && *misses < DYING * few) {
        double more;
        if (!count_laps(lab, string, care, 2 * laps, settling, &more, err))
            return false;
        *misses = fmin(*misses, fmax(0, more - many) / laps);
    }
    return mostly ||
           note_addition(lab, string, care, settling, &(struct laps){laps, many, few}, err);
}

static bool try_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                    double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    double later;
    if (!count_difference(lab, string, care, SETTLE_USUALLY, misses, err))
        return false;
    if (!care->manner.patient || *misses <= care->none || *misses >= MOST_MISS * lap)
        return true;
    if (!count_difference(lab, string, care, SETTLE_BY_LOT, &later, err))
        return false;
    if (later < SETTLED * *misses)
        *misses = later;
    return true;
}

bool fm_count_lap(struct fm_lab *lab, struct fm_string *string, const struct fm_count_care *care,
                  double *misses, struct fm_error *err)
{
    const double lap = (double)string->orders[0].count;
    const int usual = care->manner.patient ? PATIENT_TRIES : TRIES;
    const int tries = fm_counts_are_exact(lab, care->bit) ? 1 : usual;
    /* To who is patient many may be others' doing, too. */
    const double few = care->manner.patient ? lap : FEW * lap;
    bool good = true;
    *misses = INFINITY;
    for (int i = 0; i < tries && good; i++) {
        double each = INFINITY;
        good = try_lap(lab, string, care, &each, err);
        /* What comes out the same twice is nobody else's doing; of one or two misses that is luck
           more often, which is why who is patient tries on. */
        const bool again = each == *misses && (i > 2 || !care->manner.patient);
        *misses = fmin(*misses, each);
        if (again || *misses <= care->none || *misses > few)
            break;
    }
    fm_string_free(string);
    return good;
}

bool fm_count_once(struct fm_lab *lab, struct fm_string *string, unsigned bit, unsigned laps,
                   double *misses, struct fm_error *err)
{
    const size_t lap = string->orders[0].count;
    double pushed = 0;
    fm_string_prime(string, laps);
    fm_string_time(string, lap);
    bool good = count_run(lab, string, bit, misses, err);
    /* The pages that a meter touches push out others, which miss in a lap, and no more in the next.
     */
    if (good && fm_event_is_tlb(bit)) {
        pushed = *misses;
        string->phase_count = 0;
        fm_string_time(string, 2 * lap);
        good = count_run(lab, string, bit, misses, err);
    }
    fm_string_free(string);
    *misses = good ? fmax(0, *misses - pushed) : 0;
    return good;
}

/* Units shorter than the line visit a line several times a lap, which blurs the edge of anything
   but LRU: with the line known it is looked at once more. */
static bool look_closer(struct fm_lab *lab, struct fm_counted_plan *plan, struct fm_counted *found,
                        struct fm_error *err)
{
    struct fm_counted closer = *found;
    const size_t page = lab->machine->info.page_size;
    plan->unit = found->line < page ? found->line : page;
    plan->from = fmax(plan->from, found->bytes / 2);
    if (!fm_counted_edge(lab, plan, &closer, err))
        return false;
    if (closer.missed)
        *found = closer;
    return true;
}

/* Halves of the lines that no set has too many of are such where sets are known: if they are not,
   the line is asked for as on scattered pages. */
static bool find_ways(struct fm_lab *lab, const struct fm_counted_plan *plan,
                      struct fm_counted *found, struct fm_error *err)
{
    if (found->line && !fm_counted_ways(lab, plan, found, err))
        return false;
    return found->ways || found->mixed || fm_counted_chance_line(lab, plan, found, err);
}

bool fm_count_structure(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    *found = (struct fm_counted){0};
    if (!fm_counted_edge(lab, plan, found, err))
        return false;
    if (!found->missed)
        return true;
    struct fm_counted_plan closer = *plan;
    if (!fm_counted_line(lab, plan, found, err))
        return false;
    const size_t page = lab->machine->info.page_size;
    const size_t line = found->line < page ? found->line : page;
    closer.unit = found->grain;
    const bool again = line && (found->sharp ? found->grain > line : found->grain != line);
    if (again && !look_closer(lab, &closer, found, err))
        return false;
    /* Where the average of many placements is asked for, none needs to settle for itself. */
    closer.manner.patient = false;
    if (!found->sharp)
        return fm_counted_average(lab, &closer, found, err);
    return find_ways(lab, plan, found, err);
}

bool fm_count_structure_again(struct fm_lab *lab, const struct fm_counted_plan *plan,
                              const struct fm_counted *before, struct fm_counted *found,
                              struct fm_error *err)
{
    bool holds = before->sharp && before->line;
    if (holds && !fm_counted_edge_holds(lab, plan, before, &holds, err))
        return false;
    *found = *before;
    found->ways = 0;
    found->full = false;
    if (holds && !fm_counted_line(lab, plan, found, err))
        return false;
    return holds && found->sharp ? find_ways(lab, plan, found, err)
                                 : fm_count_structure(lab, plan, found, err);
}

void fm_check_line(const struct fm_counted_plan *plan, struct fm_counted *found, size_t brought)
{
    const bool confirmed = found->ways && (!(plan->inner > 0) || found->line > brought);
    if (!confirmed && found->line != brought)
        found->line = 0;
}
