/* The HTML report: one file that needs no other and no network. */
#ifndef FM_REPORT_HTML_H
#define FM_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/error.h"
#include "core/result.h"

/* What a page shows: results one after the other, or held against each other. */
struct fm_html {
    const struct fm_result *const *results;
    size_t count;
    const char *version;        /* of fathom */
    bool compared;              /* curves of the same name overlaid, values side by side */
    const char *const *labels;  /* what the results are called, such as their files; NULL: as their
                                   machines */
    const char *const *differs; /* the properties that differ beyond their intervals, compared
                                   pages begin with them; ends with NULL. NULL: none */
};

/* UNSUPPORTED, with the remedy, in a build without the page. */
bool fm_html_available(struct fm_error *err);

bool fm_report_html(FILE *out, const struct fm_html *page, struct fm_error *err);

#endif
