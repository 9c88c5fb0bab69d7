/* Orders of prime-then-measure strings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "refstring/build.h"
#include "refstring/refstring.h"

void fm_string_empty(struct fm_string *string, const char *label, size_t bytes)
{
    *string = (struct fm_string){.bytes = bytes};
    snprintf(string->label, sizeof string->label, "%s", label);
}

/* A part of a page of which multiples lie evenly, and multiples of its multiples: of square roots
   that of 22 makes spots meet in the fewest sets, over pages and ways of all sizes. */
#define PART (4.69041575982343 - 4)

/* The byte of the arena at which the spot of the group's page number `i` lies. From page to page it
   moves on by the same part: so those of pages which use the same sets, each as many pages from the
   next, lie as evenly as all do. */
static size_t spot(const struct fm_group *group, size_t i)
{
    const size_t positions = (group->page - group->span) / group->unit + 1;
    const double at = PART * (double)i + (double)(group->seed % 1024) / 1024;
    const size_t position = (size_t)((at - floor(at)) * (double)positions);
    return (group->first + i) * group->page + position * group->unit;
}

static bool add_words(struct fm_string *string, const struct fm_group *group, const size_t *offsets,
                      size_t count, bool sweeps, struct fm_error *err)
{
    uint32_t *pages = malloc(group->count * sizeof *pages);
    if (!pages)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: no memory for it", string->label);
    const bool good = fm_string_add_order(string, group->count * count, err);
    struct fm_rng rng;
    for (size_t i = 0; i < group->count; i++)
        pages[i] = (uint32_t)i;
    fm_rng_seed(&rng, group->seed);
    fm_rng_shuffle(&rng, pages, group->count);
    for (size_t i = 0; good && i < group->count; i++)
        for (size_t j = 0; j < count; j++)
            string->orders[string->order_count - 1]
                .word[sweeps ? j * group->count + i : i * count + j] =
                (uint32_t)((spot(group, pages[i]) + offsets[j]) / FM_WORD);
    free(pages);
    return good;
}

bool fm_string_add_visits(struct fm_string *string, const struct fm_group *group,
                          const size_t *offsets, size_t count, struct fm_error *err)
{
    return add_words(string, group, offsets, count, false, err);
}

bool fm_string_add_sweeps(struct fm_string *string, const struct fm_group *group,
                          const size_t *offsets, size_t count, struct fm_error *err)
{
    return add_words(string, group, offsets, count, true, err);
}

bool fm_string_add_spots(struct fm_string *string, const struct fm_group *group, size_t offset,
                         struct fm_error *err)
{
    return fm_string_add_visits(string, group, &offset, 1, err);
}

bool fm_string_add_range(struct fm_string *string, const struct fm_range *range, size_t first,
                         size_t count, struct fm_error *err)
{
    if (!fm_string_add_order(string, count, err))
        return false;
    uint32_t *word = string->orders[string->order_count - 1].word;
    struct fm_rng rng;
    for (size_t i = 0; i < count; i++)
        word[i] = (uint32_t)((range->from + (first + i) % range->lines * range->unit) / FM_WORD);
    fm_rng_seed(&rng, first);
    fm_rng_shuffle(&rng, word, count);
    return true;
}

bool fm_string_add_blocks(struct fm_string *string, const struct fm_blocks *blocks,
                          struct fm_error *err)
{
    const size_t count = blocks->count * blocks->lines;
    if (!fm_string_add_order(string, count, err))
        return false;
    uint32_t *word = string->orders[string->order_count - 1].word;
    struct fm_rng rng;
    for (size_t i = 0; i < count; i++)
        word[i] = (uint32_t)((blocks->number[i / blocks->lines] * blocks->bytes +
                              i % blocks->lines * blocks->unit) /
                             FM_WORD);
    fm_rng_seed(&rng, count);
    fm_rng_shuffle(&rng, word, count);
    return true;
}

bool fm_string_add_runs(struct fm_string *string, const struct fm_runs *runs, enum fm_run_part part,
                        struct fm_error *err)
{
    const struct fm_range *range = &runs->range;
    const size_t count = range->lines / runs->apart, words = range->unit / FM_WORD;
    const size_t each[] = {[FM_RUN_WORDS] = runs->run * words,
                           [FM_RUN_BEFORE] = (runs->run - 1) * words,
                           [FM_RUN_LINES] = runs->run,
                           [FM_RUN_ENDS] = 1};
    if (!fm_string_add_order(string, count * each[part], err))
        return false;
    uint32_t *word = string->orders[string->order_count - 1].word;
    for (size_t i = 0; i < count * each[part]; i++) {
        size_t within = i % each[part]; /* words from the run's beginning */
        if (part == FM_RUN_LINES)
            within *= words;
        else if (part == FM_RUN_ENDS)
            within = (runs->run - 1) * words;
        word[i] = (uint32_t)(range->from / FM_WORD + i / each[part] * runs->apart * words + within);
    }
    return true;
}
