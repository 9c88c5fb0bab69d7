/* Any words, in a shuffled order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

static size_t span_of(const uint32_t *words, size_t count)
{
    size_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = words[i] > last ? words[i] : last;
    return (last + 1) * FM_WORD;
}

bool fm_listed_string(struct fm_string *string, const struct fm_listed_plan *plan,
                      struct fm_error *err)
{
    if (plan->count == 0)
        return fm_fail(err, FM_ERR_INTERNAL, "a list without words");
    const size_t span = span_of(plan->words, plan->count);
    const size_t flushed = span_of(plan->flushed, plan->flushed_count);
    if (!fm_string_begin(string, span > flushed ? span : flushed, plan->count, err))
        return false;
    snprintf(string->label, sizeof string->label, "listed(count=%zu,flushed=%zu,seed=%llu)",
             plan->count, plan->flushed_count, (unsigned long long)plan->seed);
    memcpy(string->orders[0].word, plan->words, plan->count * sizeof *plan->words);
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    if (!plan->in_order)
        fm_rng_shuffle(&rng, string->orders[0].word, plan->count);
    if (plan->flushed_count == 0)
        return true;
    struct fm_order *order = &string->orders[string->order_count];
    order->word = malloc(plan->flushed_count * sizeof *order->word);
    if (!order->word) {
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "%zu words to flush: no memory for them",
                       plan->flushed_count);
    }
    memcpy(order->word, plan->flushed, plan->flushed_count * sizeof *order->word);
    order->count = plan->flushed_count;
    string->phases[string->phase_count++] =
        (struct fm_phase){.op = FM_OP_FLUSH,
                          .order = (unsigned)string->order_count++,
                          .references = plan->flushed_count};
    return true;
}
