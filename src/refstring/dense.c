/* Strings of jumps that stand close. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

#define BLOCK_WORDS (FM_DENSE_BLOCK / FM_WORD)

/* Adds the jumps of a block in an order of their own, which hangs on seed and block alone. */
static uint32_t *add_block(const struct fm_dense_plan *plan, size_t block, uint32_t *word)
{
    const uint32_t step = (uint32_t)(plan->spacing / FM_WORD);
    const uint32_t first = plan->staggered ? (uint32_t)(block * step / plan->blocks) : 0;
    uint32_t places[BLOCK_WORDS];
    struct fm_rng rng;
    for (uint32_t i = 0; i < BLOCK_WORDS; i++)
        places[i] = i;
    fm_rng_seed(&rng, plan->seed ^ fm_mix64(block + 1));
    fm_rng_shuffle(&rng, places, BLOCK_WORDS);
    for (size_t i = 0; i < BLOCK_WORDS; i++)
        if (places[i] % step == first)
            *word++ = (uint32_t)block * BLOCK_WORDS + places[i];
    return word;
}

static void shuffle(uint32_t *numbers, size_t count, uint64_t seed)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)i;
    fm_rng_shuffle(&rng, numbers, count);
}

bool fm_dense_string(struct fm_string *string, const struct fm_dense_plan *plan,
                     struct fm_error *err)
{
    if (plan->blocks == 0 || plan->spacing < FM_WORD || plan->spacing > FM_DENSE_BLOCK ||
        FM_DENSE_BLOCK % plan->spacing || plan->page % FM_DENSE_BLOCK)
        return fm_fail(err, FM_ERR_INTERNAL, "%zu blocks of jumps %zu bytes apart", plan->blocks,
                       plan->spacing);
    const size_t each = plan->page / FM_DENSE_BLOCK;
    const size_t pages = (plan->blocks + each - 1) / each;
    const size_t bytes = plan->blocks * FM_DENSE_BLOCK;
    uint32_t *page_order = malloc(pages * sizeof *page_order);
    uint32_t *block_order = malloc(each * sizeof *block_order);
    if (!page_order || !block_order ||
        !fm_string_begin(string, bytes + FM_TURN, bytes / plan->spacing, err)) {
        free(page_order);
        free(block_order);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu pages", pages);
    }
    snprintf(string->label, sizeof string->label,
             "dense(blocks=%zu,spacing=%zu%s,page=%zu,seed=%llu)", plan->blocks, plan->spacing,
             plan->staggered ? ",staggered" : "", plan->page, (unsigned long long)plan->seed);
    uint32_t *word = string->orders[0].word;
    shuffle(page_order, pages, plan->seed);
    for (size_t i = 0; i < pages; i++) {
        shuffle(block_order, each, plan->seed ^ fm_mix64(page_order[i]));
        for (size_t j = 0; j < each; j++) {
            const size_t block = page_order[i] * each + block_order[j];
            if (block < plan->blocks)
                word = add_block(plan, block, word);
        }
    }
    fm_order_clear_first(&string->orders[0]);
    free(page_order);
    free(block_order);
    return true;
}
