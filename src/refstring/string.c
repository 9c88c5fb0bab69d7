#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

bool fm_string_begin(struct fm_string *string, size_t bytes, size_t count, struct fm_error *err)
{
    *string = (struct fm_string){.bytes = bytes, .order_count = 1};
    string->orders[0].count = count;
    string->orders[0].word = malloc(count * sizeof *string->orders[0].word);
    if (!string->orders[0].word)
        return fm_fail(err, FM_ERR_NO_MEMORY, "reference string of %zu words: no memory for it",
                       count);
    return true;
}

bool fm_string_add_order(struct fm_string *string, size_t count, struct fm_error *err)
{
    struct fm_order *order = &string->orders[string->order_count];
    if (string->order_count == FM_STRING_ORDERS)
        return fm_fail(err, FM_ERR_INTERNAL, "%s: too many orders", string->label);
    order->word = malloc(count * sizeof *order->word);
    if (!order->word)
        return fm_fail(err, FM_ERR_NO_MEMORY, "reference string of %zu words: no memory for it",
                       count);
    order->count = count;
    string->order_count++;
    return true;
}

void fm_order_clear_first(struct fm_order *order)
{
    size_t kept = 1;
    for (size_t i = 1; i < order->count; i++)
        if (order->word[i] - order->word[0] >= FM_TURN / FM_WORD)
            order->word[kept++] = order->word[i];
    order->count = kept;
}

double fm_golden(uint64_t index)
{
    return (double)((index * 0x9e3779b97f4a7c15u) >> 11) * 0x1.0p-53;
}

size_t fm_golden_step(size_t count)
{
    size_t step = (size_t)((double)count * 0.6180339887498949) | 1;
    for (;; step += 2) {
        size_t a = count, b = step;
        while (b) {
            const size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

double fm_spread(uint64_t index, unsigned variant)
{
    if (variant % 2)
        return (double)(fm_mix64(index ^ fm_mix64(variant)) >> 11) * 0x1.0p-53;
    return fm_golden(index * (variant + 1));
}

void fm_string_add_phase(struct fm_string *string, struct fm_phase phase)
{
    if (string->phase_count < FM_STRING_PHASES)
        string->phases[string->phase_count++] = phase;
}

static struct fm_phase pass_over(const struct fm_string *string, unsigned order, enum fm_op op)
{
    return (struct fm_phase){.op = op, .order = order, .references = string->orders[order].count};
}

void fm_string_add_pass(struct fm_string *string, unsigned order, enum fm_op op)
{
    fm_string_add_phase(string, pass_over(string, order, op));
}

void fm_string_time_pass(struct fm_string *string, unsigned order, enum fm_op op)
{
    struct fm_phase phase = pass_over(string, order, op);
    phase.metered = true;
    fm_string_add_phase(string, phase);
}

void fm_string_prime(struct fm_string *string, unsigned laps)
{
    fm_string_add_phase(string,
                        (struct fm_phase){.references = (uint64_t)laps * string->orders[0].count});
}

void fm_string_grow(struct fm_string *string)
{
    const size_t count = string->orders[0].count;
    for (size_t eighths = 4; eighths <= 8; eighths++) {
        const size_t window = count * eighths / 8;
        if (window > 0)
            fm_string_add_phase(
                string, (struct fm_phase){.window = window,
                                          .references = eighths == 4 ? 2 * window : window});
    }
}

void fm_string_flush(struct fm_string *string)
{
    fm_string_add_phase(
        string, (struct fm_phase){.op = FM_OP_FLUSH, .references = string->orders[0].count});
}

/* Primes with a string, walks another, and times the first. */
static void go_between(struct fm_string *timed, struct fm_string *between, unsigned laps)
{
    const size_t length = strlen(timed->label);
    snprintf(timed->label + length, sizeof timed->label - length, " after %u laps of %s", laps,
             between->label);
    timed->bytes = timed->bytes > between->bytes ? timed->bytes : between->bytes;
    timed->orders[1] = between->orders[0];
    timed->order_count = 2;
    *between = (struct fm_string){0};
    fm_string_prime(timed, 3);
    fm_string_add_phase(timed,
                        (struct fm_phase){.order = 1, .references = laps * timed->orders[1].count});
    fm_string_time(timed, timed->orders[0].count);
}

void fm_string_after(struct fm_string *data, struct fm_string *code, unsigned laps)
{
    go_between(data, code, laps);
    data->phases[data->phase_count - 2].op = FM_OP_JUMP;
}

void fm_string_after_data(struct fm_string *code, struct fm_string *data, unsigned laps)
{
    const size_t between = code->phase_count + 1;
    go_between(code, data, laps);
    fm_string_jump(code);
    code->phases[between].op = FM_OP_LOAD;
}

void fm_string_keep_first(struct fm_string *string, size_t bytes, size_t page)
{
    const size_t length = strlen(string->label);
    struct fm_order *order = &string->orders[0];
    size_t kept = 0;
    for (size_t i = 0; i < order->count; i++)
        if ((size_t)order->word[i] * FM_WORD % page < bytes)
            order->word[kept++] = order->word[i];
    order->count = kept;
    snprintf(string->label + length, sizeof string->label - length, " first %zu", bytes);
}

void fm_string_jump(struct fm_string *string)
{
    /* The first slot may be the last of the span. */
    string->bytes = (string->bytes + FM_TURN - 1) / FM_TURN * FM_TURN;
    for (size_t i = 0; i < string->phase_count; i++) {
        struct fm_phase *phase = &string->phases[i];
        const size_t count = string->orders[phase->order].count;
        if (phase->op != FM_OP_LOAD)
            continue;
        phase->op = FM_OP_JUMP;
        phase->chained = false;
        phase->references = (phase->references + count - 1) / count * count;
    }
}

void fm_string_load_real(struct fm_string *string)
{
    const size_t length = strlen(string->label);
    for (size_t i = 0; i < string->phase_count; i++)
        if (string->phases[i].op == FM_OP_LOAD)
            string->phases[i].op = FM_OP_LOAD_REAL;
    snprintf(string->label + length, sizeof string->label - length, " real");
}

void fm_string_store_instead(struct fm_string *string)
{
    for (size_t i = 0; i < string->phase_count; i++)
        if (string->phases[i].op == FM_OP_LOAD) {
            string->phases[i].op = FM_OP_STORE;
            string->phases[i].chained = false;
        }
}

void fm_string_pair(struct fm_string *string)
{
    struct fm_phase *metered = &string->phases[string->phase_count - 1];
    metered->op = FM_OP_LOAD_PAIR;
    metered->chained = false;
    metered->references += metered->references % 2;
}

void fm_string_time(struct fm_string *string, uint64_t references)
{
    fm_string_add_phase(
        string, (struct fm_phase){.references = references, .chained = true, .metered = true});
}

static bool check_order(const struct fm_string *string, const struct fm_order *order,
                        struct fm_error *err)
{
    const size_t words = (string->bytes + FM_WORD - 1) / FM_WORD;
    unsigned char *seen = calloc(words / 8 + 1, 1);
    if (!seen)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: no memory to check it", string->label);
    bool good = order->count > 0;
    if (!good)
        fm_fail(err, FM_ERR_INTERNAL, "%s: an order without words", string->label);
    for (size_t i = 0; i < order->count && good; i++) {
        const uint32_t word = order->word[i];
        if (word >= words)
            good = fm_fail(err, FM_ERR_INTERNAL, "%s: reference %zu lies outside the arena",
                           string->label, i);
        else if (seen[word / 8] & (1u << word % 8))
            good = fm_fail(err, FM_ERR_INTERNAL, "%s: reference %zu visits a word again",
                           string->label, i);
        else
            seen[word / 8] |= (unsigned char)(1u << word % 8);
    }
    free(seen);
    return good;
}

bool fm_string_check(const struct fm_string *string, struct fm_error *err)
{
    if (string->phase_count == 0 || !string->phases[string->phase_count - 1].metered)
        return fm_fail(err, FM_ERR_INTERNAL, "%s: the last phase is not metered", string->label);
    for (size_t i = 0; i < string->phase_count; i++) {
        const struct fm_phase *phase = &string->phases[i];
        if (phase->order >= string->order_count ||
            phase->window > string->orders[phase->order].count)
            return fm_fail(err, FM_ERR_INTERNAL, "%s: phase %zu has no such order", string->label,
                           i);
        if (phase->metered && i + 1 != string->phase_count)
            return fm_fail(err, FM_ERR_INTERNAL, "%s: phase %zu is metered, but not the last",
                           string->label, i);
    }
    for (size_t i = 0; i < string->order_count; i++)
        if (!check_order(string, &string->orders[i], err))
            return false;
    return true;
}

void fm_string_free(struct fm_string *string)
{
    for (size_t i = 0; i < string->order_count; i++)
        free(string->orders[i].word);
    *string = (struct fm_string){0};
}
