/* Sizes and counts as people write them: strict in, readable out. */
#ifndef FM_CORE_UNITS_H
#define FM_CORE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "64", "64K", "64KiB", "1.25MiB", "2GiB": bytes. False for anything else (signs, blanks,
   leading zeros, fractions of a byte, overflow); *bytes is then untouched. */
bool fm_parse_size(const char *text, uint64_t *bytes);

/* A plain decimal count: "8"; false for "08", "8x", "1.5", "-1", "". */
bool fm_parse_count(const char *text, uint64_t *count);

/* A finite decimal number such as "2.5" or "1e-3"; no hexadecimal, no inf, no nan. */
bool fm_parse_number(const char *text, double *number);

/* "64 KiB", "1.25 MiB", "48 B": exact where a short decimal is exact, otherwise three significant
   digits. Returns buffer. */
#define FM_SIZE_TEXT 24
char *fm_format_size(uint64_t bytes, char buffer[FM_SIZE_TEXT]);

/* The unit of a property by its name ("B" of "l1d.capacity"); "" where it has none. */
const char *fm_unit_of(const char *property);

#endif
