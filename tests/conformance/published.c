#include "published.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    FILE_NAME,
    LEVEL,
    LINE,
    LINE_PAPER,
    WAYS,
    WAYS_PAPER,
    CAPACITY,
    CAPACITY_PAPER,
    LATENCY,
    UNIT,
    COLUMNS
};

static struct published_figure figure(char *cells[COLUMNS], enum column documented)
{
    return (struct published_figure){strtod(cells[documented], NULL),
                                     strtod(cells[documented + 1], NULL)};
}

static enum latency_unit unit_of(const char *name)
{
    if (strcmp(name, "adds") == 0)
        return LATENCY_ADDS;
    return strcmp(name, "miss_cycles") == 0 ? LATENCY_MISS_CYCLES : LATENCY_NONE;
}

static bool split(char *text, char *cells[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (!(cells[i] = strsep(&text, ",\n")))
            return false;
    return true;
}

static bool add_row(struct published *table, char *cells[COLUMNS])
{
    struct published_machine *last = table->count ? &table->machines[table->count - 1] : NULL;
    if (!last || strcmp(last->file, cells[FILE_NAME]) != 0) {
        if (table->count == PUBLISHED_MACHINES)
            return false;
        last = &table->machines[table->count++];
        snprintf(last->file, sizeof last->file, "%s", cells[FILE_NAME]);
    }
    if (last->count == PUBLISHED_LEVELS)
        return false;
    struct published_level *level = &last->levels[last->count++];
    *level = (struct published_level){
        .line = figure(cells, LINE),
        .ways = figure(cells, WAYS),
        .capacity = figure(cells, CAPACITY),
        .latency = strtod(cells[LATENCY], NULL),
        .unit = unit_of(cells[UNIT]),
    };
    snprintf(level->name, sizeof level->name, "%s", cells[LEVEL]);
    return true;
}

bool published_read(const char *path, struct published *table, struct fm_error *err)
{
    char text[256], *cells[COLUMNS];
    *table = (struct published){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return fm_fail(err, FM_ERR_IO, "%s: cannot be read", path);
    bool good = fgets(text, sizeof text, file);
    while (good && fgets(text, sizeof text, file))
        good = split(text, cells) && add_row(table, cells);
    fclose(file);
    return good ? true : fm_fail(err, FM_ERR_USAGE, "%s: not the table of the papers", path);
}
