/* What properties mean, in words. */
#ifndef FM_REPORT_MEANINGS_H
#define FM_REPORT_MEANINGS_H

#include <stddef.h>

/* A clause that says what the property is with this value: "a load that L2 serves takes 5.5 ns".
   Properties it does not know are named: "colour of L2 is blue". Returns text. */
char *fm_meaning(const char *property, const char *value, char *text, size_t space);

#endif
