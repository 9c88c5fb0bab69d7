/* Doubts about levels of the walk: what looks like one may be none. */
#ifndef FM_PROBE_DOUBTS_H
#define FM_PROBE_DOUBTS_H

#include <stdbool.h>

#include "core/error.h"

struct fm_lab;

/* No cache is so little slower than the one inside it. */
#define FM_LEAST_STEP 1.25

/* Takes away levels that turn out to be none. */
bool fm_doubt_levels(struct fm_lab *lab, struct fm_error *err);

#endif
