#include "claims/fingerprint.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "claims/sources.h"
#include "core/smallfile.h"

/* FNV-1a: no more is needed to tell computers apart than to spread their descriptions. */
struct hash {
    uint64_t value;
};

static void add(struct hash *hash, const char *text)
{
    do {
        hash->value = (hash->value ^ (unsigned char)*text) * 0x100000001b3;
    } while (*text++); /* the end is hashed too: "ab", "c" is not "a", "bc" */
}

/* What /proc/cpuinfo says that stays: not the clock of the moment, nor which core it is. */
static const char *const lasting[] = {
    "vendor_id",        "cpu family", "model",       "model name",   "stepping",
    "cache size",       "CPU part",   "CPU variant", "CPU revision", "CPU implementer",
    "CPU architecture", "cpu",        "revision",    "isa",          "uarch",
    "mvendorid",        "marchid",    "mimpid",      "cpu model",
};

static size_t key_length(const char *line)
{
    size_t length = strcspn(line, ":");
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    return length;
}

static bool has_key(const char *line, const char *key)
{
    return strlen(key) == key_length(line) && strncmp(line, key, strlen(key)) == 0;
}

static bool lasts(const char *line)
{
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
        if (has_key(line, lasting[i]))
            return true;
    return false;
}

/* The lines about this CPU, and those that stand under no CPU. */
static void add_cpuinfo(struct hash *hash, const char *root, int cpu)
{
    char line[4096], path[1024];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    bool ours = true;
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (has_key(line, "processor") && colon)
            ours = atoi(colon + 1) == cpu;
        else if (ours && lasts(line))
            add(hash, line);
    }
    if (file)
        fclose(file);
}

/* Who made the computer or the virtual one, which CPUs there are. */
static void add_host(struct hash *hash, const char *root)
{
    static const char *const files[] = {
        "/sys/devices/system/cpu/present",          "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",           "/sys/firmware/devicetree/base/model",
        "/sys/firmware/devicetree/base/compatible", "/sys/hypervisor/type",
    };
    char text[256];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fm_read_smallf(text, sizeof text, "%s%s", root, files[i]);
        add(hash, text);
    }
}

/* The caches as the kernel and the processor give them; hwloc and sysconf would say no more, and
   take longer. */
static void add_caches(struct hash *hash, const char *root, int cpu)
{
    struct fm_claims claims = {.count = 0};
    char sys[1024];
    snprintf(sys, sizeof sys, "%s/sys", root);
    fm_claims_add_sysfs(&claims, sys, cpu);
    if (!*root)
        fm_claims_add_cpuid(&claims);
    for (size_t i = 0; i < claims.count; i++) {
        const struct fm_claim *claim = &claims.items[i];
        char text[FM_PROPERTY_TEXT * 2];
        snprintf(text, sizeof text, "%s=%.0f%s", claim->property, claim->value.number,
                 claim->value.text);
        add(hash, text);
    }
}

void fm_fingerprint(const char *root, int cpu, const char *salt, char word[FM_FINGERPRINT])
{
    struct hash hash = {0xcbf29ce484222325};
    struct utsname system;
    char page[32];

    add(&hash, salt);
    add(&hash, uname(&system) == 0 ? system.machine : "");
    snprintf(page, sizeof page, "%ld", sysconf(_SC_PAGESIZE));
    add(&hash, page);
    add_cpuinfo(&hash, root, cpu);
    add_host(&hash, root);
    add_caches(&hash, root, cpu);
    snprintf(word, FM_FINGERPRINT, "%016llx", (unsigned long long)hash.value);
}
