/* Strings of jumps over lines of code. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

static bool plausible(const struct fm_lines_plan *plan, struct fm_error *err)
{
    if (plan->count == 0 || plan->apart < FM_WORD || plan->apart % FM_WORD)
        return fm_fail(err, FM_ERR_INTERNAL, "%zu elements of code, slots %zu bytes apart",
                       plan->count, plan->apart);
    return true;
}

/* The last word of any line's room, and how many lines there are. */
static size_t measure(const struct fm_lines_plan *plan, size_t *lines)
{
    uint32_t last = 0;
    *lines = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const bool two = plan->other[i] != FM_NO_LINE;
        last = plan->one[i] > last ? plan->one[i] : last;
        last = two && plan->other[i] > last ? plan->other[i] : last;
        *lines += 1 + two;
    }
    const size_t slot = plan->filler * FM_FILLER + FM_WORD;
    return (size_t)last * FM_WORD + plan->apart + (slot > FM_TURN ? slot : FM_TURN);
}

static uint32_t *visit(uint32_t *word, uint32_t first, uint32_t second)
{
    if (first != FM_NO_LINE)
        *word++ = first;
    if (second != FM_NO_LINE)
        *word++ = second;
    return word;
}

static uint32_t slot(uint32_t line, uint32_t apart)
{
    return line == FM_NO_LINE ? FM_NO_LINE : line + apart;
}

/* One of the two sweeps over all elements. */
static uint32_t *sweep(const struct fm_lines_plan *plan, const uint32_t *order, bool second,
                       uint32_t *word)
{
    const uint32_t apart = (uint32_t)(plan->apart / FM_WORD);
    for (size_t i = 0; i < plan->count; i++) {
        const uint32_t one = plan->one[order[i]], other = plan->other[order[i]];
        const uint32_t line = second ? other : one, on = second ? 0 : apart;
        word = plan->bursts ? visit(word, slot(line, apart), line)
                            : visit(word, slot(one, on), slot(other, on));
    }
    return word;
}

bool fm_lines_string(struct fm_string *string, const struct fm_lines_plan *plan,
                     struct fm_error *err)
{
    size_t lines;
    if (!plausible(plan, err))
        return false;
    const size_t bytes = measure(plan, &lines);
    uint32_t *order = malloc(plan->count * sizeof *order);
    if (!order || !fm_string_begin(string, bytes, 2 * lines, err)) {
        free(order);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu lines", plan->count);
    }
    snprintf(string->label, sizeof string->label,
             "lines(elements=%zu,lines=%zu,bytes=%zu,apart=%zu,filler=%u,bursts=%d,seed=%llu)",
             plan->count, lines, bytes, plan->apart, plan->filler, plan->bursts,
             (unsigned long long)plan->seed);
    for (size_t i = 0; i < plan->count; i++)
        order[i] = (uint32_t)i;
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, order, plan->count);
    string->orders[0].filler = plan->filler;
    sweep(plan, order, true, sweep(plan, order, false, string->orders[0].word));
    fm_order_clear_first(&string->orders[0]);
    free(order);
    return true;
}
