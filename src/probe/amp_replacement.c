/* AMP's test of the replacement policy, by a counter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/lab.h"
#include "probe/published_counts.h"
#include "refstring/refstring.h"

#define METHOD "amp"
#define SURE   0.95
/* The paper asks it of four and eight ways; what it says holds of any few that are a choice. */
#define FEWEST_WAYS 2
#define MOST_WAYS   16
/* Experiments with each element, each in another set. */
#define TIMES 8

enum { ALL, ONE_MORE, ASKED, ORDERS };

static bool add_order(struct fm_string *string, size_t count)
{
    struct fm_order *order = &string->orders[string->order_count++];
    order->word = malloc(count * sizeof *order->word);
    order->count = count;
    return order->word;
}

static void add(struct fm_string *string, struct fm_phase phase)
{
    string->phases[string->phase_count++] = phase;
}

/* `ways` elements of a set, all but the last of them again, one more; and then the one that is
   asked for, counted. */
static bool build(struct fm_string *string, size_t ways, size_t apart, size_t base, size_t asked,
                  struct fm_error *err)
{
    char label[64];
    snprintf(label, sizeof label, "victim(ways=%zu,apart=%zu,base=%zu,asked=%zu)", ways, apart,
             base, asked);
    fm_string_empty(string, label, base + ways * apart + FM_WORD);
    if (!add_order(string, ways) || !add_order(string, 1) || !add_order(string, 1)) {
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a string");
    }
    for (size_t i = 0; i < ways; i++)
        string->orders[ALL].word[i] = (uint32_t)((base + i * apart) / FM_WORD);
    string->orders[ONE_MORE].word[0] = (uint32_t)((base + ways * apart) / FM_WORD);
    string->orders[ASKED].word[0] = string->orders[ALL].word[asked];
    add(string, (struct fm_phase){.order = ALL, .references = ways});
    add(string, (struct fm_phase){.order = ALL, .window = ways - 1, .references = ways - 1});
    add(string, (struct fm_phase){.order = ONE_MORE, .references = 1});
    add(string, (struct fm_phase){.order = ASKED, .references = 1, .metered = true});
    return true;
}

/* How often each element was gone. */
static bool try_all(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                    unsigned gone[MOST_WAYS], struct fm_error *err)
{
    const size_t apart = (size_t)(shape->bytes / (double)shape->ways);
    const size_t sets = apart / shape->line;
    for (size_t i = 0; i < shape->ways * TIMES; i++) {
        const size_t base = fm_lab_seed(lab) % sets * shape->line;
        struct fm_string string;
        struct fm_sample sample;
        /* A fresh placement: nothing of it is in any cache or TLB. */
        if (!fm_lab_place(lab, (shape->ways + 2) * apart, err) ||
            !build(&string, shape->ways, apart, base, i % shape->ways, err))
            return false;
        const bool good = fm_lab_go_on(lab, lab->part, err) &&
                          lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
        fm_string_free(&string);
        if (!good)
            return false;
        gone[i % shape->ways] += fm_event_count(&sample.counts, bit) > 0;
    }
    return true;
}

static void report(struct fm_lab *lab, unsigned bit, unsigned victims)
{
    static const char *const some[] = {"lru", "tree-plru", "bit-plru", "fifo"};
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.replacement", fm_event_structure(bit));
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (!finding)
        return;
    if (victims > 1) {
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_text("random"),
                                                   .confidence = SURE});
        return;
    }
    fm_undetermined(finding, victims ? "always the same element is gone: some form of LRU, or the "
                                       "first that came; the method does not tell them apart"
                                     : "no element was gone");
    finding->candidate_count = 0;
    for (size_t i = 0; victims && i < sizeof some / sizeof some[0]; i++)
        finding->candidates[finding->candidate_count++] = fm_text(some[i]);
}

bool fm_amp_replacement(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                        struct fm_error *err)
{
    unsigned gone[MOST_WAYS] = {0}, victims = 0;
    const bool first = bit == 0 || bit == FM_CACHE_LEVELS;
    if (!first || lab->by_stores & 1u << bit || shape->ways < FEWEST_WAYS ||
        shape->ways > MOST_WAYS)
        return true;
    if (!try_all(lab, bit, shape, gone, err))
        return false;
    for (size_t i = 0; i < shape->ways; i++)
        victims += gone[i] > 0;
    report(lab, bit, victims);
    return true;
}
