/* The TLB string T(n, k), over any list of pages. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

static size_t last_page(const struct fm_page_plan *plan)
{
    size_t last = 0;
    for (size_t i = 0; i < plan->count; i++)
        last = plan->pages[i] > last ? plan->pages[i] : last;
    return last;
}

/* The lines of a page that follow each other lie in neighbouring blocks of so many units: near, so
   that a TLB that maps pages in pieces has them in one. */
#define BLOCK 4

/* Two bits that go through all there are from page to page, whatever the stride, and not by chance:
   sets must stay loaded alike. */
static size_t digits(uint64_t page)
{
    size_t both = 0;
    for (; page; page >>= 2)
        both ^= page & 3;
    return both;
}

/* The units of all pages, a power of two, and what is the same at all visits of a page. */
struct grid {
    size_t units;
    unsigned shift; /* of that many */
    bool turns;     /* the second visits of pages */
};
struct page {
    uint32_t number, first; /* unit; golden multiples spread neighbouring pages over all units, and
                               so their lines over all sets of a cache */
    uint32_t turn;
};

static struct grid grid_of(const struct fm_page_plan *plan)
{
    const size_t units = plan->page / plan->unit;
    return (struct grid){.units = units,
                         .shift = (unsigned)__builtin_ctzll(units),
                         .turns = units > BLOCK && plan->lines <= units / BLOCK};
}

static struct page page_of(const struct fm_page_plan *plan, uint32_t number)
{
    const uint64_t drawn = number ^ plan->seed;
    const size_t units = plan->page / plan->unit;
    return (struct page){.number = number,
                         .first = (uint32_t)(fm_golden(drawn) * (double)units),
                         .turn = (uint32_t)(digits(drawn) % BLOCK)};
}

/* The unit that a page's visit number `visit` touches. No two visits touch the same one. */
static size_t unit_of(const struct grid *grid, const struct page *page, size_t visit)
{
    const size_t step = visit * (grid->units > BLOCK ? BLOCK : 1);
    const size_t unit = page->first ^ (step & (grid->units - 1)) ^ step >> grid->shift;
    if (visit % 2 == 0 || !grid->turns)
        return unit;
    /* Were it always as far to the other, a prefetcher that tries distances would bring it; were
       they neighbours, one that fetches these along. */
    const size_t mate = unit_of(grid, page, visit - 1);
    const size_t other = unit ^ page->turn;
    return other + 1 == mate || mate + 1 == other ? other ^ 2 : other;
}

bool fm_page_string(struct fm_string *string, const struct fm_page_plan *plan, struct fm_error *err)
{
    const unsigned burst = plan->burst ? plan->burst : 1;
    if (plan->count == 0 || plan->unit < FM_WORD || plan->page % plan->unit || plan->lines == 0 ||
        plan->lines > plan->page / plan->unit ||
        (plan->page / plan->unit & (plan->page / plan->unit - 1)) || plan->lines % burst)
        return fm_fail(
            err, FM_ERR_INTERNAL,
            "%zu pages of %zu bytes, %u units of %zu in each, %u to a visit: does not fit",
            plan->count, plan->page, plan->lines, plan->unit, burst);
    if (!fm_string_begin(string, (last_page(plan) + 1) * plan->page, plan->count * plan->lines,
                         err))
        return false;
    snprintf(string->label, sizeof string->label,
             "pages(count=%zu,last=%zu,page=%zu,unit=%zu,lines=%u,burst=%u,seed=%llu)", plan->count,
             last_page(plan), plan->page, plan->unit, plan->lines, burst,
             (unsigned long long)plan->seed);
    uint32_t *order = malloc(plan->count * sizeof *order);
    struct page *pages = malloc(plan->count * sizeof *pages);
    if (!order || !pages) {
        free(order);
        free(pages);
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu pages", plan->count);
    }
    for (size_t i = 0; i < plan->count; i++)
        order[i] = plan->pages[i];
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, order, plan->count);
    for (size_t i = 0; i < plan->count; i++)
        pages[i] = page_of(plan, order[i]);
    uint32_t *word = string->orders[0].word;
    const struct grid grid = grid_of(plan);
    for (size_t visit = 0; visit < plan->lines; visit += burst)
        for (size_t i = 0; i < plan->count; i++)
            for (size_t j = visit; j < visit + burst; j++) {
                const size_t at = (size_t)pages[i].number * plan->page +
                                  unit_of(&grid, &pages[i], j) * plan->unit;
                *word++ = (uint32_t)(at / FM_WORD);
            }
    free(order);
    free(pages);
    return true;
}
