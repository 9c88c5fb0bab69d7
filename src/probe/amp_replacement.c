/* AMP's test of the replacement policy, by a counter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/lab.h"
#include "probe/published_counts.h"
#include "refstring/refstring.h"

#define METHOD "amp"
#define SURE   0.95
/* The paper asks it of four and eight ways; what it says holds of any few that are a choice. */
#define FEWEST_WAYS 2
#define MOST_WAYS   16
/* Experiments with each element, each in another set: half of two that are given up by lot come out
   as a quarter or as three once in ten thousand. */
#define TIMES 64
/* … and if of each no experiment differs from the others, so many of them are enough. */
#define ENOUGH 8
/* The same is done so often before, from empty ways on, so that whatever the policy remembers is
   the same each time. */
#define REHEARSALS 5
/* Part of the experiments in which an element is gone: nearly always, or now and then. */
#define ALWAYS    0.75
#define SOMETIMES (1.0 / 32)

enum { ALL, ONE_MORE, ASKED };

static bool add_order(struct fm_string *string, size_t count)
{
    struct fm_order *order = &string->orders[string->order_count++];
    order->word = malloc(count * sizeof *order->word);
    order->count = count;
    return order->word;
}

/* Empty ways, `ways` elements of a set, all but the last of them again, one more. */
static void rehearse(struct fm_string *string, size_t ways, bool flush)
{
    if (flush) {
        fm_string_add_phase(string, (struct fm_phase){.op = FM_OP_FLUSH, .references = ways});
        fm_string_add_phase(
            string, (struct fm_phase){.op = FM_OP_FLUSH, .order = ONE_MORE, .references = 1});
    }
    fm_string_add_phase(string, (struct fm_phase){.references = ways});
    if (ways > 1)
        fm_string_add_phase(string, (struct fm_phase){.window = ways - 1, .references = ways - 1});
    fm_string_add_phase(string, (struct fm_phase){.order = ONE_MORE, .references = 1});
}

/* … and then the one that is asked for, counted. */
static bool build(struct fm_string *string, const struct fm_counted *shape, bool flush, size_t base,
                  size_t asked, struct fm_error *err)
{
    const size_t ways = shape->ways, apart = (size_t)(shape->bytes / (double)ways);
    fm_string_empty(string, "", base + ways * apart + FM_WORD);
    snprintf(string->label, sizeof string->label, "victim(ways=%zu,apart=%zu,base=%zu,asked=%zu)",
             ways, apart, base, asked);
    if (!add_order(string, ways) || !add_order(string, 1) || !add_order(string, 1)) {
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a string");
    }
    for (size_t i = 0; i < ways; i++)
        string->orders[ALL].word[i] = (uint32_t)((base + i * apart) / FM_WORD);
    string->orders[ONE_MORE].word[0] = (uint32_t)((base + ways * apart) / FM_WORD);
    string->orders[ASKED].word[0] =
        asked < ways ? string->orders[ALL].word[asked] : string->orders[ONE_MORE].word[0];
    for (int i = 0; i < (flush ? REHEARSALS - 1 : REHEARSALS); i++)
        rehearse(string, ways, flush);
    fm_string_add_phase(string,
                        (struct fm_phase){.order = ASKED, .references = 1, .metered = true});
    return true;
}

/* Misses of one experiment; `asked` may be the one more, which is there. */
static bool try_one(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape, size_t asked,
                    double *misses, struct fm_error *err)
{
    const size_t way = (size_t)(shape->bytes / (double)shape->ways);
    const size_t base = fm_lab_seed(lab) % (way / shape->line) * shape->line;
    struct fm_string string;
    struct fm_sample sample;
    /* A fresh placement: nothing of it is in any cache or TLB. */
    if (!fm_lab_place(lab, (shape->ways + 2) * way, err) ||
        !build(&string, shape, !fm_event_is_tlb(bit), base, asked, err))
        return false;
    const bool good = fm_lab_go_on(lab, lab->part, err) &&
                      lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
    fm_string_free(&string);
    if (good)
        *misses = (double)fm_event_count(&sample.counts, bit);
    return good;
}

/* Whether each element was gone never, or all of so many times. */
static bool is_always_so(const unsigned gone[], size_t ways, int times)
{
    bool so = true;
    for (size_t i = 0; i < ways; i++)
        so &= gone[i] == 0 || gone[i] == (unsigned)times;
    return so;
}

/* In how many of so many experiments each element was gone, and the one more, which is there unless
   the meter drives it out. What a meter adds by itself is what it counts where nothing is gone. */
static bool try_all(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape,
                    unsigned gone[MOST_WAYS + 1], int *times, struct fm_error *err)
{
    double own = INFINITY, misses;
    for (int i = 0; i < REHEARSALS; i++) {
        if (!try_one(lab, bit, shape, shape->ways, &misses, err))
            return false;
        own = fmin(own, misses);
    }
    for (int i = 0; i < TIMES && !(i >= ENOUGH && is_always_so(gone, shape->ways + 1, i)); i++)
        for (size_t element = 0; element <= shape->ways; element++) {
            if (!try_one(lab, bit, shape, element, &misses, err))
                return false;
            gone[element] += misses > own;
            *times = i + 1;
        }
    return true;
}

enum verdict { OPEN, DRIVEN_OUT, THE_SAME, BY_LOT };

/* By lot every element is gone now and then, and none always. */
static enum verdict judge(const unsigned gone[], size_t ways, int times)
{
    if (gone[ways] > SOMETIMES * times)
        return DRIVEN_OUT;
    size_t always = 0, sometimes = 0;
    for (size_t i = 0; i < ways; i++) {
        const double part = (double)gone[i] / times;
        always += part >= ALWAYS;
        sometimes += part >= SOMETIMES && part < ALWAYS;
    }
    if (always == 1)
        return sometimes <= 1 ? THE_SAME : OPEN;
    return always == 0 && sometimes == ways ? BY_LOT : OPEN;
}

static void report(struct fm_lab *lab, unsigned bit, enum verdict verdict)
{
    static const char *const some[] = {"lru", "tree-plru", "bit-plru", "fifo", "srrip"};
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.replacement", fm_event_structure(bit));
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (!finding)
        return;
    if (verdict == BY_LOT) {
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_text("random"),
                                                   .confidence = SURE});
        return;
    }
    static const char *const why[] = {
        [OPEN] = "which element is gone is neither always the same nor any",
        [DRIVEN_OUT] = "counting itself drives elements out of so small a structure",
        [THE_SAME] = "always the same element is gone: some form of LRU, or the first that came; "
                     "the method does not tell them apart"};
    fm_undetermined(finding, why[verdict]);
    finding->candidate_count = 0;
    for (size_t i = 0; verdict == THE_SAME && i < sizeof some / sizeof some[0]; i++)
        finding->candidates[finding->candidate_count++] = fm_text(some[i]);
}

bool fm_amp_replacement(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape,
                        struct fm_error *err)
{
    unsigned gone[MOST_WAYS + 1] = {0};
    int times = 0;
    const bool first = bit == 0 || bit == FM_CACHE_LEVELS;
    if (!first || lab->by_stores & 1u << bit || shape->ways < FEWEST_WAYS ||
        shape->ways > MOST_WAYS)
        return true;
    if (!try_all(lab, bit, shape, gone, &times, err))
        return false;
    report(lab, bit, judge(gone, shape->ways, times));
    return true;
}
