/* The papers' tables: what is documented of a machine, and what the paper found. */
#ifndef FM_TESTS_PUBLISHED_H
#define FM_TESTS_PUBLISHED_H

#include <stddef.h>

#include "core/error.h"

/* How a paper counts time: latencies in dependent integer adds, or what a miss adds in cycles. */
enum latency_unit { LATENCY_NONE, LATENCY_ADDS, LATENCY_MISS_CYCLES };

/* 0 where the table is silent. */
struct published_figure {
    double documented, paper;
};

struct published_level {
    char name[8];
    struct published_figure line, ways, capacity;
    double latency;
    enum latency_unit unit;
};

#define PUBLISHED_LEVELS   6
#define PUBLISHED_MACHINES 64

struct published_machine {
    char file[64];
    struct published_level levels[PUBLISHED_LEVELS];
    size_t count;
};

struct published {
    struct published_machine machines[PUBLISHED_MACHINES];
    size_t count;
};

/* Reads the table; rows of one machine stand together, level 1 first. */
bool published_read(const char *path, struct published *table, struct fm_error *err);

#endif
