/* The kernel's cache folders: /sys/devices/system/cpu/cpuN/cache/indexM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims/sources.h"
#include "core/smallfile.h"
#include "core/units.h"

/* Tables from firmware are sometimes wrong; nothing of this kind is larger. */
#define LARGEST ((uint64_t)1 << 40)

struct folder {
    char path[256];
};

static bool read_entry(const struct folder *folder, const char *file, char *text, size_t size)
{
    return fm_read_smallf(text, size, "%s/%s", folder->path, file);
}

/* 0 for what is missing or makes no sense. A capacity has a suffix, "1024K", other numbers none. */
static uint64_t read_number(const struct folder *folder, const char *file)
{
    char text[32];
    uint64_t number;
    if (!read_entry(folder, file, text, sizeof text) || !fm_parse_size(text, &number))
        return 0;
    return number <= LARGEST ? number : 0;
}

static char read_kind(const struct folder *folder)
{
    char text[32];
    if (!read_entry(folder, "type", text, sizeof text))
        return 0;
    if (strcmp(text, "Data") == 0)
        return 'd';
    if (strcmp(text, "Instruction") == 0)
        return 'i';
    return strcmp(text, "Unified") == 0 ? 'u' : 0;
}

/* How many CPUs a list such as "0-3,8" names; 0 when it is no such list. */
static uint64_t count_cpus(const char *text)
{
    uint64_t count = 0;
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9')
            return 0;
        const unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoul(end + 1, &end, 10);
        if (last < first || last > 1u << 20)
            return 0;
        count += last - first + 1;
        if (*end == '\0')
            return count;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
}

static bool read_folder(const struct folder *folder, struct fm_claimed_cache *cache)
{
    const uint64_t level = read_number(folder, "level");
    *cache = (struct fm_claimed_cache){
        .level = (unsigned)level,
        .kind = read_kind(folder),
        .capacity = read_number(folder, "size"),
        .line = read_number(folder, "coherency_line_size"),
        .ways = read_number(folder, "ways_of_associativity"),
        .sets = read_number(folder, "number_of_sets"),
    };
    char cpus[256];
    if (read_entry(folder, "shared_cpu_list", cpus, sizeof cpus))
        cache->shared_by = count_cpus(cpus);
    return level >= 1 && level <= FM_CACHE_LEVELS && cache->kind;
}

void fm_claims_add_sysfs(struct fm_claims *claims, const char *root, int cpu)
{
    for (int index = 0; index < 2 * FM_CACHE_LEVELS; index++) {
        struct folder folder;
        struct fm_claimed_cache cache;
        snprintf(folder.path, sizeof folder.path, "%s/devices/system/cpu/cpu%d/cache/index%d", root,
                 cpu, index);
        if (read_folder(&folder, &cache))
            fm_claims_add_cache(claims, "sysfs", &cache);
    }
}
