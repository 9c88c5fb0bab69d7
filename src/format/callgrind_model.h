/* Callgrind's cache model as people write it: "I1=32768,4,64 D1=32768,8,64 LL=256KiB,16,64", each
 * size, ways and line. */
#ifndef FM_FORMAT_CALLGRIND_MODEL_H
#define FM_FORMAT_CALLGRIND_MODEL_H

#include <stdbool.h>

#include "core/description.h"
#include "core/error.h"

/* A machine of these caches: l1i, l1d, l2. D1 and LL must be there; I1 is 32 KiB of eight ways
   where it is left out. Errors (USAGE) name the cache and what callgrind would take. */
bool fm_callgrind_model(const char *text, struct fm_description *out, struct fm_error *err);

/* The option of valgrind for one of them: "--D1=32768,8,64". Returns text. */
#define FM_CALLGRIND_OPTION 64
char *fm_callgrind_option(const struct fm_cache_description *cache, char text[FM_CALLGRIND_OPTION]);

#endif
