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

/* Units between the lines of a page that follow each other: near, so that a TLB that maps pages in
   pieces has them in one; but not so near that a cache which fetches a neighbour along brings the
   other. */
#define APART 4

/* The unit of a page that its visit number `visit` touches. Golden multiples spread neighbouring
   pages over all units, and so their lines over all sets of a cache. No two visits touch the same
   unit, since units are a power of two. */
static size_t unit_of(const struct fm_page_plan *plan, size_t page, size_t visit)
{
    const size_t units = plan->page / plan->unit;
    const size_t first = (size_t)(fm_golden(page ^ plan->seed) * (double)units);
    const size_t step = visit * (units > APART ? APART : 1);
    return first ^ step % units ^ step / units;
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
    if (!order) {
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu pages", plan->count);
    }
    for (size_t i = 0; i < plan->count; i++)
        order[i] = plan->pages[i];
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, order, plan->count);
    uint32_t *word = string->orders[0].word;
    for (size_t visit = 0; visit < plan->lines; visit += burst)
        for (size_t i = 0; i < plan->count; i++)
            for (size_t j = visit; j < visit + burst; j++) {
                const size_t at =
                    (size_t)order[i] * plan->page + unit_of(plan, order[i], j) * plan->unit;
                *word++ = (uint32_t)(at / FM_WORD);
            }
    free(order);
    return true;
}
