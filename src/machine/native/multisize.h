/* Pages of several base pages that the kernel gives transparently, in sizes below that of a huge
   page: each size has a switch of its own, and most systems leave all off. */
#ifndef FM_MACHINE_NATIVE_MULTISIZE_H
#define FM_MACHINE_NATIVE_MULTISIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the kernel gives pages of this size to who asks. */
bool fm_multisize_offered(size_t page_size);

/* Populates a mapping of whole such pages with them. False when the kernel does not say that it
   gave one each time; the mapping is then populated in part, or otherwise. */
bool fm_multisize_populate(char *base, size_t bytes, size_t page_size);

#endif
