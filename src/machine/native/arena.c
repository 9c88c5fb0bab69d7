#include "machine/native/arena.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "core/units.h"
#include "machine/native/multisize.h"
#include "machine/native/pages.h"

/* Newer kernels know these; older headers do not name them, older kernels refuse them. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

#define LEAST_ALIGNMENT ((size_t)2 << 20)

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static bool no_memory(struct fm_error *err, size_t bytes)
{
    char size[FM_SIZE_TEXT];
    return fm_fail(err, FM_ERR_NO_MEMORY,
                   "the system refuses %s of memory: %s; allow it more (ulimit -v)",
                   fm_format_size(bytes, size), strerror(errno));
}

/* The guards keep the kernel from merging the arena with a neighbour: what /proc says of it would
   then be said of both. */
static bool reserve(struct fm_arena *arena, struct fm_error *err)
{
    const size_t guard = fm_base_page();
    const size_t alignment =
        arena->page_size > LEAST_ALIGNMENT ? arena->page_size : LEAST_ALIGNMENT;
    const size_t around = alignment + 2 * guard;
    if (arena->bytes > SIZE_MAX - around)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no address space is that large");
    arena->reserved_bytes = arena->bytes + around;
    arena->reserved = mmap(NULL, arena->reserved_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena->reserved == MAP_FAILED)
        return no_memory(err, arena->bytes);
    const uintptr_t start = (uintptr_t)arena->reserved;
    arena->base = (char *)arena->reserved + (round_up(start + guard, alignment) - start);
    return true;
}

static bool fill(const struct fm_arena *arena, int flags)
{
    return mmap(arena->base, arena->bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0) == arena->base;
}

/* One page after the other, as a program that fills its memory gets them; a single call saves most
   of the cost of a fault where the kernel has it. */
static bool populate(const struct fm_arena *arena)
{
    if (madvise(arena->base, arena->bytes, MADV_POPULATE_WRITE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    const size_t step = fm_base_page();
    for (size_t at = 0; at < arena->bytes; at += step)
        *(volatile char *)(arena->base + at) = 0;
    return true;
}

/* Pages of the base size: without this a kernel that is set to use huge pages, or several base
   pages as one, would do so. An old kernel that has neither refuses, which is as good. */
static bool base_pages(const struct fm_arena *arena, struct fm_error *err)
{
    if (!fill(arena, 0))
        return no_memory(err, arena->bytes);
    madvise(arena->base, arena->bytes, MADV_NOHUGEPAGE);
    return populate(arena) || no_memory(err, arena->bytes);
}

/* So little of base pages makes no huge one, and the kernel need not be asked. */
static bool is_too_small(const struct fm_arena *arena)
{
    return arena->page_size == fm_base_page() && arena->bytes < LEAST_ALIGNMENT;
}

static bool is_so(const struct fm_arena *arena, struct fm_pages_seen *seen)
{
    if (!fm_pages_see(arena->base, arena->bytes, seen))
        return arena->page_size == fm_base_page();
    if (arena->page_size == fm_base_page())
        return seen->page_size == fm_base_page() && seen->huge_bytes == 0;
    return seen->page_size == arena->page_size || seen->huge_bytes >= arena->bytes;
}

static bool transparent_pages(const struct fm_arena *arena, struct fm_pages_seen *seen)
{
    if (arena->page_size != fm_transparent_page() || !fill(arena, 0) ||
        madvise(arena->base, arena->bytes, MADV_HUGEPAGE) != 0 || !populate(arena))
        return false;
    if (is_so(arena, seen))
        return true;
    return madvise(arena->base, arena->bytes, MADV_COLLAPSE) == 0 && is_so(arena, seen);
}

static bool multisize_pages(const struct fm_arena *arena)
{
    return arena->page_size < fm_transparent_page() && fm_multisize_offered(arena->page_size) &&
           fill(arena, 0) && fm_multisize_populate(arena->base, arena->bytes, arena->page_size);
}

/* Pages that the administrator has set aside. They are reserved by the mapping, so that touching
   them cannot fail. */
static bool reserved_pages(const struct fm_arena *arena, struct fm_pages_seen *seen)
{
    const int size_flag = __builtin_ctzll(arena->page_size) << MAP_HUGE_SHIFT;
    return fill(arena, MAP_HUGETLB | size_flag) && populate(arena) && is_so(arena, seen);
}

static bool large_pages(const struct fm_arena *arena, struct fm_error *err)
{
    struct fm_pages_seen seen = {0, 0};
    if (multisize_pages(arena) || transparent_pages(arena, &seen) || reserved_pages(arena, &seen))
        return true;
    char wanted[FM_SIZE_TEXT], huge[FM_SIZE_TEXT], all[FM_SIZE_TEXT];
    return fm_fail(err, FM_ERR_UNSUPPORTED,
                   "pages of %s cannot be had: %s of %s came on huge pages; set "
                   "transparent_hugepage%s to madvise or reserve pages in vm.nr_hugepages",
                   fm_format_size(arena->page_size, wanted), fm_format_size(seen.huge_bytes, huge),
                   fm_format_size(arena->bytes, all),
                   arena->page_size < fm_transparent_page() ? "/hugepages-*/enabled" : "");
}

static bool provide(struct fm_arena *arena, struct fm_error *err)
{
    if (arena->page_size != fm_base_page())
        return large_pages(arena, err);
    if (!base_pages(arena, err))
        return false;
    struct fm_pages_seen seen = {0, 0};
    if (is_too_small(arena) || is_so(arena, &seen))
        return true;
    char size[FM_SIZE_TEXT], huge[FM_SIZE_TEXT];
    return fm_fail(err, FM_ERR_UNSUPPORTED,
                   "the kernel used pages of %s and %s of huge pages against the request",
                   fm_format_size(seen.page_size, size), fm_format_size(seen.huge_bytes, huge));
}

bool fm_arena_map(struct fm_arena *arena, size_t bytes, size_t page_size, struct fm_error *err)
{
    *arena = (struct fm_arena){.page_size = page_size ? page_size : fm_base_page()};
    if (arena->page_size < fm_base_page() || (arena->page_size & (arena->page_size - 1))) {
        char size[FM_SIZE_TEXT];
        return fm_fail(err, FM_ERR_UNSUPPORTED, "there are no pages of %s",
                       fm_format_size(page_size, size));
    }
    if (bytes > SIZE_MAX - arena->page_size)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no address space is that large");
    arena->bytes = round_up(bytes ? bytes : 1, arena->page_size);
    if (reserve(arena, err) && provide(arena, err))
        return true;
    fm_arena_unmap(arena);
    return false;
}

size_t fm_arena_resized(const struct fm_arena *arena)
{
    struct fm_pages_seen seen;
    if (!arena->base || is_too_small(arena) || !fm_pages_see(arena->base, arena->bytes, &seen))
        return 0;
    if (arena->page_size == fm_base_page())
        return seen.huge_bytes;
    const bool transparent =
        arena->page_size == fm_transparent_page() && seen.page_size != arena->page_size;
    return transparent && seen.huge_bytes < arena->bytes ? arena->bytes - seen.huge_bytes : 0;
}

void fm_arena_unmap(struct fm_arena *arena)
{
    if (arena->base)
        munmap(arena->reserved, arena->reserved_bytes);
    *arena = (struct fm_arena){0};
}
