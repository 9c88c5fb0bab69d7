/* Pages visited cold, with their tables in cache or not. */
#include <stdio.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

enum { METERED, EVICT, WARM, SWEEP };

static void fill_region(const struct fm_cold_plan *plan, struct fm_order *order)
{
    const size_t step = fm_golden_step(order->count);
    size_t at = 0;
    for (size_t i = 0; i < order->count; i++) {
        order->word[i] = (uint32_t)(at * plan->unit / FM_WORD);
        at = (at + step) % order->count;
    }
}

/* One line of each page, in a shuffled order; the line is spread over the page. */
static void fill_pages(const struct fm_cold_plan *plan, struct fm_order *order, size_t first,
                       size_t apart, size_t shift)
{
    const size_t units = plan->page / plan->unit;
    struct fm_rng rng;
    for (size_t i = 0; i < order->count; i++) {
        const size_t line = (size_t)(fm_golden(i ^ plan->seed) * (double)units);
        const size_t at = first + i * apart * plan->page + (line ^ shift) * plan->unit;
        order->word[i] = (uint32_t)(at / FM_WORD);
    }
    fm_rng_seed(&rng, plan->seed);
    fm_rng_shuffle(&rng, order->word, order->count);
}

static void add_phase(struct fm_string *string, unsigned order, bool metered)
{
    string->phases[string->phase_count++] =
        (struct fm_phase){.order = order,
                          .references = string->orders[order].count,
                          .chained = metered,
                          .metered = metered};
}

size_t fm_cold_pages_bytes(const struct fm_cold_plan *plan)
{
    const size_t swept = plan->sweep * plan->page;
    return (swept > plan->evict_bytes ? swept : plan->evict_bytes) +
           plan->count * plan->apart * plan->page;
}

bool fm_cold_pages_string(struct fm_string *string, const struct fm_cold_plan *plan,
                          struct fm_error *err)
{
    const size_t units = plan->page / plan->unit;
    if (plan->count == 0 || plan->apart == 0 || units < 2 || (units & (units - 1)) ||
        plan->sweep == 0 || plan->evict_bytes < plan->unit || plan->evict_bytes % plan->page)
        return fm_fail(err, FM_ERR_INTERNAL,
                       "%zu cold pages of %zu bytes, %zu apart, behind %zu bytes: does not fit",
                       plan->count, plan->page, plan->apart, plan->evict_bytes);
    const size_t visited = fm_cold_pages_bytes(plan) - plan->count * plan->apart * plan->page;
    if (!fm_string_begin(string, fm_cold_pages_bytes(plan), plan->count, err))
        return false;
    snprintf(string->label, sizeof string->label,
             "cold(count=%zu,apart=%zu,page=%zu,evict=%zu,sweep=%zu,warm=%d,seed=%llu)",
             plan->count, plan->apart, plan->page, plan->evict_bytes, plan->sweep, plan->warm,
             (unsigned long long)plan->seed);
    if (!fm_string_add_order(string, plan->evict_bytes / plan->unit, err) ||
        !fm_string_add_order(string, plan->count, err) ||
        !fm_string_add_order(string, plan->sweep, err)) {
        fm_string_free(string);
        return false;
    }
    fill_pages(plan, &string->orders[METERED], visited, plan->apart, 0);
    fill_region(plan, &string->orders[EVICT]);
    fill_pages(plan, &string->orders[WARM], visited, plan->apart, units / 2);
    fill_pages(plan, &string->orders[SWEEP], 0, 1, 0);
    add_phase(string, EVICT, false);
    if (plan->warm)
        add_phase(string, WARM, false);
    add_phase(string, SWEEP, false);
    add_phase(string, METERED, true);
    return true;
}
