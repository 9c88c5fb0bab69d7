/* Whether two loads of one cycle wait for each other, and for what: the banks of the first level.
 *
 * Pairs of loads start together, and the next pair waits for both, so that a load that has to wait
 * for the other shows. Two halves of a small region, all of which is in the level, are read word by
 * word: each pair is a word of the one and a word of the other. If words at the same place of both
 * take longer than neighbours in a line, they are in one bank. Then one bit of the place is turned
 * in the second word of each pair: if they no longer wait, that bit is one of those that choose the
 * bank. As many as there are choose among two to that power. Where two such bits are turned at once
 * the pairs must not wait either, or the bank is chosen by more than the bits themselves. */
#include <stdio.h>

#include "probe/probe.h"
#include "refstring/refstring.h"

/* The region is this part of the level and of a page: neither sets nor translation play a part. */
#define OF_LEVEL  4
#define OF_PAGE   2
#define MOST_BITS 24
/* Cycles that a pair waits, between which it is a bank that it waits for. */
#define LEAST_WAIT 0.5
#define MOST_WAIT  3
/* Parts of that: so little is no wait, so much is one. */
#define NONE_OF 0.25
#define ALL_OF  0.75
#define REPEATS 5

struct look {
    size_t half;    /* bytes of half of the region */
    double free_ns; /* of a pair of neighbours in a line … */
    double wait_ns; /* … and what one takes longer whose words lie alike */
};

static bool time_pairs(struct fm_lab *lab, size_t half, size_t differ, bool neighbours, double *ns,
                       struct fm_error *err)
{
    const struct fm_pair_plan plan = {
        .bytes = half, .differ = differ, .neighbours = neighbours, .seed = fm_lab_seed(lab)};
    const struct fm_care care = {.repeats = REPEATS, .pairs = true};
    struct fm_string string;
    if (!fm_pair_string(&string, &plan, err) || !fm_lab_time(lab, &string, &care, ns, err))
        return false;
    *ns *= 2;
    return true;
}

/* Whether pairs that differ so wait for each other; *clear is left alone where that is so. */
static bool ask(struct fm_lab *lab, const struct look *look, size_t differ, bool *waits,
                bool *clear, struct fm_error *err)
{
    double ns;
    if (!time_pairs(lab, look->half, differ, false, &ns, err))
        return false;
    const double part = (ns - look->free_ns) / look->wait_ns;
    *waits = part > ALL_OF;
    *clear &= part < NONE_OF || part > ALL_OF;
    return true;
}

/* The bits that choose, and why they do not tell the banks, if so. */
static bool find_bits(struct fm_lab *lab, const struct look *look, size_t *bits, unsigned *count,
                      const char **why, struct fm_error *err)
{
    bool clear = true, waits, mixed = false;
    *count = 0;
    *why = NULL;
    for (size_t bit = FM_WORD; bit < look->half; bit *= 2) {
        if (!ask(lab, look, bit, &waits, &clear, err))
            return false;
        if (!waits)
            bits[(*count)++] = bit;
    }
    for (unsigned i = 0; i < *count && clear; i++)
        for (unsigned j = 0; j < i; j++) {
            if (!ask(lab, look, bits[i] | bits[j], &waits, &clear, err))
                return false;
            mixed |= waits;
        }
    if (!clear)
        *why = "of some pairs of loads one waits for the other now and then";
    else if (mixed)
        *why = "which bank a word is in hangs on more than some bits of its address";
    else if (*count && bits[*count - 1] == look->half / 2)
        *why = "more bits may choose the bank than a page, or the level, has room to ask for";
    return true;
}

static const char *const properties[] = {"l1d.banks", NULL};

static void report(struct fm_lab *lab, unsigned bits, const char *why)
{
    struct fm_finding *finding = fm_result_finding(lab->result, properties[0], "");
    const double banks = (double)((size_t)1 << bits);
    if (!finding)
        return;
    if (why)
        fm_undetermined(finding, why);
    else
        fm_measured(finding, banks, banks, banks, 0.95, "pairs", NULL);
}

static size_t half_of(const struct fm_lab *lab)
{
    const struct fm_known_level *first = &lab->known.levels[0];
    const double bytes = first->capacity > 0 ? first->capacity : first->rise_from;
    size_t half = FM_WORD;
    while (2 * OF_LEVEL * (double)half <= bytes &&
           2 * OF_PAGE * half <= lab->machine->info.page_size)
        half *= 2;
    return half;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const double cycle = lab->known.cycle_ns;
    struct look look = {0};
    size_t bits[MOST_BITS];
    unsigned count = 0;
    const char *why = NULL;
    if (lab->known.count < 2 || !(cycle > 0)) {
        report(lab, 0, "neither the first level's size nor the cycle time is known for certain");
        return true;
    }
    look.half = half_of(lab);
    double alike;
    if (!fm_lab_place(lab, 2 * look.half, err) ||
        !time_pairs(lab, look.half, 0, true, &look.free_ns, err) ||
        !time_pairs(lab, look.half, 0, false, &alike, err))
        return false;
    look.wait_ns = alike - look.free_ns;
    if (look.wait_ns < LEAST_WAIT * cycle)
        why = "no two loads were seen to wait for each other: there are no banks, or none that two "
              "loads can want at once";
    else if (look.wait_ns > MOST_WAIT * cycle)
        why = "pairs of loads wait longer for each other than for a bank";
    else if (!find_bits(lab, &look, bits, &count, &why, err))
        return false;
    report(lab, count, why);
    return true;
}

const struct fm_probe fm_probe_banks = {
    .name = "banks",
    .finds = "banks of the first level, by loads that wait for each other",
    .needs = "cycle,levels,gap",
    .share = 0.02,
    .detail = true,
    .run = run,
    .properties = properties,
};
