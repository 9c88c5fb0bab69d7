/* Text from outside, made fit to stand in a one-line message. */
#ifndef FM_FORMAT_TEXT_H
#define FM_FORMAT_TEXT_H

#include <stddef.h>

/* Copies text with everything but printable ASCII written as \xNN, cut with "..." where the
   buffer ends. Returns buffer; space must be at least 8. */
char *fm_escape(const char *text, size_t length, char *buffer, size_t space);

/* The end of a path when it is too long to leave room for the rest of a message. */
const char *fm_short_path(const char *path);

/* The 1-based line in which the byte at offset stands. */
size_t fm_line_of(const char *text, size_t offset);

#endif
