/* The computer's name, for people to recognise it by; nothing is decided by it. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "machine/native/computer.h"

/* Arm's main ID register gives numbers only: implementer and part. */
struct arm_part {
    unsigned implementer, part;
    const char *name;
};

static const struct arm_part arm_parts[] = {
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd04, "Cortex-A35"},  {0x41, 0xd05, "Cortex-A55"},
    {0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},
    {0x41, 0xd0a, "Cortex-A75"},  {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
    {0x41, 0xd0d, "Cortex-A77"},  {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},
    {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd46, "Cortex-A510"}, {0x41, 0xd47, "Cortex-A710"},
    {0x41, 0xd48, "Cortex-X2"},   {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4a, "Neoverse-E1"},
    {0x41, 0xd4d, "Cortex-A715"}, {0x41, 0xd4e, "Cortex-X3"},   {0x41, 0xd4f, "Neoverse-V2"},
    {0x41, 0xd80, "Cortex-A520"}, {0x41, 0xd81, "Cortex-A720"}, {0x41, 0xd82, "Cortex-X4"},
    {0x41, 0xd83, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"}, {0x42, 0x516, "ThunderX2"},
    {0x43, 0x0af, "ThunderX2"},   {0x46, 0x001, "A64FX"},       {0x48, 0xd01, "Kunpeng-920"},
    {0x61, 0x022, "Apple M1 E"},  {0x61, 0x023, "Apple M1 P"},  {0x61, 0x032, "Apple M2 E"},
    {0x61, 0x033, "Apple M2 P"},  {0xc0, 0xac3, "Ampere-1"},    {0xc0, 0xac4, "Ampere-1a"},
};

static const char *arm_name(unsigned implementer, unsigned part)
{
    for (size_t i = 0; i < sizeof arm_parts / sizeof *arm_parts; i++)
        if (arm_parts[i].implementer == implementer && arm_parts[i].part == part)
            return arm_parts[i].name;
    return NULL;
}

/* What follows the colon on a line of /proc/cpuinfo, when the line has this key. */
static const char *value_of(char *line, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    char *value = line + length;
    while (*value == ' ' || *value == '\t')
        value++;
    if (*value++ != ':')
        return NULL;
    value[strcspn(value, "\n")] = '\0';
    return value + strspn(value, " \t");
}

/* The keys under which the architectures give the processor's name. */
static const char *const name_keys[] = {"model name", "cpu", "uarch", "cpu model"};

/* The first processor's lines, up to a name or to Arm's numbers. */
static bool name_from(FILE *cpuinfo, char *name, size_t size)
{
    char line[4096];
    unsigned implementer = 0, part;
    while (fgets(line, sizeof line, cpuinfo)) {
        const char *value;
        for (size_t i = 0; i < sizeof name_keys / sizeof *name_keys; i++)
            if ((value = value_of(line, name_keys[i])) && *value)
                return snprintf(name, size, "%s", value) > 0;
        if ((value = value_of(line, "CPU implementer")))
            sscanf(value, "%x", &implementer);
        if (!(value = value_of(line, "CPU part")) || sscanf(value, "%x", &part) != 1)
            continue;
        const char *known = arm_name(implementer, part);
        if (known)
            return snprintf(name, size, "%s", known) > 0;
        return snprintf(name, size, "ARM implementer 0x%02x part 0x%03x", implementer, part) > 0;
    }
    return false;
}

void fm_computer_name(char *name, size_t size)
{
    FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
    const bool found = cpuinfo && name_from(cpuinfo, name, size);
    if (cpuinfo)
        fclose(cpuinfo);
    if (!found)
        snprintf(name, size, "unknown processor");
}

void fm_computer_arch(char *arch, size_t size)
{
    struct utsname system;
    snprintf(arch, size, "%s", uname(&system) == 0 ? system.machine : "unknown");
}
