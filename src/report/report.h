/* Results for people and spreadsheets. Nothing here analyses again: what the findings say is
 * shown. Writing to `out` may fail; the caller asks ferror. */
#ifndef FM_REPORT_REPORT_H
#define FM_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/description.h"
#include "core/error.h"
#include "core/result.h"

struct fm_look {
    unsigned width; /* columns */
    bool unicode;
    bool colour;
    bool verbose; /* a sentence for every finding */
    bool terse;   /* no notes and no warnings */
};

/* A line about the machine, a table of its caches and one of its TLBs, each where something is
   known of them, then notes and warnings. */
bool fm_report_table(FILE *out, const struct fm_result *result, const struct fm_look *look,
                     struct fm_error *err);

/* The line about the machine alone, or two where it is too long for one. */
void fm_report_heading(FILE *out, const struct fm_result *result, const struct fm_look *look);

/* The notes and warnings alone: why values are missing, and what can be done about it. A verbose
   look has the notes in its sentences, and here the warnings alone. */
void fm_report_notes(FILE *out, const struct fm_result *result, const struct fm_look *look);

/* What is not as it is claimed, with what may be behind it; then what could not be checked, and
   what is. Nothing where nobody claims anything. */
bool fm_report_ledger(FILE *out, const struct fm_result *result, const struct fm_look *look,
                      struct fm_error *err);

/* A sentence for every finding: what it means, how sure it is, by what method, and any note. */
void fm_report_sentences(FILE *out, const struct fm_result *result, const struct fm_look *look);

/* One line per finding, quoted as RFC 4180 has it; the heading first when asked for. */
void fm_report_csv(FILE *out, const struct fm_result *result, bool heading);

/* A curve drawn with logarithmic axes, its steps marked and labelled. */
bool fm_report_plot(FILE *out, const struct fm_curve *curve, const struct fm_look *look,
                    struct fm_error *err);

/* What is known of an application: its times, and a table with bars of where its references were
   served from. */
void fm_report_stat(FILE *out, const struct fm_result *result, const struct fm_look *look);

/* The points of a curve, one a line. */
void fm_report_points(FILE *out, const struct fm_curve *curve);

/* A table of texts, cells row by row; the column `wrapped` takes what width is left over. */
bool fm_report_list(FILE *out, const char *const *headings, size_t columns,
                    const char *const *cells, size_t rows, size_t wrapped,
                    const struct fm_look *look, struct fm_error *err);

/* The data side of a described machine in short, "L1d 32K, L2 256K". Returns text. */
char *fm_report_caches(const struct fm_description *description, char *text, size_t space);

#endif
