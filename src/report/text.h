/* Text that is safe to show and fits its columns. */
#ifndef FM_REPORT_TEXT_H
#define FM_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copies text from outside so that it cannot steer a terminal: control characters, marks that
   turn the writing direction and what is not UTF-8 become \xNN, as does everything but ASCII
   where `unicode` is false. Cut at a whole character when space runs out. Returns out. */
char *fm_show(const char *text, bool unicode, char *out, size_t space);

/* Prints text filled to `width` columns: it begins at column `at`, later lines at `indent`; ends
   the line. The text is taken as safe. */
void fm_fill(FILE *out, const char *text, unsigned width, unsigned at, unsigned indent);

/* How many columns text takes, a character each. */
size_t fm_columns(const char *text);
size_t fm_columns_of(const char *text, size_t length);

#endif
