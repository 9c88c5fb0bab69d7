/* What a string of jumps must be like for a machine to run it. */
#include <stdlib.h>

#include "core/refstring.h"

bool fm_string_has_jumps(const struct fm_string *string)
{
    for (size_t i = 0; i < string->phase_count; i++)
        if (string->phases[i].op == FM_OP_JUMP)
            return true;
    return false;
}

static bool is_walked_by_jumps(const struct fm_string *string, size_t order)
{
    for (size_t i = 0; i < string->phase_count; i++)
        if (string->phases[i].op == FM_OP_JUMP && string->phases[i].order == order)
            return true;
    return false;
}

/* Pointers are written into the words of the timed order, which code must not lie over either. */
static bool is_chained(const struct fm_string *string, size_t order)
{
    const struct fm_phase *metered = &string->phases[string->phase_count - 1];
    return metered->order == order && (metered->chained || metered->op == FM_OP_LOAD_PAIR);
}

/* Words that the i-th slot of an order takes; 1 where it holds a pointer. */
static size_t taken(const struct fm_order *order, size_t i, bool jumps)
{
    if (!jumps)
        return 1;
    const size_t bytes = i ? order->filler * FM_FILLER + FM_WORD : FM_TURN;
    return (bytes + FM_WORD - 1) / FM_WORD;
}

/* Takes the words of an order; false where one is taken, or lies beyond the span. */
static bool take(unsigned char *map, size_t words, const struct fm_order *order, bool jumps)
{
    for (size_t i = 0; i < order->count; i++) {
        const size_t from = order->word[i], to = from + taken(order, i, jumps);
        if (to > words)
            return false;
        for (size_t word = from; word < to; word++) {
            const unsigned char bit = (unsigned char)(1u << word % 8);
            if (map[word / 8] & bit)
                return false;
            map[word / 8] |= bit;
        }
    }
    return true;
}

static bool check_slots(const struct fm_string *string, struct fm_error *err)
{
    const size_t words = string->bytes / FM_WORD;
    unsigned char *map = calloc(words / 8 + 1, 1);
    bool good = true;
    if (!map)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: no memory to check it", string->label);
    for (size_t i = 0; i < string->order_count && good; i++) {
        const bool jumps = is_walked_by_jumps(string, i);
        if (jumps || is_chained(string, i))
            good = take(map, words, &string->orders[i], jumps);
    }
    free(map);
    return good || fm_fail(err, FM_ERR_INTERNAL, "%s: slots overlap, or lie beyond the span",
                           string->label);
}

bool fm_check_jumps(const struct fm_string *string, struct fm_error *err)
{
    if (!fm_string_has_jumps(string))
        return true;
    for (size_t i = 0; i < string->phase_count; i++) {
        const struct fm_phase *phase = &string->phases[i];
        if (phase->op == FM_OP_JUMP &&
            (phase->window || phase->references % string->orders[phase->order].count))
            return fm_fail(err, FM_ERR_INTERNAL, "%s: jumps go whole laps over a whole order",
                           string->label);
        if (phase->op == FM_OP_STORE)
            return fm_fail(err, FM_ERR_INTERNAL, "%s: a string with jumps stores to nothing",
                           string->label);
    }
    return check_slots(string, err);
}
