#include "probe/published_counts.h"

#include <math.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

/* Laps before the ones that are counted, and of the longer of the two runs. */
#define WARM 1
#define LONG 2

static bool count_once(struct fm_lab *lab, struct fm_string *string, struct fm_counts *counts,
                       struct fm_error *err)
{
    struct fm_sample sample;
    const bool good = fm_lab_go_on(lab, lab->part, err) &&
                      lab->machine->ops->count(lab->machine, string, 1, &sample, err);
    fm_string_free(string);
    if (good)
        *counts = sample.counts;
    return good;
}

static bool place(struct fm_lab *lab, const struct fm_spots *spots, struct fm_error *err)
{
    return fm_lab_place(lab, (spots->first + spots->count) * spots->stride + FM_TURN, err);
}

static bool build(struct fm_string *string, const struct fm_spots *spots, struct fm_error *err)
{
    const struct fm_spot_plan plan = {
        .count = spots->count, .stride = spots->stride, .first = spots->first};
    return fm_spot_string(string, &plan, err);
}

static bool count_laps(struct fm_lab *lab, const struct fm_spots *spots, unsigned laps,
                       struct fm_counts *counts, struct fm_error *err)
{
    struct fm_string string;
    if (!build(&string, spots, err))
        return false;
    fm_string_prime(&string, WARM);
    fm_string_time(&string, laps * spots->count);
    if (spots->real)
        fm_string_load_real(&string);
    return count_once(lab, &string, counts, err);
}

/* Of all events that a lap is counted by. */
static bool are_exact(const struct fm_lab *lab)
{
    bool exact = true;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++)
        exact &= !(lab->believed & 1u << bit) || fm_counts_are_exact(lab, bit);
    return exact;
}

bool fm_count_lap_of_spots(struct fm_lab *lab, const struct fm_spots *spots,
                           struct fm_counts *counts, struct fm_error *err)
{
    struct fm_counts many, few;
    if (!place(lab, spots, err))
        return false;
    if (are_exact(lab))
        return count_laps(lab, spots, 1, counts, err);
    if (!count_laps(lab, spots, LONG, &many, err) || !count_laps(lab, spots, 1, &few, err))
        return false;
    *counts = (struct fm_counts){.references = spots->count};
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        const uint64_t more = fm_event_count(&many, bit), less = fm_event_count(&few, bit);
        fm_event_add(counts, bit, more > less ? (more - less) / (LONG - 1) : 0);
    }
    return true;
}

/* A flush would ask a TLB for every page; but fresh pages are in none that is smaller. */
static bool first_reading(struct fm_lab *lab, unsigned bit, const struct fm_spots *spots,
                          enum fm_before before, double *misses, struct fm_error *err)
{
    struct fm_string string;
    struct fm_counts counts;
    if (!place(lab, spots, err) || !build(&string, spots, err))
        return false;
    if (!fm_event_is_tlb(bit))
        fm_string_flush(&string);
    if (before != FM_NEVER_READ)
        fm_string_add_phase(&string,
                            (struct fm_phase){.op = before == FM_READ ? FM_OP_LOAD : FM_OP_STORE,
                                              .references = spots->count});
    fm_string_time(&string, spots->count);
    if (fm_event_is_of_code(bit))
        fm_string_jump(&string);
    else if (lab->by_stores & 1u << bit)
        fm_string_store_instead(&string);
    if (!count_once(lab, &string, &counts, err))
        return false;
    *misses = (double)fm_event_count(&counts, bit);
    return true;
}

/* The least of so many; what comes out the same twice is nobody else's doing. */
static bool least_of(struct fm_lab *lab, unsigned bit, const struct fm_spots *spots,
                     enum fm_before before, unsigned times, double *least, struct fm_error *err)
{
    bool again = false;
    *least = INFINITY;
    for (unsigned i = 0; i < times && !again; i++) {
        double misses;
        if (!first_reading(lab, bit, spots, before, &misses, err))
            return false;
        again = misses == *least;
        *least = fmin(*least, misses);
    }
    return true;
}

bool fm_count_first_reading(struct fm_lab *lab, unsigned bit, const struct fm_spots *spots,
                            enum fm_before before, unsigned times, double *each,
                            struct fm_error *err)
{
    const struct fm_spots half = {
        .count = spots->count / 2, .stride = spots->stride, .first = spots->first};
    double many, few;
    if (!least_of(lab, bit, spots, before, times, &many, err) ||
        !least_of(lab, bit, &half, before, times, &few, err))
        return false;
    *each = fmax(0, many - few) / (double)(spots->count - half.count);
    return true;
}
