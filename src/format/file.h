/* Whole files in and out: bounded when read, never half-written. */
#ifndef FM_FORMAT_FILE_H
#define FM_FORMAT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

/* Reads the file into *text, which the caller frees; a NUL is added after the last byte. A file
   of more than `limit` bytes is refused before the rest of it is read. */
bool fm_file_read(const char *path, size_t limit, char **text, size_t *length,
                  struct fm_error *err);

/* Replaces the file at once: another is written in its folder, which takes its name when it is
   whole, and of which nothing is left when something fails. What is no ordinary file (a pipe,
   /dev/null) is written to as it is. */
bool fm_file_write(const char *path, const char *text, size_t length, struct fm_error *err);

/* Whether fm_file_write could begin, to be asked before a long measurement; USAGE if not. */
bool fm_file_check_writable(const char *path, struct fm_error *err);

#endif
