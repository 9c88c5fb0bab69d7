/* The processes of a command, by what callgrind wrote of each: what they counted together, and
 * whether that is all, and nothing twice. */
#ifndef FM_STAT_FAMILY_H
#define FM_STAT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/machine.h"

struct fm_family_member;

struct fm_family {
    struct fm_counts counts; /* of all */
    struct fm_family_member *members;
    size_t size;
    size_t births; /* times that a process was about to start another … */
    size_t clones; /* … and that it started another or a thread */
};

/* Adds the summary of a dump. False when it is none, or memory is out. */
bool fm_family_add(struct fm_family *family, const char *text);

/* Processes that were started in a way that is not seen, so that what their parent had counted
   until then counts again. */
size_t fm_family_unseen(const struct fm_family *family);

/* Processes that were about to be started and wrote nothing: they were killed, or never were. */
size_t fm_family_silent(const struct fm_family *family);

void fm_family_free(struct fm_family *family);

#endif
