#include "machine/native/multisize.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "core/smallfile.h"
#include "core/units.h"

#define SWITCHES "/sys/kernel/mm/transparent_hugepage"

/* The choice in brackets lets who asks have them. */
static bool lets_have(const char *choices)
{
    return strstr(choices, "[always]") || strstr(choices, "[madvise]");
}

bool fm_multisize_offered(size_t page_size)
{
    char choices[64];
    if (!fm_read_smallf(choices, sizeof choices, SWITCHES "/hugepages-%zukB/enabled",
                        page_size / 1024))
        return false;
    return lets_have(choices) ||
           (strstr(choices, "[inherit]") &&
            fm_read_small(SWITCHES "/enabled", choices, sizeof choices) && lets_have(choices));
}

/* How many pages of a size the kernel has given so far, and had to refuse; all programs' together.
 */
struct given {
    uint64_t pages, refused;
};

static bool ask(size_t page_size, struct given *given)
{
    char pages[32], refused[32];
    return fm_read_smallf(pages, sizeof pages, SWITCHES "/hugepages-%zukB/stats/anon_fault_alloc",
                          page_size / 1024) &&
           fm_read_smallf(refused, sizeof refused,
                          SWITCHES "/hugepages-%zukB/stats/anon_fault_fallback",
                          page_size / 1024) &&
           fm_parse_count(pages, &given->pages) && fm_parse_count(refused, &given->refused);
}

bool fm_multisize_populate(char *base, size_t bytes, size_t page_size)
{
    struct given before, after;
    if (!ask(page_size, &before) || madvise(base, bytes, MADV_NOHUGEPAGE) != 0)
        return false;
    /* The kernel takes the largest size that fits between what is populated and where huge pages
       end to be allowed. Allowed one page at a time, no larger one fits. */
    for (size_t at = 0; at < bytes; at += page_size) {
        if (madvise(base + at, page_size, MADV_HUGEPAGE) != 0)
            return false;
        *(volatile char *)(base + at) = 0;
    }
    return ask(page_size, &after) && after.pages - before.pages >= bytes / page_size &&
           after.refused == before.refused;
}
