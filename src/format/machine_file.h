/* Machine files: a simulated machine as people write it down, in YAML. */
#ifndef FM_FORMAT_MACHINE_FILE_H
#define FM_FORMAT_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/description.h"
#include "core/error.h"

/* More than any description needs; junk is refused before it costs anything. */
#define FM_MACHINE_FILE_LIMIT ((size_t)1 << 20)

/* Both fill *out with a machine that can exist, or leave it alone and fill err (USAGE) with file,
   line, key and what would be right. */
bool fm_description_read(const char *path, struct fm_description *out, struct fm_error *err);
bool fm_description_parse(const char *text, size_t length, const char *name,
                          struct fm_description *out, struct fm_error *err);

#endif
