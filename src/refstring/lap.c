/* The lap string and its companion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

#define MOST_SETS 32

/* Numbers whose digits to the base of three are zeros and ones: no three are at equal steps. */
static size_t uneven(unsigned index)
{
    size_t number = 0;
    for (size_t place = 1; index; index /= 2, place *= 3)
        number += index % 2 * place;
    return number;
}

/* What becomes of the lap in one set. */
struct set {
    size_t offset;  /* bytes */
    unsigned begin; /* the reference of the lap that comes first */
};

struct layout {
    struct set sets[MOST_SETS];
    unsigned count;
    uint32_t *places; /* by set and block: which of the blocks stands for it */
    uint16_t *visits; /* likewise: how often it came up */
};

static void count_sets(const struct fm_lap_plan *plan, struct layout *layout)
{
    const size_t room = plan->stride < plan->page || plan->apart ? plan->stride : plan->page;
    for (unsigned i = 0; i < plan->sets && i < MOST_SETS; i++) {
        const size_t offset = plan->apart ? i * plan->apart : 2 * uneven(i) * plan->line;
        if (i > 0 && offset >= room)
            break;
        layout->sets[layout->count++].offset = offset;
    }
}

static bool lay_out(const struct fm_lap_plan *plan, struct layout *layout, struct fm_rng *rng)
{
    count_sets(plan, layout);
    layout->places = malloc((size_t)layout->count * plan->blocks * sizeof *layout->places);
    layout->visits = calloc((size_t)layout->count * plan->blocks, sizeof *layout->visits);
    if (!layout->places || !layout->visits)
        return false;
    for (unsigned i = 0; i < layout->count; i++) {
        uint32_t *places = layout->places + (size_t)i * plan->blocks;
        layout->sets[i].begin = (unsigned)fm_rng_below(rng, plan->length);
        for (unsigned b = 0; b < plan->blocks; b++)
            places[b] = b;
        fm_rng_shuffle(rng, places, plan->blocks);
    }
    return true;
}

/* A block that comes up again is asked for by another of its words, since an order names a word but
   once. */
static size_t reference(const struct fm_lap_plan *plan, struct layout *layout, unsigned number,
                        unsigned step)
{
    const struct set *set = &layout->sets[number];
    const unsigned block = plan->block[(set->begin + step) % plan->length];
    const size_t at = (size_t)number * plan->blocks + block;
    const unsigned visit = layout->visits[at]++;
    return layout->places[at] * plan->stride + set->offset + visit * FM_WORD;
}

static void fill(const struct fm_lap_plan *plan, struct layout *layout, struct fm_rng *rng,
                 uint32_t *word)
{
    uint32_t order[MOST_SETS];
    for (unsigned i = 0; i < layout->count; i++)
        order[i] = i;
    for (unsigned step = 0; step < plan->length; step++) {
        if (!plan->apart || step == 0)
            fm_rng_shuffle(rng, order, layout->count);
        for (unsigned i = 0; i < layout->count; i++)
            *word++ = (uint32_t)(reference(plan, layout, order[i], step) / FM_WORD);
    }
}

/* Packs the words of each page into whole lines, those of different pages into different sets. */
static bool pack(const struct fm_lap_plan *plan, size_t pages, uint32_t *word, size_t count)
{
    const size_t page_words = plan->page / FM_WORD, line_words = plan->line / FM_WORD;
    size_t *next = calloc(2 * pages, sizeof *next);
    if (!next)
        return false;
    size_t *first = next + pages;
    for (size_t i = 0; i < count; i++)
        next[word[i] / page_words]++;
    for (size_t page = 0, lines = 0; page < pages; page++) {
        first[page] = lines * line_words % page_words;
        lines += (next[page] + line_words - 1) / line_words;
        next[page] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t page = word[i] / page_words;
        word[i] = (uint32_t)(page * page_words + (first[page] + next[page]++) % page_words);
    }
    free(next);
    return true;
}

static bool plausible(const struct fm_lap_plan *plan)
{
    unsigned *visits = calloc(plan->blocks + 1u, sizeof *visits);
    bool good = visits && plan->length && plan->blocks && plan->sets && plan->line >= FM_WORD &&
                plan->line % FM_WORD == 0 && plan->stride % plan->line == 0 && plan->stride &&
                plan->page % plan->line == 0 && plan->page;
    for (unsigned i = 0; i < plan->length && good; i++)
        good = plan->block[i] < plan->blocks && ++visits[plan->block[i]] <= plan->line / FM_WORD;
    free(visits);
    return good;
}

bool fm_lap_string(struct fm_string *string, const struct fm_lap_plan *plan, struct fm_error *err)
{
    struct fm_rng rng;
    struct layout layout = {.count = 0};
    if (!plausible(plan))
        return fm_fail(err, FM_ERR_INTERNAL,
                       "a lap of %u references to %u blocks, %zu bytes apart, does not fit",
                       plan->length, plan->blocks, plan->stride);
    const size_t room = plan->stride > plan->page ? plan->stride : plan->page;
    const size_t pages = (plan->blocks * plan->stride + room) / plan->page + 1;
    fm_rng_seed(&rng, plan->seed);
    bool good = lay_out(plan, &layout, &rng);
    good = good &&
           fm_string_begin(string, pages * plan->page, (size_t)plan->length * layout.count, err);
    if (good) {
        snprintf(
            string->label, sizeof string->label,
            "lap%s(length=%u,blocks=%u,sets=%u,line=%zu,stride=%zu,apart=%zu,page=%zu,seed=%llu)",
            plan->companion ? "-control" : "", plan->length, plan->blocks, layout.count, plan->line,
            plan->stride, plan->apart, plan->page, (unsigned long long)plan->seed);
        struct fm_order *order = &string->orders[0];
        fill(plan, &layout, &rng, order->word);
        if (plan->companion && !pack(plan, pages, order->word, order->count)) {
            fm_string_free(string);
            good = fm_fail(err, FM_ERR_NO_MEMORY, "no memory to pack a lap");
        }
    } else if (!layout.places || !layout.visits) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory to lay out a lap");
    }
    free(layout.places);
    free(layout.visits);
    return good;
}
