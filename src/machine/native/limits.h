/* How much memory may be taken without harm, read before any is touched. */
#ifndef FM_MACHINE_NATIVE_LIMITS_H
#define FM_MACHINE_NATIVE_LIMITS_H

#include <stdint.h>

/* Each gives the bytes still free under one kind of limit, UINT64_MAX where there is none or it
   cannot be read. `root` is put before the paths of /proc and /sys: "" for the real ones. */
uint64_t fm_limit_cgroup(const char *root);
uint64_t fm_limit_available(const char *root);
uint64_t fm_limit_process(const char *root);

/* The smallest of them. */
uint64_t fm_limit_memory(const char *root);

#endif
