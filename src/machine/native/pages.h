/* Which pages the kernel has, and which it really used. */
#ifndef FM_MACHINE_NATIVE_PAGES_H
#define FM_MACHINE_NATIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

size_t fm_base_page(void);

/* The size of a transparent huge page; 0 where the kernel has none. */
size_t fm_transparent_page(void);

/* Sizes other than the base page's that the kernel knows, ascending; returns how many there are.
   Whether it gives them is another matter. */
size_t fm_other_pages(size_t *sizes, size_t most);

struct fm_pages_seen {
    size_t page_size;  /* of the mapping, transparent huge pages apart */
    size_t huge_bytes; /* how much of it lies on transparent huge pages */
};

/* Asks the kernel about the mapping of exactly these bytes. False when it does not tell. */
bool fm_pages_see(const void *base, size_t bytes, struct fm_pages_seen *seen);

#endif
