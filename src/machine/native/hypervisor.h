/* Whether this computer is a guest of another. */
#ifndef FM_MACHINE_NATIVE_HYPERVISOR_H
#define FM_MACHINE_NATIVE_HYPERVISOR_H

#include <stdbool.h>
#include <stddef.h>

/* False when there is no telling; otherwise *virtualised says it, and name is the hypervisor's, or
   empty where it does not give one. `root` is put before the paths: "" for the real ones. */
bool fm_hypervisor(const char *root, bool *virtualised, char *name, size_t size);

#endif
