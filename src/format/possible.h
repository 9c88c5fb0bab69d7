/* Whether a finding that was read can be one: what programs reckon with must not be nonsense. */
#ifndef FM_FORMAT_POSSIBLE_H
#define FM_FORMAT_POSSIBLE_H

#include <stdbool.h>

#include "core/result.h"
#include "format/json_in.h"

/* Complains about sizes, lines, ways and entries that no hardware has. */
bool fm_finding_is_possible(const struct fm_json_place *place, const struct fm_finding *finding);

#endif
