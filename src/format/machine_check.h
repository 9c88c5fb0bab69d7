/* Whether a machine that reads well can exist. */
#ifndef FM_FORMAT_MACHINE_CHECK_H
#define FM_FORMAT_MACHINE_CHECK_H

#include <stdbool.h>

#include "core/description.h"
#include "format/yaml.h"

/* Also resolves `ways: full` and gives TLBs without page sizes the base page. */
bool fm_description_check(struct fm_yaml *yaml, struct fm_description *description);

#endif
