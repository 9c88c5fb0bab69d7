/* Strings over all pages of a footprint: swept, cache-only, shuffled. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

/* Some TLBs hold but a piece of a page that is larger than this: both units of a burst must then
   lie in one piece. */
#define SMALLEST_PIECE 4096

/* The pages of a footprint. */
struct layout {
    size_t pages;
    size_t units;      /* in a whole page */
    size_t last_units; /* in the last page, which may be a part of one */
    size_t most;       /* references in a lap at the most */
};

bool fm_swept_has_bursts(size_t page, size_t unit)
{
    return page / unit % 4 == 0;
}

static bool lay_out(const struct fm_swept_plan *plan, struct layout *layout, struct fm_error *err)
{
    if (plan->unit < FM_WORD || plan->unit % FM_WORD || plan->page == 0 ||
        plan->page % plan->unit || plan->bytes < plan->unit || plan->burst > 2 ||
        (plan->burst == 2 && !fm_swept_has_bursts(plan->page, plan->unit)))
        return fm_fail(err, FM_ERR_INTERNAL,
                       "a footprint of %zu bytes in units of %zu on pages of %zu does not fit",
                       plan->bytes, plan->unit, plan->page);
    layout->pages = (plan->bytes + plan->page - 1) / plan->page;
    layout->units = plan->page / plan->unit;
    const size_t rest = plan->bytes - (layout->pages - 1) * plan->page;
    layout->last_units = rest / plan->unit ? rest / plan->unit : 1;
    layout->most = layout->pages * layout->units;
    return true;
}

/* The units of a page in the order of their visits: of each pair of neighbours first one, then,
   half a lap later, the other. A prefetcher that brings a line's neighbour along fills the cache
   twice as fast as the walk asks; half a lap later the neighbour has left every cache that the walk
   does not fit. The two halves of the page, or of a piece of it, take turns, in bursts unit by
   unit, otherwise by a quarter of the lap. How far it is from the one to the other changes from
   burst to burst: a prefetcher that tries distances finds none that is of use. */
static void order_neighbours(struct fm_rng *rng, size_t units, size_t piece, unsigned burst,
                             uint32_t *columns)
{
    const size_t quarter = units / 4, piece_quarter = piece / 4;
    /* Kept in the last quarter of the columns, which are written behind where it is read. */
    uint32_t *first = columns + units - quarter;
    for (size_t i = 0; i < quarter; i++)
        first[i] = (uint32_t)(i / piece_quarter * piece + 2 * (i % piece_quarter));
    fm_rng_shuffle(rng, first, quarter);
    /* Counted down in the other half from a place that is drawn for each page. */
    const size_t turn = (size_t)fm_rng_below(rng, piece_quarter);
    for (size_t i = 0; i < quarter; i++) {
        const size_t pair = first[i] % piece / 2, base = first[i] / piece * piece;
        const size_t other =
            base + 2 * (piece_quarter + (turn + piece_quarter - pair) % piece_quarter);
        /* Either may come first, so that any part of a lap loads all sets of a cache alike. */
        const uint32_t one = first[i] + (uint32_t)fm_rng_below(rng, 2);
        /* Where the pairs are neighbours, neither of the one is beside its mate. */
        const uint32_t odd = other == first[i] + 2 ? one & 1 : (uint32_t)fm_rng_below(rng, 2);
        const uint32_t two = (uint32_t)other + odd;
        const size_t at = burst == 2 ? 2 * i : i, then = burst == 2 ? at + 1 : i + quarter;
        columns[at] = one;
        columns[then] = two;
        columns[2 * quarter + at] = one ^ 1;
        columns[2 * quarter + then] = two ^ 1;
    }
}

/* The units of a page in an order that hangs on seed and page alone. */
static void order_columns(const struct fm_swept_plan *plan, size_t page, size_t units,
                          uint32_t *columns)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed ^ fm_mix64(page));
    if (fm_swept_has_bursts(plan->page, plan->unit)) {
        const size_t piece = SMALLEST_PIECE / plan->unit;
        /* Units may be longer than a piece, where pages are. */
        const bool whole = units < piece || piece == 0 || piece % 4;
        order_neighbours(&rng, units, whole ? units : piece, plan->burst, columns);
        return;
    }
    for (size_t i = 0; i < units; i++)
        columns[i] = (uint32_t)i;
    fm_rng_shuffle(&rng, columns, units);
}

#define NO_UNIT UINT32_MAX

/* The same for the last page, of which only the first units belong to the footprint. In bursts its
   units are paired with each other, so that it too is visited half as often as one by one. */
static void order_part(const struct fm_swept_plan *plan, const struct layout *layout,
                       uint32_t *columns)
{
    struct fm_swept_plan single = *plan;
    single.burst = 1;
    order_columns(&single, layout->pages - 1, layout->units, columns);
    size_t slot = 0;
    bool waits = false;
    for (size_t i = 0; i < layout->units; i++) {
        const uint32_t column = columns[i];
        columns[i] = NO_UNIT;
        if (column >= layout->last_units)
            continue;
        if (plan->burst != 2) {
            columns[i] = column;
            continue;
        }
        if (!waits)
            slot = i / 2 * 2;
        columns[slot + waits] = column;
        waits = !waits;
    }
}

struct ranked_page {
    uint64_t rank;
    uint32_t page;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked_page *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Pages by a random rank of each. A larger footprint with the same seed visits the pages of a
   smaller one in the same order: so no cache policy, not even one that never forgets the order in
   which lines came, sees the order change as the footprint grows. */
static uint32_t *ranked_pages(uint64_t seed, size_t pages)
{
    struct ranked_page *ranked = malloc(pages * sizeof *ranked);
    uint32_t *order = malloc(pages * sizeof *order);
    if (ranked && order) {
        for (size_t i = 0; i < pages; i++)
            ranked[i] = (struct ranked_page){fm_mix64(seed + fm_mix64(i)), (uint32_t)i};
        qsort(ranked, pages, sizeof *ranked, by_rank);
        for (size_t i = 0; i < pages; i++)
            order[i] = ranked[i].page;
    }
    free(ranked);
    if (!ranked) {
        free(order);
        return NULL;
    }
    return order;
}

/* Shuffled page numbers; NULL when memory is out. */
static uint32_t *shuffled_pages(struct fm_rng *rng, size_t pages)
{
    uint32_t *order = malloc(pages * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < pages; i++)
        order[i] = (uint32_t)i;
    fm_rng_shuffle(rng, order, pages);
    return order;
}

bool fm_swept_string(struct fm_string *string, const struct fm_swept_plan *plan,
                     struct fm_error *err)
{
    struct layout layout;
    if (!lay_out(plan, &layout, err) || !fm_string_begin(string, plan->bytes, layout.most, err))
        return false;
    const size_t burst = plan->burst ? plan->burst : 1, units = layout.units;
    snprintf(string->label, sizeof string->label,
             "swept(bytes=%zu,unit=%zu,page=%zu,burst=%zu,seed=%llu)", plan->bytes, plan->unit,
             plan->page, burst, (unsigned long long)plan->seed);

    uint32_t *pages = ranked_pages(plan->seed, layout.pages);
    uint32_t *columns = malloc(layout.most * sizeof *columns);
    if (!pages || !columns) {
        free(pages);
        free(columns);
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu pages", layout.pages);
    }
    /* In the order of the pages' visits, so that a sweep reads them in a row. */
    for (size_t i = 0; i < layout.pages; i++) {
        const bool whole = pages[i] + 1 < layout.pages || layout.last_units == units;
        if (whole)
            order_columns(plan, pages[i], units, columns + i * units);
        else
            order_part(plan, &layout, columns + i * units);
    }
    size_t filled = 0;
    for (size_t sweep = 0; sweep < units; sweep += burst)
        for (size_t i = 0; i < layout.pages; i++)
            for (size_t j = sweep; j < sweep + burst; j++) {
                const size_t column = columns[i * units + j];
                const size_t unit = pages[i] * units + column;
                if (column == NO_UNIT)
                    continue;
                string->orders[0].word[filled++] = (uint32_t)(unit * (plan->unit / FM_WORD));
            }
    string->orders[0].count = filled;
    free(pages);
    free(columns);
    return true;
}

bool fm_cache_only_string(struct fm_string *string, const struct fm_swept_plan *plan,
                          struct fm_error *err)
{
    struct layout layout;
    if (!lay_out(plan, &layout, err) || !fm_string_begin(string, plan->bytes, layout.most, err))
        return false;
    snprintf(string->label, sizeof string->label,
             "cache-only(bytes=%zu,unit=%zu,page=%zu,seed=%llu)", plan->bytes, plan->unit,
             plan->page, (unsigned long long)plan->seed);

    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    uint32_t *pages = shuffled_pages(&rng, layout.pages);
    uint32_t *columns = shuffled_pages(&rng, layout.units);
    if (!pages || !columns) {
        free(pages);
        free(columns);
        fm_string_free(string);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory to shuffle %zu pages", layout.pages);
    }
    size_t filled = 0;
    for (size_t i = 0; i < layout.pages; i++)
        for (size_t c = 0; c < layout.units; c++) {
            if (pages[i] + 1 == layout.pages && columns[c] >= layout.last_units)
                continue;
            const size_t unit = pages[i] * layout.units + columns[c];
            string->orders[0].word[filled++] = (uint32_t)(unit * (plan->unit / FM_WORD));
        }
    string->orders[0].count = filled;
    free(pages);
    free(columns);
    return true;
}

bool fm_shuffled_string(struct fm_string *string, const struct fm_swept_plan *plan,
                        struct fm_error *err)
{
    struct layout layout;
    if (!lay_out(plan, &layout, err))
        return false;
    const size_t units = plan->bytes / plan->unit;
    if (!fm_string_begin(string, plan->bytes, units, err))
        return false;
    snprintf(string->label, sizeof string->label, "shuffled(bytes=%zu,unit=%zu,seed=%llu)",
             plan->bytes, plan->unit, (unsigned long long)plan->seed);
    struct fm_rng rng;
    fm_rng_seed(&rng, plan->seed);
    for (size_t i = 0; i < units; i++)
        string->orders[0].word[i] = (uint32_t)(i * (plan->unit / FM_WORD));
    fm_rng_shuffle(&rng, string->orders[0].word, units);
    return true;
}
