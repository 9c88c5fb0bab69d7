#include "machine/native/limits.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/smallfile.h"

#define PATH_TEXT 1024
#define FILE_TEXT 16384

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is left of a limit; nothing when it is passed already. */
static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* The number that follows `key` at the start of a line: "inactive_file 4096". */
static bool number_after(const char *text, const char *key, uint64_t *number)
{
    const size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == ':'))
            return sscanf(line + length + 1, "%" SCNu64, number) == 1;
    }
    return false;
}

/* The files of one generation of control groups. */
struct cgroup_files {
    const char *limit;
    const char *usage;
    const char *reclaimable; /* the key in memory.stat */
};

static const struct cgroup_files version1 = {
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
};

static const struct cgroup_files version2 = {
    "memory.max",
    "memory.current",
    "inactive_file",
};

/* Usage counts cached file pages too, which the kernel gives up before it kills anyone. */
static uint64_t group_free(const char *folder, const struct cgroup_files *files)
{
    char text[FILE_TEXT];
    uint64_t limit, used = 0, reclaimable = 0;
    if (!fm_read_smallf(text, sizeof text, "%s/%s", folder, files->limit) ||
        sscanf(text, "%" SCNu64, &limit) != 1) /* version 2 says "max" for none */
        return UINT64_MAX;
    if (limit >= UINT64_MAX / 4) /* version 1 says none by a huge number */
        return UINT64_MAX;
    if (fm_read_smallf(text, sizeof text, "%s/%s", folder, files->usage))
        sscanf(text, "%" SCNu64, &used);
    if (fm_read_smallf(text, sizeof text, "%s/memory.stat", folder))
        number_after(text, files->reclaimable, &reclaimable);
    return left_of(limit, left_of(used, reclaimable));
}

/* Any group above ours may be the one that limits; a group that is not visible from inside a
   container is passed over, and what the container sees as the root is read last. */
static uint64_t tree_free(const char *mount, const char *group, const struct cgroup_files *files)
{
    char folder[PATH_TEXT];
    const size_t top = strlen(mount);
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
        return UINT64_MAX;
    uint64_t free_bytes = UINT64_MAX;
    for (;;) {
        free_bytes = least(free_bytes, group_free(folder, files));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash || slash < folder + top)
            return free_bytes;
        *slash = '\0';
    }
}

static bool names_memory(const char *controllers)
{
    for (const char *at = controllers; (at = strstr(at, "memory")); at++) {
        const bool starts = at == controllers || at[-1] == ',';
        if (starts && (at[6] == ',' || at[6] == '\0'))
            return true;
    }
    return false;
}

static uint64_t line_free(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    controllers++;
    char mount[PATH_TEXT];
    if (names_memory(controllers)) {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
        return tree_free(mount, group, &version1);
    }
    if (*controllers)
        return UINT64_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
    const uint64_t pure = tree_free(mount, group, &version2);
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/unified", root);
    return least(pure, tree_free(mount, group, &version2));
}

uint64_t fm_limit_cgroup(const char *root)
{
    char text[FILE_TEXT];
    if (!fm_read_smallf(text, sizeof text, "%s/proc/self/cgroup", root))
        return UINT64_MAX;
    uint64_t free_bytes = UINT64_MAX;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        free_bytes = least(free_bytes, line_free(root, line));
    return free_bytes;
}

uint64_t fm_limit_available(const char *root)
{
    char text[FILE_TEXT];
    uint64_t kib;
    if (!fm_read_smallf(text, sizeof text, "%s/proc/meminfo", root))
        return UINT64_MAX;
    if (!number_after(text, "MemAvailable", &kib) && !number_after(text, "MemFree", &kib))
        return UINT64_MAX;
    return kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
}

static uint64_t under_rlimit(int resource, uint64_t used)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return left_of(limit.rlim_cur, used);
}

uint64_t fm_limit_process(const char *root)
{
    char text[256];
    uint64_t pages = 0, data_pages = 0;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (fm_read_smallf(text, sizeof text, "%s/proc/self/statm", root))
        sscanf(text, "%" SCNu64 " %*u %*u %*u %*u %" SCNu64, &pages, &data_pages);
    return least(under_rlimit(RLIMIT_AS, pages * page),
                 under_rlimit(RLIMIT_DATA, data_pages * page));
}

uint64_t fm_limit_memory(const char *root)
{
    const uint64_t system = least(fm_limit_cgroup(root), fm_limit_available(root));
    return least(system, fm_limit_process(root));
}
