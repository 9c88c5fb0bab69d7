/* The page of the HTML report, as web/ was bundled into it: an HTML file up to where the results
   go, and what follows them. */
#ifndef FM_REPORT_TEMPLATE_H
#define FM_REPORT_TEMPLATE_H

#include <stddef.h>

struct fm_template {
    const unsigned char *before, *after; /* NULL: built without it */
    size_t before_length, after_length;
};

extern const struct fm_template fm_template;

#endif
