#include "analysis/knee_table.h"

#include <math.h>
#include <stdlib.h>

/* The sorts that are told apart; between them knees hardly differ. The first few are tried alone
   while places are still rough. */
static const struct {
    enum fm_knee_shape shape;
    unsigned ways;
} all_sorts[] = {
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
#define SORTS (sizeof all_sorts / sizeof all_sorts[0])
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

/* Sorts that may be added to those of any table. */
#define ADDED (FM_KNEE_CHOICES * FM_KNEES)

struct fm_knee_table {
    double page;
    struct fm_knee sorts[SORTS + ADDED]; /* of no colours: as many as the capacity makes */
    size_t count;
    /* The first alone where colours make no difference. */
    double rows[SORTS + ADDED][COLOURS][ENTRIES];
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
    const struct fm_knee *is = &table->sorts[sort];
    if (is->shape != FM_KNEE_PAGES || is->colours > 0)
        return 0;
    const double colours = capacity / is->ways / table->page;
    size_t i = 0;
    while (i + 1 < COLOURS && colours * colours > colours_told[i] * colours_told[i + 1])
        i++;
    return i;
}

struct fm_knee fm_knee_of_sort(const struct fm_knee_table *table, size_t sort, double capacity)
{
    struct fm_knee knee = table->sorts[sort];
    knee.capacity = capacity;
    if (!(knee.colours > 0))
        knee.colours = colours_told[colour_index(table, sort, capacity)];
    return knee;
}

static void fill_row(double row[ENTRIES], struct fm_knee knee, double colours)
{
    knee.capacity = 1;
    knee.colours = colours;
    for (size_t i = 0; i < ENTRIES; i++) {
        const double load = exp(LOAD_FROM + (LOAD_TO - LOAD_FROM) * (double)i / (ENTRIES - 1));
        row[i] = fm_knee_misses(&knee, load);
    }
}

static void add_sort(struct fm_knee_table *table, const struct fm_knee *sort)
{
    const size_t at = table->count++;
    const bool given = sort->colours > 0;
    const size_t rows = sort->shape == FM_KNEE_PAGES && !given ? COLOURS : 1;
    table->sorts[at] = *sort;
    for (size_t i = 0; i < rows; i++)
        fill_row(table->rows[at][i], *sort, given ? sort->colours : colours_told[i]);
}

struct fm_knee_table *fm_knee_table_new(double page)
{
    struct fm_knee_table *table = malloc(sizeof *table);
    if (!table)
        return NULL;
    table->page = page;
    table->count = 0;
    for (size_t i = 0; i < SORTS; i++)
        add_sort(table, &(struct fm_knee){.ways = all_sorts[i].ways, .shape = all_sorts[i].shape});
    return table;
}

size_t fm_knee_table_add(struct fm_knee_table *table, const struct fm_known_knee *known)
{
    const size_t first = table->count;
    for (size_t i = 0; i < known->count; i++)
        add_sort(table, &known->choices[i]);
    return first;
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
