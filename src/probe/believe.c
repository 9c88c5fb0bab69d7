/* Whether events can be believed on this machine: misses of loads, stores or jumps that all must
 * miss, counted before anything is concluded from them. AMP met a processor that counted more
 * missed reads than there were reads, and counted writes there instead. */
#include <stdio.h>

#include "probe/believe.h"
#include "probe/code_fetch.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* References of the shorter of two runs, where there is memory for them; the other is twice as
   long. Their pages are more than a TLB holds, or nearly, and their lines are flushed first. */
#define MOST 4096
/* Bytes from one to the next, on pages that are smaller than this. */
#define APART 4096
/* Of the misses that double the work should add, so many must be seen at least; and no more than so
   many in all for each reference: walks through page tables miss too. */
#define LEAST_GROWTH 0.25
#define MOST_MISSES  1.5

/* Another line of each page than of the one before: not all in the same few sets. */
static size_t apart_of(const struct fm_lab *lab)
{
    const size_t page = lab->machine->info.page_size;
    return (page > APART ? page : APART) + FM_LONGEST_LINE;
}

/* Why events are not believed, or only of stores; empty where one is. */
struct believed {
    char why[FM_EVENTS][96];
};

static bool build(struct fm_lab *lab, size_t count, size_t apart, enum fm_op op,
                  struct fm_string *string, struct fm_error *err)
{
    const struct fm_spot_plan plan = {.count = count, .stride = apart};
    if (!fm_lab_place(lab, count * apart + FM_WORD, err) || !fm_spot_string(string, &plan, err))
        return false;
    fm_string_flush(string);
    fm_string_time(string, count);
    if (op == FM_OP_JUMP) {
        fm_string_jump(string);
    } else {
        string->phases[string->phase_count - 1].op = op;
        string->phases[string->phase_count - 1].chained = op == FM_OP_LOAD;
    }
    return true;
}

static bool count_all(struct fm_lab *lab, size_t count, size_t apart, enum fm_op op,
                      struct fm_counts *counts, struct fm_error *err)
{
    struct fm_string string;
    struct fm_sample sample;
    if (!build(lab, count, apart, op, &string, err))
        return false;
    const bool good = fm_lab_go_on(lab, 0, err) &&
                      lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
    fm_string_free(&string);
    *counts = sample.counts;
    return good;
}

/* The events of these that count such references rightly. What is wrong with the others goes into
   their reasons. */
static bool try_op(struct fm_lab *lab, enum fm_op op, unsigned events, unsigned *right,
                   struct believed *believed, struct fm_error *err)
{
    static const char *const names[] = {
        [FM_OP_LOAD] = "loads", [FM_OP_STORE] = "stores", [FM_OP_JUMP] = "jumps"};
    /* Other places each time: no flush makes a predictor forget a jump. */
    const size_t apart = apart_of(lab), further = apart + FM_LONGEST_LINE;
    const size_t room = fm_lab_limit(lab) / 2 / further;
    const size_t count = room < MOST ? room : MOST;
    struct fm_counts few, many;
    *right = 0;
    if (!events)
        return true;
    if (!count_all(lab, count, apart, op, &few, err) ||
        !count_all(lab, 2 * count, further, op, &many, err))
        return false;
    for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
        const double one = (double)fm_event_count(&few, bit);
        const double two = (double)fm_event_count(&many, bit);
        if (!(events & 1u << bit))
            continue;
        if (two <= MOST_MISSES * 2 * (double)count && two - one >= LEAST_GROWTH * (double)count)
            *right |= 1u << bit;
        else if (!believed->why[bit][0])
            snprintf(believed->why[bit], sizeof believed->why[bit],
                     "its event counted %.0f misses of %zu %s and %.0f of %zu", one, count,
                     names[op], two, 2 * count);
    }
    return true;
}

/* What is wrong with an event is a reason for who reads the result. */
static void report_doubts(struct fm_lab *lab, const struct believed *believed)
{
    for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
        char id[32];
        if (!believed->why[bit][0])
            continue;
        snprintf(id, sizeof id, "event-%s", fm_event_structure(bit));
        fm_result_warn(
            lab->result, id,
            lab->by_stores & 1u << bit ? "none is needed: stores are counted in the place of loads"
                                       : "none is needed: the event is left out",
            "%s, %s: %s", fm_lab_meter(lab, bit), fm_event_structure(bit), believed->why[bit]);
    }
}

bool fm_believe_counters(struct fm_lab *lab, struct fm_error *err)
{
    const unsigned of_code = FM_COUNTS_CODE | FM_COUNTS_CODE_TLB | FM_COUNTS_TARGETS;
    const unsigned events = lab->machine->info.counters.events;
    struct believed believed = {.why = {""}};
    unsigned loads, stores, jumps = 0;
    bool runs_code = false;
    if (events & of_code && !fm_code_runs(lab, NULL, &runs_code, err))
        return false;
    if (!try_op(lab, FM_OP_LOAD, events & ~of_code, &loads, &believed, err) ||
        !try_op(lab, FM_OP_STORE, events & ~of_code & ~loads, &stores, &believed, err) ||
        (runs_code && !try_op(lab, FM_OP_JUMP, events & of_code, &jumps, &believed, err)))
        return false;
    lab->by_stores = stores;
    lab->believed = loads | stores | jumps;
    report_doubts(lab, &believed);
    return true;
}
