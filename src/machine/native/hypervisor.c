#include "machine/native/hypervisor.h"

#include <stdio.h>
#include <string.h>

#include "core/smallfile.h"

/* Words by which hypervisors name themselves in the firmware's tables. */
struct vendor_word {
    const char *word;
    const char *name;
};

static const struct vendor_word vendor_words[] = {
    {"KVM", "kvm"},
    {"QEMU", "qemu"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"innotek", "virtualbox"},
    {"Xen", "xen"},
    {"Bochs", "bochs"},
    {"Parallels", "parallels"},
    {"BHYVE", "bhyve"},
    {"Virtual Machine", "hyper-v"},
    {"OpenStack", "openstack"},
    {"Google Compute Engine", "google"},
    {"Amazon EC2", "amazon"},
};

static bool name_in(const char *text, char *name, size_t size)
{
    for (size_t i = 0; i < sizeof vendor_words / sizeof *vendor_words; i++)
        if (strstr(text, vendor_words[i].word))
            return snprintf(name, size, "%s", vendor_words[i].name) > 0;
    return false;
}

/* Amazon's machines without a hypervisor carry the same vendor, but say so in the product. */
static bool is_bare_metal(const char *root)
{
    char text[128];
    return fm_read_smallf(text, sizeof text, "%s/sys/class/dmi/id/product_name", root) &&
           strstr(text, ".metal");
}

static bool firmware_names_one(const char *root, char *name, size_t size)
{
    static const char *const files[] = {"product_name", "sys_vendor", "board_vendor",
                                        "bios_vendor"};
    char text[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (fm_read_smallf(text, sizeof text, "%s/sys/class/dmi/id/%s", root, files[i]) &&
            name_in(text, name, size))
            return true;
    return false;
}

/* Guests on Arm and RISC-V have a device tree instead: of a board that exists in no hardware, or
   with the hypervisor in it. */
static bool device_tree_names_one(const char *root, char *name, size_t size)
{
    char text[128];
    if (fm_read_smallf(text, sizeof text, "%s/proc/device-tree/hypervisor/compatible", root)) {
        snprintf(name, size, "%s", strstr(text, "kvm") ? "kvm" : text);
        return true;
    }
    return fm_read_smallf(text, sizeof text, "%s/proc/device-tree/compatible", root) &&
           (strstr(text, "linux,dummy-virt") || strstr(text, "riscv-virtio") ||
            strstr(text, "qemu,pseries"));
}

/* On x86 the processor itself tells a guest: 1 it does, 0 it does not, -1 it has no such flags. */
static int hypervisor_flag(const char *root)
{
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    int flag = -1;
    while (flag < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "flags", 5) == 0)
            flag = strstr(line, " hypervisor") != NULL;
    fclose(file);
    return flag;
}

bool fm_hypervisor(const char *root, bool *virtualised, char *name, size_t size)
{
    name[0] = '\0';
    *virtualised = true;
    if (fm_read_smallf(name, size, "%s/sys/hypervisor/type", root))
        return true;
    const int flag = hypervisor_flag(root);
    if (flag == 0 || is_bare_metal(root)) {
        *virtualised = false;
        return true;
    }
    return firmware_names_one(root, name, size) || device_tree_names_one(root, name, size) ||
           flag == 1;
}
