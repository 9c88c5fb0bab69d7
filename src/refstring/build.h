/* Shared by the builders. */
#ifndef FM_REFSTRING_BUILD_H
#define FM_REFSTRING_BUILD_H

#include "core/error.h"
#include "core/refstring.h"

/* An empty string with one order of `count` words to fill. */
bool fm_string_begin(struct fm_string *string, size_t bytes, size_t count, struct fm_error *err);

/* One order more, of `count` words to fill; the string must be freed also after a failure. */
bool fm_string_add_order(struct fm_string *string, size_t count, struct fm_error *err);
/* Leaves out what the first slot of an order of code, which counts the laps, reaches into. */
void fm_order_clear_first(struct fm_order *order);

/* A fraction in [0, 1) for each index: multiples of the golden ratio fall evenly into any number
   of classes, also along any stride of indices. So a choice made by it loads all cache sets alike
   without knowing how many there are. */
double fm_golden(uint64_t index);

/* The same in several variants. Golden multiples are even over most numbers of sets, but not over
   those they nearly divide; a random choice is fair, if never quite even, over all. Even variants
   are golden, odd ones random. */
double fm_spread(uint64_t index, unsigned variant);

/* The least odd number from a golden part of the count on that shares no divisor with it: steps of
   it visit all, far from the one before, in an order that no prefetcher follows. */
size_t fm_golden_step(size_t count);

#endif
