#include "machine/native/pages.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/smallfile.h"
#include "core/units.h"
#include "machine/native/multisize.h"

size_t fm_base_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t fm_transparent_page(void)
{
    char text[32];
    uint64_t bytes;
    if (!fm_read_small("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof text) ||
        !fm_parse_count(text, &bytes))
        return 0;
    return (size_t)bytes;
}

static int ascending(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void add_size(size_t *sizes, size_t *count, size_t most, size_t bytes)
{
    for (size_t i = 0; i < *count; i++)
        if (sizes[i] == bytes)
            return;
    if (bytes > fm_base_page() && *count < most)
        sizes[(*count)++] = bytes;
}

size_t fm_other_pages(size_t *sizes, size_t most)
{
    size_t count = 0;
    add_size(sizes, &count, most, fm_transparent_page());
    for (size_t bytes = 2 * fm_base_page(); bytes < fm_transparent_page(); bytes *= 2)
        if (fm_multisize_offered(bytes))
            add_size(sizes, &count, most, bytes);
    DIR *directory = opendir("/sys/kernel/mm/hugepages");
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        size_t kib;
        if (sscanf(entry->d_name, "hugepages-%zukB", &kib) == 1)
            add_size(sizes, &count, most, kib * 1024);
    }
    if (directory)
        closedir(directory);
    qsort(sizes, count, sizeof *sizes, ascending);
    return count;
}

static bool size_in_kb(const char *line, const char *key, size_t *bytes)
{
    const size_t length = strlen(key);
    size_t kib;
    if (strncmp(line, key, length) != 0 || sscanf(line + length, "%zu", &kib) != 1)
        return false;
    *bytes = kib * 1024;
    return true;
}

/* Reads the lines under a mapping's headline, up to its last. */
static bool read_mapping(FILE *file, struct fm_pages_seen *seen)
{
    char line[512];
    bool sized = false, counted = false;
    while (fgets(line, sizeof line, file) && strncmp(line, "VmFlags:", 8) != 0) {
        sized = size_in_kb(line, "KernelPageSize:", &seen->page_size) || sized;
        counted = size_in_kb(line, "AnonHugePages:", &seen->huge_bytes) || counted;
        if (sized && counted)
            return true;
    }
    return sized;
}

bool fm_pages_see(const void *base, size_t bytes, struct fm_pages_seen *seen)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file)
        return false;
    const uintptr_t start = (uintptr_t)base;
    *seen = (struct fm_pages_seen){0, 0};
    bool found = false;
    char line[512];
    while (!found && fgets(line, sizeof line, file)) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2 && from == start)
            found = to == start + bytes && read_mapping(file, seen);
    }
    fclose(file);
    return found;
}
