#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

#define NONE UINT32_MAX

/* The words of all columns, listed by the page that they are on. */
struct pages {
    uint32_t *word, *next; /* of its page */
    uint32_t *first;       /* of each page; NONE: no more */
    uint32_t *visited;     /* those that have any, in the order of visits */
    size_t words, visits;
};

/* Lists the words in an order that is drawn; returns how many there are. */
static size_t list(const struct fm_column_plan *plan, struct fm_rng *rng, uint32_t *words)
{
    const size_t half = plan->apart / 2 / plan->line * plan->line;
    size_t count = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const size_t begin = i * plan->apart + (plan->shifted && i % 2 ? half : 0);
        for (size_t at = 0; at < plan->bytes && i != plan->absent; at += plan->line)
            words[count++] = (uint32_t)((begin + at) / FM_WORD);
    }
    fm_rng_shuffle(rng, words, count);
    return count;
}

static void deal(const struct fm_column_plan *plan, struct pages *pages, size_t page_count)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    for (size_t i = 0; i < page_count; i++)
        pages->first[i] = NONE;
    pages->words = list(plan, &rng, pages->word);
    for (size_t i = 0; i < pages->words; i++) {
        uint32_t *first = &pages->first[pages->word[i] / (plan->page / FM_WORD)];
        pages->next[i] = *first;
        *first = (uint32_t)i;
    }
    pages->visits = 0;
    for (size_t i = 0; i < page_count; i++)
        if (pages->first[i] != NONE)
            pages->visited[pages->visits++] = (uint32_t)i;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, pages->visited, pages->visits);
}

static void sweep(struct pages *pages, struct fm_order *order)
{
    size_t count = 0;
    while (count < order->count)
        for (size_t i = 0; i < pages->visits; i++) {
            uint32_t *first = &pages->first[pages->visited[i]];
            if (*first == NONE)
                continue;
            order->word[count++] = pages->word[*first];
            *first = pages->next[*first];
        }
}

bool fm_column_string(struct fm_string *string, const struct fm_column_plan *plan,
                      struct fm_error *err)
{
    const size_t span = plan->count * plan->apart;
    const size_t most = plan->count * (plan->bytes / plan->line + 1);
    const size_t page_count = span / plan->page + 1;
    struct pages pages = {.word = malloc(most * sizeof *pages.word),
                          .next = malloc(most * sizeof *pages.next),
                          .first = malloc(page_count * sizeof *pages.first),
                          .visited = malloc(page_count * sizeof *pages.visited)};
    bool good = pages.word && pages.next && pages.first && pages.visited;
    if (!good)
        fm_fail(err, FM_ERR_NO_MEMORY, "%u columns of %zu bytes: no memory for them", plan->count,
                plan->bytes);
    if (good) {
        deal(plan, &pages, page_count);
        good = fm_string_begin(string, span, plan->thin ? pages.visits : pages.words, err);
    }
    if (good) {
        snprintf(string->label, sizeof string->label,
                 "columns(count=%u,apart=%zu,bytes=%zu,line=%zu,absent=%d,shifted=%d,thin=%d,"
                 "seed=%llu)",
                 plan->count, plan->apart, plan->bytes, plan->line, (int)plan->absent,
                 plan->shifted, plan->thin, (unsigned long long)plan->seed);
        sweep(&pages, &string->orders[0]);
    }
    free(pages.word);
    free(pages.next);
    free(pages.first);
    free(pages.visited);
    return good;
}
