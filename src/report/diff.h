/* What differs between results beyond their intervals, and whose value is the odd one out. */
#ifndef FM_REPORT_DIFF_H
#define FM_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/result.h"
#include "report/report.h"

/* What one result says of a property. */
struct fm_side {
    const struct fm_finding *finding; /* NULL: it says nothing */
    bool absent;                      /* the structure is not there: that is an answer too */
    bool odd;                         /* most of the others agree, and not with this one */
};

struct fm_difference {
    const char *property, *unit;
    struct fm_side *sides; /* one a result */
    size_t place;          /* of its structure among the others */
};

struct fm_diff {
    const struct fm_result *const *results;
    const char *const *names; /* of the files */
    size_t result_count;
    struct fm_difference *items; /* in groups: properties of one structure stand together */
    size_t count;
    size_t compared; /* properties that at least two results answer */
    size_t missing;  /* properties that one alone, or none, answers */
};

/* Compares two or more results, which must outlive the diff; false when memory is out. */
bool fm_diff_make(struct fm_diff *diff, const struct fm_result *const *results,
                  const char *const *names, size_t count);
void fm_diff_free(struct fm_diff *diff);

/* Whether a result answers at all, and whether two answers can both be true. */
bool fm_side_answers(const struct fm_side *side);
bool fm_sides_agree(const struct fm_side *a, const struct fm_side *b);

/* How often each result is the odd one out. */
size_t fm_diff_odd_count(const struct fm_diff *diff, size_t result);

/* The differences as a table, with a legend above it and a count below. */
bool fm_diff_table(FILE *out, const struct fm_diff *diff, const struct fm_look *look,
                   struct fm_error *err);

/* As JSON, schema fathom-diff/1; the caller frees it. NULL when memory is out. */
char *fm_diff_json(const struct fm_diff *diff, const char *version);

#endif
