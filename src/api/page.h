/* Text being gathered for a caller. The numbers in it have a decimal point whatever the caller's
 * locale. */
#ifndef FM_API_PAGE_H
#define FM_API_PAGE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/error.h"
#include "fathom.h"
#include "report/report.h"

struct fm_page {
    FILE *out;
    char *text;
    size_t length;
    locale_t plain, before;
};

/* False when memory is out; nothing is then to be closed. */
bool fm_page_open(struct fm_page *page);

/* The text, or NULL with err filled when drawing it failed or memory ran out. */
char *fm_page_close(struct fm_page *page, bool drawn, const struct fm_error *inner,
                    struct fathom_error *err);

/* A look as the rooms inside know it; NULL is plain. */
struct fm_look fm_api_look(const struct fathom_look *look);

#endif
