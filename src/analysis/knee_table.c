#include "analysis/knee_table.h"

#include <math.h>
#include <stdlib.h>

/* The sorts that are told apart; between them knees hardly differ. The first few are tried alone
   while places are still rough. */
static const struct {
    enum fm_knee_shape shape;
    unsigned ways;
} sorts[] = {
    {FM_KNEE_LINES, 2},
    {FM_KNEE_LINES, 4},
    {FM_KNEE_LINES, 8},
    {FM_KNEE_LINES, 16},
    {FM_KNEE_CONTIGUOUS, 8},
    {FM_KNEE_LINES, 1},
    {FM_KNEE_LINES, 3},
    {FM_KNEE_LINES, 5},
    {FM_KNEE_LINES, 6},
    {FM_KNEE_LINES, 10},
    {FM_KNEE_LINES, 12},
    {FM_KNEE_LINES, 20},
    {FM_KNEE_LINES, 24},
    {FM_KNEE_LINES, 32},
    {FM_KNEE_PAGES, 2},
    {FM_KNEE_PAGES, 3},
    {FM_KNEE_PAGES, 4},
    {FM_KNEE_PAGES, 5},
    {FM_KNEE_PAGES, 6},
    {FM_KNEE_PAGES, 8},
    {FM_KNEE_PAGES, 10},
    {FM_KNEE_PAGES, 12},
    {FM_KNEE_PAGES, 16},
    {FM_KNEE_PAGES, 20},
    {FM_KNEE_PAGES, 24},
    {FM_KNEE_PAGES, 32},
    {FM_KNEE_RANDOM, 2},
    {FM_KNEE_RANDOM, 4},
    {FM_KNEE_RANDOM, 8},
    {FM_KNEE_RANDOM, 12},
    {FM_KNEE_RANDOM, 16},
    {FM_KNEE_RANDOM, 24},
    {FM_KNEE_CONTIGUOUS, 1},
    {FM_KNEE_CONTIGUOUS, 2},
    {FM_KNEE_CONTIGUOUS, 4},
    {FM_KNEE_CONTIGUOUS, 16},
    {FM_KNEE_CONTIGUOUS, 32},
    {FM_KNEE_CONTIGUOUS_RANDOM, 2},
    {FM_KNEE_CONTIGUOUS_RANDOM, 4},
    {FM_KNEE_CONTIGUOUS_RANDOM, 8},
    {FM_KNEE_CONTIGUOUS_RANDOM, 16},
};
#define SORTS (sizeof sorts / sizeof sorts[0])
#define ROUGH 5
/* One that is neither very sharp nor very soft. */
#define MIDDLE 2

/* Numbers of colours that are told apart; with more of them, pages are as good as lines. */
static const double colours_told[] = {2, 3, 4, 6, 8, 12, 16, 24, 40};
#define COLOURS (sizeof colours_told / sizeof colours_told[0])

/* Miss ratio over the logarithm of the load. */
#define ENTRIES   128
#define LOAD_FROM (-4.0)
#define LOAD_TO   2.0

struct fm_knee_table {
    double page;
    double rows[SORTS][COLOURS][ENTRIES]; /* the first alone where colours make no difference */
};

size_t fm_knee_sorts(void)
{
    return SORTS;
}

size_t fm_knee_middle_sort(void)
{
    return MIDDLE;
}

size_t fm_knee_rough_sorts(void)
{
    return ROUGH;
}

static size_t colour_index(const struct fm_knee_table *table, size_t sort, double capacity)
{
    if (sorts[sort].shape != FM_KNEE_PAGES)
        return 0;
    const double colours = capacity / sorts[sort].ways / table->page;
    size_t i = 0;
    while (i + 1 < COLOURS && colours * colours > colours_told[i] * colours_told[i + 1])
        i++;
    return i;
}

struct fm_knee fm_knee_of_sort(const struct fm_knee_table *table, size_t sort, double capacity)
{
    return (struct fm_knee){.capacity = capacity,
                            .ways = sorts[sort].ways,
                            .shape = sorts[sort].shape,
                            .colours = colours_told[colour_index(table, sort, capacity)]};
}

static void fill_row(struct fm_knee_table *table, size_t sort, size_t colours)
{
    const struct fm_knee knee = {1, sorts[sort].ways, sorts[sort].shape, colours_told[colours]};
    for (size_t i = 0; i < ENTRIES; i++) {
        const double load = exp(LOAD_FROM + (LOAD_TO - LOAD_FROM) * (double)i / (ENTRIES - 1));
        table->rows[sort][colours][i] = fm_knee_misses(&knee, load);
    }
}

struct fm_knee_table *fm_knee_table_new(double page)
{
    struct fm_knee_table *table = malloc(sizeof *table);
    if (!table)
        return NULL;
    table->page = page;
    for (size_t sort = 0; sort < SORTS; sort++)
        for (size_t i = 0; i < (sorts[sort].shape == FM_KNEE_PAGES ? COLOURS : 1); i++)
            fill_row(table, sort, i);
    return table;
}

void fm_knee_table_free(struct fm_knee_table *table)
{
    free(table);
}

static double look_up(const double row[ENTRIES], double load_log)
{
    const double at = (load_log - LOAD_FROM) * ((ENTRIES - 1) / (LOAD_TO - LOAD_FROM));
    if (at <= 0)
        return row[0];
    if (at >= ENTRIES - 1)
        return 1;
    const size_t i = (size_t)at;
    return row[i] + (at - (double)i) * (row[i + 1] - row[i]);
}

void fm_knee_table_misses(const struct fm_knee_table *table, size_t sort, double capacity,
                          const double *log_bytes, const double *comes, size_t n, double *misses)
{
    const double *row = table->rows[sort][colour_index(table, sort, capacity)];
    const double log_capacity = log(capacity);
    for (size_t i = 0; i < n; i++) {
        const double part = comes ? comes[i] : 1, load = log_bytes[i] - log_capacity;
        /* What comes in full, or not at all, is most of it, and needs no logarithm. */
        if (part >= 1)
            misses[i] = look_up(row, load);
        else
            misses[i] = part > 0 ? part * look_up(row, load + log(part)) : 0;
    }
}
