/* Memory to measure on: fresh pages of a page size that was asked for and checked. */
#ifndef FM_MACHINE_NATIVE_ARENA_H
#define FM_MACHINE_NATIVE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct fm_arena {
    char *base; /* NULL: no arena */
    size_t bytes;
    size_t page_size;
    size_t executable; /* bytes from the base on that are, and are not writable */
    void *reserved;    /* the address range it was cut from, with a guard on both sides */
    size_t reserved_bytes;
};

/* Maps at least `bytes` on pages of `page_size` bytes (0: the base page), every page touched once
   in order. The base is aligned to 2 MiB or more, so that each arena has the same virtual index
   bits. UNSUPPORTED with what was seen when the pages are not of that size. */
bool fm_arena_map(struct fm_arena *arena, size_t bytes, size_t page_size, struct fm_error *err);

/* Bytes of it whose pages have another size by now than was asked for. */
size_t fm_arena_resized(const struct fm_arena *arena);

/* Gives the memory back; nothing happens when there is none. */
void fm_arena_unmap(struct fm_arena *arena);

#endif
