/* Reading the small text files by which a system describes itself. */
#ifndef FM_CORE_SMALLFILE_H
#define FM_CORE_SMALLFILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the file's text up to size - 1 bytes, ends it with NUL and drops blanks at its end. False
   when there is no such file or it is empty; buffer is then the empty string. */
bool fm_read_small(const char *path, char *buffer, size_t size);

/* The same, with the path put together as printf would. */
bool fm_read_smallf(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
