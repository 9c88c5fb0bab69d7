/* The HTML report: one file that needs no other and no network. */
#ifndef FM_REPORT_HTML_H
#define FM_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/error.h"
#include "core/result.h"
#include "report/diff.h"

/* What a page shows: results one after the other or, with a diff of them, held against each other:
   what differs first, curves of the same name overlaid. */
struct fm_html {
    const struct fm_result *const *results;
    size_t count;
    const struct fm_diff *diff; /* NULL: none */
    const char *version;        /* of fathom */
};

/* UNSUPPORTED, with the remedy, in a build without the page. */
bool fm_html_available(struct fm_error *err);

bool fm_report_html(FILE *out, const struct fm_html *page, struct fm_error *err);

#endif
